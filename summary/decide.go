package summary

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/choice"
)

// ask returns the question that an assistant's text asks the person.
func ask(text string) openAsk {
	a := choice.Ask(text)
	out := openAsk{Text: oneLine(a.Text, questionRunes), Question: a.Question}
	for _, o := range a.Options {
		out.Options = append(out.Options, oneLine(o, optionRunes))
	}
	return out
}

// Offer returns the options that a question listed, or the end of a text that asks no question. The
// question itself is an open item.
func (a openAsk) Offer() string {
	switch options := strings.Join(a.Options, "; "); {
	case a.Question && options == "":
		return ""
	case a.Question:
		return oneLine("Options: "+options, questionRunes)
	case strings.HasSuffix(a.Text, ":"):
		return oneLine(a.Text+" "+options, questionRunes)
	}
	return a.Text
}

// decide records a decision if the user's message answers the assistant's question, and reports
// whether it does.
func (u *updater) decide(reply string) bool {
	a := u.asked()
	text, ok := choice.Asked{Text: a.Text, Question: a.Question, Options: a.Options}.Answered(reply)
	if ok {
		u.decided(kindReply, oneLine(text, DecisionRunes))
	}
	return ok
}

// committed records a commit among the reports of finished work.
func (u *updater) committed(text string) {
	e := u.entry("w", kindCommit, oneLine(text, DecisionRunes))
	if !e.in(u.s.Reports) {
		u.s.Reports = push(u.s.Reports, e, maxReports, new(int))
	}
}

// in reports whether a list has an entry of the same message, kind and text.
func (e Entry) in(list []Entry) bool {
	return e.Key != "" && slices.ContainsFunc(list, func(o Entry) bool { return o.Key == e.Key && o.Kind == e.Kind && o.Text == e.Text })
}

// decided records a person's decision unless it is already recorded. Messages are read twice if a
// host takes back later messages.
func (u *updater) decided(kind, text string) {
	e := u.entry("d", kind, text)
	if e.in(u.s.Decisions) {
		return
	}
	e.By = ByUser
	u.s.Decisions = push(u.s.Decisions, e, maxDecisions, &u.s.Evicted.Decisions)
}
