package summary

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/transcript"
)

// updater applies messages to its own copy of a state.
type updater struct {
	s    State
	mask masker
	m    *memkernel.Message
	// late computes the question that the last text asks the person. It is nil if s already holds
	// the question. It is computed late because most texts are followed by a call, and such texts
	// ask nothing.
	late func() openAsk
}

// UpdateMasked returns s brought up to date with msgs, which are the messages that follow
// s.Offset. Its time is proportional to msgs alone. It changes neither argument. The result does
// not depend on where the messages are split between calls. Every text is run through mask before
// an excerpt is taken of it, so that a secret is seen whole and never kept in part. The function
// mask must be pure.
func UpdateMasked(s State, msgs []memkernel.Message, mask func(string) string) State {
	u := updater{s: s.clone(), mask: mask}
	u.s.Version = version
	for i := range msgs {
		if u.s.Offset.Messages == 0 {
			u.s.Sidechain = msgs[i].Branch
		}
		u.s.Offset.Messages++
		u.s.Offset.Key = msgs[i].Key
		if msgs[i].Branch == u.s.Sidechain {
			u.m = &msgs[i]
			u.message()
		}
	}
	u.asked()
	return u.s
}

// message dispatches on the speaker. The host's own summaries, meta texts and synthetic answers
// are neither requests nor promises. Results in such messages still count.
func (u *updater) message() {
	switch u.m.Role {
	case memkernel.RoleAssistant:
		if u.m.Origin == memkernel.OriginHost {
			u.assistant()
		}
	case memkernel.RoleUser, memkernel.RoleTool:
		u.user()
	case memkernel.RoleSystem, memkernel.RoleDeveloper:
		for _, p := range u.m.Parts {
			u.hostPlace(p.Text)
		}
	}
}

func (u *updater) assistant() {
	for i := range u.m.Parts {
		switch p := &u.m.Parts[i]; {
		case p.Kind == memkernel.PartText:
			u.say(p.Text)
		case p.Kind == memkernel.PartToolUse && p.Call != nil:
			u.call(p.Call)
		case p.Kind == memkernel.PartToolResult && p.Result != nil:
			u.result(p.Result)
		}
	}
}

func (u *updater) user() {
	for i := range u.m.Parts {
		switch p := &u.m.Parts[i]; {
		case p.Kind == memkernel.PartToolResult && p.Result != nil:
			u.result(p.Result)
		case p.Kind == memkernel.PartText && u.m.Role == memkernel.RoleUser:
			u.hostPlace(p.Text)
		}
	}
	if own, quoted := transcript.Typed(*u.m); own != "" || quoted != "" {
		u.request(u.mask.source(own, userWindow))
	}
}

// masker takes secrets out of a text.
type masker func(string) string

// margin is how many more bytes of a text are masked than read, so that a secret at the edge is
// recognised by the text around it.
const margin = 4 << 10

// source returns the start of a text, masked.
func (mask masker) source(s string, n int) string {
	return textutil.Head(mask(textutil.Head(s, n+margin)), n)
}

// ending returns the end of a text, masked.
func (mask masker) ending(s string, n int) string {
	return textutil.Tail(mask(textutil.Tail(s, n+margin)), n)
}

// ends returns the start and the end of a result, masked. They are equal if one window holds all.
func (mask masker) ends(s string) (first, last string) {
	first = mask.source(s, resultWindow)
	if last = first; len(s) > resultWindow {
		last = mask.ending(s, resultWindow)
	}
	return first, last
}

// entry makes an entry from the current message.
func (u *updater) entry(letter, kind, text string) Entry {
	e := Entry{ID: u.s.nextID(letter), Kind: kind, Text: text, Key: u.m.Key}
	if !u.m.Time.IsZero() {
		e.Time = u.m.Time.UTC().Round(0)
	}
	return e
}

// request records the words of a person's message as the newest request. They may also answer the
// assistant's last text or set rules. A message that only quotes others does not change the
// request.
func (u *updater) request(text string) {
	u.s.Turn++
	u.s.Pending = remove(u.s.Pending, func(c Call) bool { return c.Lost && c.Since >= lostTurns-1 })
	for i := range u.s.Pending {
		if c := &u.s.Pending[i]; c.Lost {
			c.Since++
		}
	}
	said := ledger.Read(text)
	if strings.HasPrefix(text, transcript.PlanAccepted) {
		u.decided("plan", oneLine(text, DecisionRunes))
	} else if text != "" && !u.decide(text) {
		for _, st := range said {
			if st.Kind == ledger.Decision {
				u.decided("statement", oneLine(st.Text, DecisionRunes))
			}
		}
	}
	u.reported()
	u.unasked()
	if text == "" {
		return
	}
	e := u.entry("r", "", gist(text, requestRunes))
	u.s.Request = e
	if u.s.Goal.Text == "" || !substantial(u.s.Goal.Text) && substantial(e.Text) || Restates(u.s.Goal.Text, e.Text) {
		u.s.Goal = e
		u.s.Goal.Text = gist(text, goalRunes)
	}
	u.rules(said)
}

// say reads a text of the assistant's.
func (u *updater) say(text string) {
	text = strings.TrimRight(text, " \t\r\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	text = u.mask.ending(text, sayWindow)
	before, m := u.asked(), u.m
	u.late = func() openAsk {
		a := ask(text)
		if a.Question && len(a.Options) == 0 { // it asks about those of the text before it in the turn
			a.Options = before.Options
		}
		a.Key, a.Report = m.Key, gist(text, reportRunes)
		if !m.Time.IsZero() {
			a.Time = m.Time.UTC().Round(0)
		}
		return a
	}
}

// asked returns the question that the assistant's last text asks the person.
func (u *updater) asked() openAsk {
	if u.late != nil {
		u.s.Ask, u.late = u.late(), nil
	}
	return u.s.Ask
}

// reported keeps the words with which the assistant ended its turn.
func (u *updater) reported() {
	a := u.asked()
	if a.Report == "" || a.Key != "" && slices.ContainsFunc(u.s.Reports, func(e Entry) bool { return e.Key == a.Key && e.Kind == kindReport }) {
		return
	}
	e := Entry{ID: u.s.nextID("w"), Kind: kindReport, Text: a.Report, Key: a.Key, Time: a.Time}
	u.s.Reports = push(u.s.Reports, e, maxReports, new(int))
}

// unasked forgets the open question to the person.
func (u *updater) unasked() { u.s.Ask, u.late = openAsk{}, nil }
