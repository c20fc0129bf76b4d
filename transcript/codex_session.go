package transcript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// codexKeepBytes is how much of the user's own words Codex carries over a
// compaction that wrote only a summary: 20,000 tokens at 4 bytes.
const codexKeepBytes = 80_000

// codexAssembler joins the items of a rollout. All assistant items up to the
// next output, user message or token count are one message: one model call.
type codexAssembler struct {
	s      *Session
	open   int // assistant message that still takes items, -1 if none
	last   int // assistant message that the next token count bills, -1 if none
	billed string
	model  string
	pairs  pairs
}

func (a *codexAssembler) add(rec *Record) {
	a.s.adopt(rec.x)
	switch rec.Kind {
	case KindMeta:
		a.open = -1
		if rec.x.model != "" {
			a.model = rec.x.model
		}
		if rec.x.rollback > 0 {
			a.rollBack(rec)
		}
	case KindUsage:
		a.bill(rec.x)
	case KindCompaction:
		a.open, a.last = -1, -1
		a.compact(rec)
	case KindMessage:
		a.message(rec.Message)
	}
}

func (a *codexAssembler) message(m *memkernel.Message) {
	a.pairs.take(a.s.Messages, m)
	if m.Role != memkernel.RoleAssistant {
		a.open = -1
		a.s.push(*m, flags{})
		return
	}
	m.Model = a.model
	if a.open >= 0 {
		joinItem(&a.s.Messages[a.open], m)
		return
	}
	a.open = a.s.push(*m, flags{})
	a.last = a.open
}

// joinItem adds another item to an assistant message.
func joinItem(into, m *memkernel.Message) {
	into.Parts = append(into.Parts, m.Parts...)
	into.Raw = ""
	if into.Key == "" {
		into.Key = m.Key
	}
	if m.Time.After(into.Time) {
		into.Time = m.Time
	}
}

// bill attaches usage to the call that it bills. The host repeats the event,
// also with an estimate after a compaction: the running total tells.
func (a *codexAssembler) bill(x *extra) {
	if x.billed != "" && x.billed == a.billed {
		return
	}
	a.billed = x.billed
	if x.usage == nil || a.last < 0 {
		return
	}
	a.s.Messages[a.last].Usage = x.usage
	a.open, a.last = -1, -1
}

func (a *codexAssembler) compact(rec *Record) {
	l := a.s.line("")
	b := bound{pos: len(l.order)}
	if rec.x.history != "" {
		b.lead = a.history(rec)
	} else if rec.Message != nil {
		b.lead = append(a.ownWords(l), *rec.Message)
	}
	for _, m := range b.lead {
		if m.Origin == memkernel.OriginSummary {
			a.s.push(m, flags{})
		}
	}
	b.pos = len(l.order)
	if b.lead == nil {
		b.lead = []memkernel.Message{}
	}
	l.bounds = append(l.bounds, b)
}

// history reads the items that replace everything before.
func (a *codexAssembler) history(rec *Record) []memkernel.Message {
	out := []memkernel.Message{}
	var ps pairs
	c := scan(rec.x.history)
	for range c.elems {
		m, err := codexMessage(c.raw())
		if err != nil || m == nil {
			continue
		}
		m.Time = rec.x.at
		ps.take(out, m)
		if n := len(out); n > 0 && m.Role == memkernel.RoleAssistant && out[n-1].Role == memkernel.RoleAssistant {
			joinItem(&out[n-1], m)
			continue
		}
		out = append(out, *m)
	}
	return out
}

// ownWords collects the newest plain user messages up to codexKeepBytes.
func (a *codexAssembler) ownWords(l *line) []memkernel.Message {
	var picked []memkernel.Message
	left := codexKeepBytes
	for at := len(l.order) - 1; at >= 0 && left > 0; at-- {
		m := a.s.Messages[l.order[at]]
		if m.Origin != memkernel.OriginHost || !PlainUser(m) {
			continue
		}
		left -= len(Text(m))
		picked = append(picked, m)
	}
	slices.Reverse(picked)
	return picked
}

// rollBack takes the last user turns off the main line; they stay as a branch.
func (a *codexAssembler) rollBack(rec *Record) {
	l := a.s.line("")
	floor := 0
	if n := len(l.bounds); n > 0 {
		floor = l.bounds[n-1].pos
	}
	pos, left := len(l.order), rec.x.rollback
	for at := len(l.order) - 1; at >= floor && left > 0; at-- {
		if m := a.s.Messages[l.order[at]]; PlainUser(m) && m.Origin == memkernel.OriginHost {
			pos, left = at, left-1
		}
	}
	if pos == len(l.order) {
		return
	}
	branch := "fork:" + strings.TrimPrefix(a.s.Messages[l.order[pos]].Turn+"/"+strconv.Itoa(rec.Line), "/")
	for _, i := range l.order[pos:] {
		a.s.Messages[i].Branch = branch
	}
	a.s.lines[branch] = l.split(pos)
	a.s.names = append(a.s.names, branch)
	a.open, a.last = -1, -1
	a.s.note("fork", rec, "the user rolled back %d turns; they are branch %s", rec.x.rollback, branch)
}

func (a *codexAssembler) finish() {}
