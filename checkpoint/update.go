package checkpoint

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/summary"
)

// Lengths of excerpts in runes. As the checkpoint format demands, a topic and a thread summary
// have at most 100 runes, and a gist has at most 120.
const (
	topicRunes    = 100
	gistRunes     = 120
	decisionRunes = summary.DecisionRunes
	lessonRunes   = 320
	itemRunes     = 300
	nameRunes     = 120
	pathRunes     = 240
	errorRunes    = 120
	reportRunes   = 400
)

// sourceBytes is how many bytes of a text are read for an excerpt of its start.
const sourceBytes = 16 << 10

// updater applies messages to its own copy of a state.
type updater struct {
	s    State
	m    *memkernel.Message
	mask func(string) string
	one  [1]memkernel.Message // the room for the message that the summary reads
}

// Update returns s brought up to date with msgs, which must be in the order in which they
// arrived. Hosts may pass one message, one result, or all they have. A message whose key was
// captured before changes nothing. The exception is parts that were added to one of the last
// sixteen messages, such as the results of parallel calls. Keys are remembered for 1,024
// messages, and for older messages only if the host repeats the newest message. A message without
// a key counts as new. Only the branch of the first message is followed. No argument changes, and
// where messages are split between calls makes no difference. mask takes secrets out of whole
// texts, and only its results are read.
func Update(s State, msgs []memkernel.Message, mask func(string) string) State {
	u := updater{s: s.clone(), mask: func(text string) string {
		if text = mask(text); utf8.ValidString(text) {
			return text
		}
		return strings.ToValidUTF8(text, "\uFFFD")
	}}
	if len(u.s.Thread.Seen) == maxSeen {
		msgs = unseen(u.s.Thread.LastKey, msgs)
	}
	for i := range msgs {
		if u.m = u.fresh(&msgs[i]); u.m != nil {
			u.message()
		}
	}
	u.openItems()
	return u.s
}

// unseen returns the messages after the last message with the given key, and the earlier messages
// that may have grown. It returns all messages if none has the key.
func unseen(key string, msgs []memkernel.Message) []memkernel.Message {
	for i := len(msgs) - 1; i >= 0 && key != ""; i-- {
		if msgs[i].Key == key {
			return msgs[max(0, i+1-maxRecent):]
		}
	}
	return msgs
}

// fresh returns the part of a message that was not captured yet, nil if there is none.
func (u *updater) fresh(m *memkernel.Message) *memkernel.Message {
	t := &u.s.Thread
	if t.Reader.Offset.Messages > 0 && m.Branch != t.Reader.Sidechain {
		return nil
	}
	i := slices.IndexFunc(t.Recent, func(d delivery) bool { return d.Key == m.Key })
	if i >= 0 && len(m.Parts) > t.Recent[i].Parts {
		rest := *m
		rest.Parts = m.Parts[t.Recent[i].Parts:]
		t.Recent[i].Parts = len(m.Parts)
		return &rest
	}
	if m.Key != "" && slices.Contains(t.Seen, keyHash(m.Key)) {
		return nil
	}
	t.Captured++
	if t.LastKey = m.Key; m.Key != "" {
		t.Seen = capped(append(t.Seen, keyHash(m.Key)), maxSeen)
		t.Recent = capped(append(t.Recent, delivery{m.Key, len(m.Parts)}), maxRecent)
	}
	return m
}

func (u *updater) message() {
	t := &u.s.Thread
	if at := u.time(); at.After(t.At) {
		t.At = at
	}
	if m := u.m; m.Role == memkernel.RoleAssistant && m.Usage != nil && m.Usage.InputTotal() > 0 {
		t.Usage = &Usage{Tokens: m.Usage.InputTotal(), Model: m.Model, Message: m.Key, At: u.time()}
	}
	before := t.Reader
	u.one[0] = *u.m
	t.Reader = summary.UpdateMasked(before, u.one[:], u.mask)
	if !slices.Equal(before.Todos, t.Reader.Todos) {
		t.Planned = t.Reader.Turn
	}
	for _, e := range t.Reader.Reports {
		if e.Commits() {
			touch(&u.s.Resources.Commits, e.Text, t.Captured, maxCommits)
		}
	}
	u.decisions(before)
	rules := &u.s.Decisions.Constraints
	for _, e := range slices.Backward(t.Reader.Constraints) { // the first rule of a message counts as its newest
		if !slices.ContainsFunc(*rules, func(c constraintCapture) bool { return c.What == e.Text }) {
			*rules = capped(append(*rules, constraintCapture{Key: e.Key, What: e.Text, Seq: t.Captured}), maxConstraints)
		}
	}
	u.speak()
	if a := t.Reader.Ask; a.Report != "" {
		t.Report = a.Report
		if end := a.Offer(); strings.HasSuffix(a.Report, "…") && !strings.Contains(a.Report, end) {
			t.Report += " " + end
		}
	}
	for i := range u.m.Parts { // the calls and results, in order
		switch p := &u.m.Parts[i]; {
		case p.Kind == memkernel.PartToolUse && p.Call != nil && u.m.Origin == memkernel.OriginHost:
			u.call(p.Call)
		case p.Kind == memkernel.PartToolResult && p.Result != nil:
			u.result(p.Result, before)
		}
	}
	t.Pending = orNil(slices.DeleteFunc(t.Pending, func(a attempt) bool { // made again
		return u.reading(a.ID).ID == "" && slices.ContainsFunc(before.Pending, func(c summary.Call) bool { return c.ID == a.ID && c.Lost })
	}))
	t.Reader = t.Reader.Onward()
}

// time returns the message's time in the form that survives a file.
func (u *updater) time() time.Time {
	if u.m.Time.IsZero() {
		return time.Time{}
	}
	return u.m.Time.UTC().Truncate(time.Second)
}

// decisions takes over the decisions that the reader found in the message.
func (u *updater) decisions(before summary.State) {
	for _, e := range u.s.Thread.Reader.Decisions {
		d := decisionCapture{Ref: e.ID, Key: e.Key, Kind: e.Kind, By: e.By, What: summary.Excerpt(e.Text, decisionRunes), When: u.time(), Seq: u.s.Thread.Captured}
		if !slices.ContainsFunc(before.Decisions, func(o summary.Entry) bool { return o.ID == e.ID }) && !slices.ContainsFunc(u.s.Decisions.Items, func(o decisionCapture) bool { return o.Ref == d.Ref && o.Key == d.Key }) {
			u.s.Decisions.Items = capped(append(u.s.Decisions.Items, d), maxDecisions)
		}
	}
}

// capped drops the oldest entries above max.
func capped[T any](list []T, max int) []T {
	if n := len(list) - max; n > 0 {
		return slices.Delete(list, 0, n)
	}
	return list
}

// carriedTurns is the number of messages of the user's after which the open items of an earlier
// conversation are dropped. By then the agent has seen them.
const carriedTurns = 2

// fromEarlier marks an open item of a plan that was made for an earlier request.
const fromEarlier = ", from an earlier request"

// openItems takes over the reader's open items.
func (u *updater) openItems() {
	o := &u.s.OpenItems
	o.Items = nil
	if u.s.Thread.Reader.Turn >= carriedTurns {
		o.Earlier = nil
	}
	for _, e := range u.s.Thread.Reader.OpenThreads() {
		if e.Kind == "check" && strings.Contains(e.Text, "command not found") || strings.HasPrefix(e.Text, summary.LostPrefix+"Read ") {
			continue // nothing is open about the work
		}
		if e.Kind == "todo" && !u.s.Thread.planned() {
			e.Text = strings.Replace(e.Text, ": ", fromEarlier+": ", 1)
		}
		if text := summary.Excerpt(e.Text, itemRunes); !slices.Contains(o.Items, text) && len(o.Items) < maxOpenItems {
			o.Items = append(o.Items, text)
		}
	}
}

// gist returns the masked start of a text as one line.
func (u *updater) gist(s string, runes int) string {
	if len(s) > sourceBytes {
		s = strings.ToValidUTF8(s[:sourceBytes], "")
	}
	return summary.Excerpt(u.mask(s), runes)
}
