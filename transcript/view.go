package transcript

import (
	"slices"
	"time"

	"github.com/memkernel/memkernel"
)

// View selects how a session is looked at.
type View int

const (
	// Host is what the host would send now: after its last compaction, the
	// summary first, then what it kept, with its micro-compactions applied.
	// Where a fork exists the later arm stands.
	Host View = iota
	// Full is everything that was said along the line, once, with compaction
	// boundaries and summaries taken out; it is for replay. The abandoned arm
	// of a fork is a branch of its own and not lost.
	Full
)

func (v View) String() string {
	if v == Full {
		return "full"
	}
	return "host"
}

// line is one way through the session: the main line, a sidechain, or the
// abandoned arm of a fork including what it shares with the main line.
type line struct {
	order  []int // indices into Session.Messages
	bounds []bound
	micros []micro
}

// bound is a compaction: messages before order[pos] are no longer sent, but
// for those kept; lead stands in front if the host wrote a new history.
type bound struct {
	pos  int
	keep []int
	lead []memkernel.Message
}

// micro is a micro-compaction: results of these calls before order[pos] are
// sent as a stub.
type micro struct {
	pos int
	ids []string
}

// split leaves order[:pos] on the line and returns the whole as it was.
func (l *line) split(pos int) *line {
	arm := &line{order: slices.Clone(l.order), bounds: slices.Clone(l.bounds), micros: slices.Clone(l.micros)}
	l.order = l.order[:pos:pos]
	l.bounds = slices.DeleteFunc(l.bounds, func(b bound) bool { return b.pos > pos })
	l.micros = slices.DeleteFunc(l.micros, func(m micro) bool { return m.pos > pos })
	return arm
}

// Branches returns the ids of all branches but the main line, in order of
// appearance: sidechains (subagents) and the abandoned arms of forks.
func (s *Session) Branches() []string { return slices.Clone(s.names) }

// View returns the main line under a view. A file that holds nothing but one
// sidechain, as hosts write for subagents, shows that.
func (s *Session) View(v View) []memkernel.Message {
	if len(s.lines[""].order) == 0 && len(s.names) == 1 {
		return s.ViewBranch(v, s.names[0])
	}
	return s.ViewBranch(v, "")
}

// ViewBranch returns one branch under a view, nil if there is none such. An
// abandoned arm comes with the past that it shares with the main line.
func (s *Session) ViewBranch(v View, branch string) []memkernel.Message {
	l := s.lines[branch]
	if l == nil {
		return nil
	}
	if v == Full {
		return s.full(l)
	}
	return s.host(l)
}

func (s *Session) full(l *line) []memkernel.Message {
	out := make([]memkernel.Message, 0, len(l.order))
	for _, i := range l.order {
		m := s.Messages[i]
		if s.flags[i].unsent || m.Origin == memkernel.OriginSummary || len(m.Parts) == 0 {
			continue
		}
		out = append(out, m)
	}
	return out
}

// Compactions lists where the host compacted the main line, as positions in the
// Full view: a compaction stood before the message at that index.
func (s *Session) Compactions() []int {
	l, out := s.lines[""], []int{}
	if len(l.order) == 0 && len(s.names) == 1 {
		l = s.lines[s.names[0]]
	}
	for _, b := range l.bounds {
		out = append(out, len(s.full(&line{order: l.order[:b.pos]})))
	}
	return out
}

func (s *Session) host(l *line) []memkernel.Message {
	var b bound
	if n := len(l.bounds); n > 0 {
		b = l.bounds[n-1]
	}
	answered := s.answered(l)
	out := slices.Clone(b.lead)
	pos := b.pos
	if b.lead == nil {
		// The summary stands before what was kept.
		for ; pos < len(l.order) && s.Messages[l.order[pos]].Origin == memkernel.OriginSummary; pos++ {
			out = append(out, s.Messages[l.order[pos]])
		}
	}
	cleared := l.cleared()
	add := func(i, at int) {
		f, m := s.flags[i], s.Messages[i]
		if f.unsent || len(m.Parts) == 0 || f.hostSkip && !hasCallIn(m, answered) {
			return
		}
		out = append(out, clearResults(m, cleared, at))
	}
	for _, at := range b.keep {
		add(l.order[at], at)
	}
	for at := pos; at < len(l.order); at++ {
		add(l.order[at], at)
	}
	return out
}

// cleared maps a call to the position before which its result is a stub.
func (l *line) cleared() map[string]int {
	if len(l.micros) == 0 {
		return nil
	}
	out := map[string]int{}
	for _, m := range l.micros {
		for _, id := range m.ids {
			out[id] = m.pos
		}
	}
	return out
}

// answered holds the calls on the line that have results. A turn that the host
// would leave out as unfinished stays if it has, so that no result is orphaned.
func (s *Session) answered(l *line) map[string]bool {
	if !slices.ContainsFunc(l.order, func(i int) bool { return s.flags[i].hostSkip }) {
		return nil
	}
	ids := map[string]bool{}
	for _, i := range l.order {
		for _, p := range s.Messages[i].Parts {
			if p.Result != nil {
				ids[p.Result.CallID] = true
			}
		}
	}
	return ids
}

func hasCallIn(m memkernel.Message, ids map[string]bool) bool {
	return slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool { return p.Call != nil && ids[p.Call.ID] })
}

// clearResults replaces the cleared results of a message by the host's stub.
func clearResults(m memkernel.Message, cleared map[string]int, at int) memkernel.Message {
	if cleared == nil {
		return m
	}
	touched := false
	for i, p := range m.Parts {
		if p.Result == nil || p.Result.Opaque {
			continue
		}
		if before, ok := cleared[p.Result.CallID]; !ok || at >= before {
			continue
		}
		if !touched {
			m.Parts, m.Raw, touched = slices.Clone(m.Parts), "", true
		}
		r := *p.Result
		r.Content, r.Text = []memkernel.Part{{Kind: memkernel.PartText, Text: clearedResult}}, true
		m.Parts[i] = memkernel.Part{Kind: memkernel.PartToolResult, Result: &r}
	}
	return m
}

// Call is one recorded request to a model.
type Call struct {
	// Index is that of the assistant message.
	Index int
	// Start is when the request can have begun: the latest time of the user
	// and tool messages since the call before. It is the end of the call
	// before, or else End, if there are none.
	Start time.Time
	// End is the assistant message's time.
	End time.Time
}

// Calls finds the model calls in a sequence of messages. Synthetic messages
// are no calls. Several assistant messages in a row are several calls.
func Calls(messages []memkernel.Message) []Call {
	var calls []Call
	var start, prev time.Time
	for i, m := range messages {
		if m.Role != memkernel.RoleAssistant {
			if m.Time.After(start) {
				start = m.Time
			}
			continue
		}
		if m.Origin == memkernel.OriginSynthetic {
			continue
		}
		c := Call{Index: i, Start: start, End: m.Time}
		if c.Start.IsZero() {
			c.Start = prev
		}
		if c.Start.IsZero() {
			c.Start = c.End
		}
		calls = append(calls, c)
		start, prev = time.Time{}, m.Time
	}
	return calls
}
