package transcript

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// codexKeepBytes is how much of the user's own words Codex keeps after a compaction that wrote only
// a summary: 20,000 tokens at 4 bytes.
const codexKeepBytes = 80_000

// codexAssembler joins the items of a rollout. All assistant items up to the next output, user
// message or token count form one message: the answer of one model call.
type codexAssembler struct {
	session *Session
	open    int // assistant message that still takes items, -1 if none
	last    int // assistant message that the next token count bills, -1 if none
	billed  jsonText
	model   string
	pairs   codexPairs
	items   map[string]bool // ids of the items of the open message
}

func codexAssemble(l *Session) (add func(*Record), finish func()) {
	a := codexAssembler{session: l, open: -1, last: -1}
	return a.add, nil
}

func (a *codexAssembler) add(e *Record) {
	a.session.adopt(&e.about)
	switch e.Kind {
	case kindMeta:
		a.open = -1
		a.model = cmp.Or(e.about.Model, a.model)
		if own, ok := e.own.(*codexExtra); ok && own.rollback > 0 {
			a.rollBack(e, own.rollback)
		}
	case kindUsage:
		a.bill(e.own.(*codexExtra))
	case kindCompaction:
		a.open, a.last = -1, -1
		a.compact(e, e.own.(*codexExtra))
	case kindMessage:
		a.message(e.Message)
	}
}

func (a *codexAssembler) message(m *memkernel.Message) {
	a.pairs.take(a.session.Messages, m)
	if m.Role != memkernel.RoleAssistant {
		a.open = -1
		a.session.push(*m, flags{})
		return
	}
	m.Model = a.model
	if a.open >= 0 {
		into := &a.session.Messages[a.open]
		if a.items[m.Key] && m.Key != "" {
			if _, again := repeatRecord(into, m); again {
				return
			}
		}
		a.items[m.Key] = true
		joinItem(into, m)
		return
	}
	a.open, a.items = a.session.push(*m, flags{}), map[string]bool{m.Key: true}
	a.last = a.open
}

// joinItem adds another item to an assistant message.
func joinItem(into, m *memkernel.Message) {
	joinRecord(into, m)
	into.Key = cmp.Or(into.Key, m.Key)
}

// bill attaches usage to the call that it bills. The host may repeat the event, and after a
// compaction it writes an estimate. The running total shows whether an event is new.
func (a *codexAssembler) bill(own *codexExtra) {
	if own.billed != "" && own.billed == a.billed {
		return
	}
	a.billed = own.billed
	if own.usage == nil || a.last < 0 {
		return
	}
	a.session.Messages[a.last].Usage = own.usage
	a.open, a.last = -1, -1
}

func (a *codexAssembler) compact(e *Record, own *codexExtra) {
	l := a.session.branch("")
	lead := []memkernel.Message{}
	if own.history != "" {
		lead = codexHistory(own)
	} else if e.Message != nil {
		lead = append(a.ownWords(l), *e.Message)
	}
	for _, m := range lead {
		if m.Origin == memkernel.OriginSummary {
			a.session.push(m, flags{})
		}
	}
	l.Bounds = append(l.Bounds, boundary{Pos: len(l.Order), Lead: lead})
}

// codexHistory reads the items that replace everything before.
func codexHistory(own *codexExtra) []memkernel.Message {
	out := []memkernel.Message{}
	var ps codexPairs
	c := scan(string(own.history))
	for range c.Elems {
		m, err := readCodexMessage(c.Raw())
		if err != nil || m == nil {
			continue
		}
		m.Time = own.at
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
func (a *codexAssembler) ownWords(l *sessionLine) []memkernel.Message {
	var picked []memkernel.Message
	left := codexKeepBytes
	for at := len(l.Order) - 1; at >= 0 && left > 0; at-- {
		m := a.session.Messages[l.Order[at]]
		if m.Origin != memkernel.OriginHost || !PlainUser(m) {
			continue
		}
		left -= len(Text(m))
		picked = append(picked, m)
	}
	slices.Reverse(picked)
	return picked
}

// rollBack removes the last user turns from the main line. The removed turns stay as a branch.
func (a *codexAssembler) rollBack(e *Record, turns int) {
	l := a.session.branch("")
	floor := 0
	if n := len(l.Bounds); n > 0 {
		floor = l.Bounds[n-1].Pos
	}
	pos, left := len(l.Order), turns
	for at := len(l.Order) - 1; at >= floor && left > 0; at-- {
		if m := a.session.Messages[l.Order[at]]; PlainUser(m) && m.Origin == memkernel.OriginHost {
			pos, left = at, left-1
		}
	}
	if pos == len(l.Order) {
		return
	}
	branch := "fork:" + strings.TrimPrefix(a.session.Messages[l.Order[pos]].Turn+"/"+strconv.Itoa(e.Line), "/")
	a.session.fork(l, pos, branch)
	a.open, a.last = -1, -1
	a.session.note("fork", e, "the user rolled back %d turns; they are branch %s", turns, branch)
}
