package transcript

import (
	"slices"
	"time"

	"github.com/memkernel/memkernel"
)

// View selects the form in which a session's messages are returned.
type View int

const (
	// Host is the conversation that the host would send now: the summary of its last compaction,
	// the messages that the compaction kept, and the later ones, with its micro-compactions
	// applied. At a fork it follows the later arm.
	Host View = iota
	// Full is the whole line once, without compaction boundaries and summaries. It is meant for
	// replay. The abandoned arm of a fork is a branch of its own.
	Full
)

func (v View) String() string {
	if v == Full {
		return "full"
	}
	return "host"
}

// View returns the main line under a view. For a file that holds only one sidechain, such as a
// subagent's file, it returns the sidechain.
func (s *Session) View(v View) []memkernel.Message {
	if v == Full {
		return s.full(s.main())
	}
	return s.host(s.main())
}

func (s *Session) full(l *sessionLine) []memkernel.Message {
	out := make([]memkernel.Message, 0, len(l.Order))
	for _, i := range l.Order {
		m := s.Messages[i]
		if s.flags[i].Unsent || m.Origin == memkernel.OriginSummary || len(m.Parts) == 0 {
			continue
		}
		out = append(out, m)
	}
	return out
}

// Compactions lists the host's compactions of the main line. Each is the index in the Full view
// of the first message after the compaction.
func (s *Session) Compactions() []int {
	l, out := s.main(), []int{}
	for _, b := range l.Bounds {
		out = append(out, len(s.full(&sessionLine{Order: l.Order[:b.Pos]})))
	}
	return out
}

// main returns the line that is viewed when no branch is named.
func (s *Session) main() *sessionLine {
	l := s.lines[""]
	if len(l.Order) == 0 && len(s.names) == 1 {
		return s.lines[s.names[0]]
	}
	return l
}

// hostRewrite is a place where the host changed the past that it sends: it compacted, or it cleared
// results.
type hostRewrite struct {
	// At is an index in the Full view. After the change the host sends Messages, followed by the
	// messages of the Full view from At on.
	At       int
	Messages []memkernel.Message
}

// Rewrites lists the host's changes of the main line's past, in order. If several are at one
// position, only the last is listed.
func (s *Session) Rewrites() []hostRewrite {
	l := s.main()
	var at []int // positions in the line
	for _, b := range l.Bounds {
		at = append(at, b.Pos)
	}
	for _, m := range l.Micros {
		at = append(at, m.Pos)
	}
	slices.Sort(at)
	var out []hostRewrite
	for _, pos := range slices.Compact(at) {
		r := hostRewrite{At: len(s.full(&sessionLine{Order: l.Order[:pos]})), Messages: s.host(s.until(l, pos))}
		if n := len(out); n > 0 && out[n-1].At == r.At {
			out[n-1] = r
			continue
		}
		out = append(out, r)
	}
	return out
}

// until returns the line right after the host's change at a position, with the summary that the host
// wrote then.
func (s *Session) until(l *sessionLine, pos int) *sessionLine {
	end := pos
	for end < len(l.Order) && s.Messages[l.Order[end]].Origin == memkernel.OriginSummary {
		end++
	}
	return &sessionLine{Order: l.Order[:end],
		Bounds: slices.DeleteFunc(slices.Clone(l.Bounds), func(b boundary) bool { return b.Pos > pos }),
		Micros: slices.DeleteFunc(slices.Clone(l.Micros), func(m micro) bool { return m.Pos > pos })}
}

func (s *Session) host(l *sessionLine) []memkernel.Message {
	var b boundary
	if n := len(l.Bounds); n > 0 {
		b = l.Bounds[n-1]
	}
	answered := s.answered(l)
	out := slices.Clone(b.Lead)
	pos := b.Pos
	if b.Lead == nil { // the summary precedes the kept messages
		for ; pos < len(l.Order) && s.Messages[l.Order[pos]].Origin == memkernel.OriginSummary; pos++ {
			out = append(out, s.Messages[l.Order[pos]])
		}
	}
	gone := cleared(l)
	add := func(i, at int) {
		f, m := s.flags[i], s.Messages[i]
		if f.Unsent || len(m.Parts) == 0 || f.HostSkip && !hasCallIn(m, answered) {
			return
		}
		out = append(out, clearResults(m, gone, at))
	}
	for _, at := range b.Keep {
		add(l.Order[at], at)
	}
	for at := pos; at < len(l.Order); at++ {
		add(l.Order[at], at)
	}
	return out
}

// cleared maps a call's id to the micro-compaction that replaced its earlier result by a stub.
func cleared(l *sessionLine) map[string]*micro {
	out := map[string]*micro{}
	for i := range l.Micros {
		for _, id := range l.Micros[i].IDs {
			out[id] = &l.Micros[i]
		}
	}
	return out
}

// answered returns the ids of the calls on the line that have results. An unfinished turn with such
// a call stays in the host's view; otherwise its result would answer no call.
func (s *Session) answered(l *sessionLine) map[string]bool {
	if !slices.ContainsFunc(l.Order, func(i int) bool { return s.flags[i].HostSkip }) {
		return nil
	}
	ids := map[string]bool{}
	for _, i := range l.Order {
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
func clearResults(m memkernel.Message, gone map[string]*micro, at int) memkernel.Message {
	is := func(p *memkernel.Part) bool {
		return p.Result != nil && !p.Result.Opaque && gone[p.Result.CallID] != nil && at < gone[p.Result.CallID].Pos
	}
	if !anyPart(&m, is) {
		return m
	}
	m.Parts, m.Raw = slices.Clone(m.Parts), ""
	for i := range m.Parts {
		if p := &m.Parts[i]; is(p) {
			r := *p.Result
			r.Content, r.Text = memkernel.Text(gone[r.CallID].Stub), true
			*p = resultPart(r, "")
		}
	}
	return m
}

// Call is one recorded request to a model.
type Call struct {
	// Index is the index of the assistant message.
	Index int
	// Start is the earliest possible start of the request. It is the latest time of the user and
	// tool messages since the previous call. Without such messages it is the end of the previous
	// call, and without a previous call it is End.
	Start time.Time
	// End is the assistant message's time.
	End time.Time
}

// Calls finds the model calls in a sequence of messages. Synthetic messages do not count as
// calls. Several assistant messages in a row count as several calls.
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
		for _, earlier := range []time.Time{prev, c.End} {
			if c.Start.IsZero() {
				c.Start = earlier
			}
		}
		calls = append(calls, c)
		start, prev = time.Time{}, m.Time
	}
	return calls
}
