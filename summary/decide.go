package summary

import (
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/choice"
)

// ask reads what an assistant's text leaves to the person.
func ask(text string) Ask { return askOf(choice.Offered(text)) }

func askOf(o choice.Offer) Ask {
	a := Ask{Text: oneLine(o.Question, questionRunes), Question: o.Asks, Inline: o.Inline}
	for _, p := range o.Options {
		a.Options = append(a.Options, Option{Label: oneLine(p.Label, 8), Title: oneLine(p.Title, optionRunes), Text: oneLine(p.Text, choice.OptionRunes)})
	}
	return a
}

func (a Ask) offer() choice.Offer {
	return choice.Offer{Question: a.Text, Asks: a.Question, Options: a.Options, Inline: a.Inline}
}

// goesOn returns what a text leaves to the person that follows another of the same turn: a
// question behind options asks about these.
func (a Ask) goesOn(before Ask) Ask {
	if a.Question && len(a.Options) == 0 && len(before.Options) > 0 {
		a.Options, a.Inline = before.Options, before.Inline
	}
	return a
}

// decide records a decision if the user's message settles what the assistant
// said last: it picks or rejects some of the offered options, or it is a short reply,
// not itself a question, to a question, or one that begins as an answer to a long text. It
// reports whether there is one.
func (u *updater) decide(reply string) bool {
	a := u.asked()
	if a.Text == "" {
		return false
	}
	if u.chose(a.offer(), reply, "") {
		return true
	}
	short := oneLine(reply, replyRunes)
	if asks(short) || utf8.RuneCountInString(reply) > shortReply || !a.Question && !(a.Long && choice.Settles(reply)) {
		return false
	}
	u.decided(ByUser, "reply", a.Text+" → "+short)
	return true
}

// chose records what a reply chooses or rejects of an offer, and reports whether it does.
// Words stand beside it if the reply itself is only a name.
func (u *updater) chose(o choice.Offer, reply, words string) bool {
	ans := o.Answer(reply)
	if ans.Empty() {
		return false
	}
	kind := "choice"
	if len(ans.Chosen) == 0 {
		kind = "rejection"
	}
	if words == "" {
		words = reply
	}
	u.decided(ByUser, kind, oneLine(o.Decision(ans, words), DecisionRunes))
	return true
}

// state records what the assistant states as decided.
func (u *updater) state(text string) {
	for _, s := range choice.Statements(text) {
		u.decided(ByAgent, "statement", oneLine(choice.Said(s), DecisionRunes))
	}
}

// decided records a decision of somebody's.
func (u *updater) decided(by, kind, text string) {
	e := u.entry("d", kind, text)
	e.By = by
	putDecision(&u.s, e, nil)
}
