package kernel

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/transcript"
)

// heard is a conversation that is observed and not planned in this process, as it was
// handed in last. It belongs to its session alone, so that what is new is appended to
// it in place: an observation costs what is new and not what was.
//
//	raw   ──────────── settled ────────────┬── healed again ──┬── new ──
//	msgs  ── keyed, hashed, pages made ────┴──────────────────┴─────────
//
// The end is healed again, since what comes may belong to it: results to open calls.
// A host that changes what is settled has all of it read anew.
type heard struct {
	// on is the session's line on which it stands, nil if there was none; line is
	// that line with what was handed in since.
	on, line *branch.State
	// The first raw of the host's messages came to the first msgs of ours, for good.
	// past and used are what healing and keying know of them.
	raw, msgs int
	past      transcript.Past
	used      map[string]int
	// upto are the tokens of the messages before each, and of all.
	upto []int
}

// hearing gives the conversation that a turn goes on from. It is taken out of the
// session until the turn is in; see [work.heardAll].
func (s *session) hearing(branch, model string) (*branch.State, *heard) {
	key := lineKey{branch, model}
	on, h := s.lines[key], s.heard[key]
	delete(s.heard, key)
	switch {
	case on != nil && len(on.Raw) > 0:
		return on, nil // a plan holds it
	case h == nil || h.on != on:
		h = &heard{on: on, line: s.line(branch, model), used: map[string]int{}}
	}
	return h.line, h
}

// heardAll keeps what was handed in for the next time.
func (w *work) heardAll() {
	h := w.heard
	w.next.Msgs, w.next.Hosts, w.next.Calls = w.msgs, w.hosts, w.byID
	h.line = w.next
	w.s.heard[lineKey{w.req.Branch, w.req.Model}] = h
}

// healHeard makes valid what is new, on top of what is settled. It gives the place
// where the next time may begin, as numbers of host messages and of ours behind the
// settled ones.
func (w *work) healHeard() (raw, msgs int) {
	h, prev := w.heard, w.heard.line
	same := min(w.unchanged, len(prev.Raw), len(w.req.Messages))
	same += samePrefix(prev.Raw[same:], w.req.Messages[same:])
	w.examined = len(w.req.Messages) - same
	w.next.Raw = append(prev.Raw[:same], w.req.Messages[same:]...)
	if same < h.raw {
		h.begin()
	}
	tail, notes, ok := transcript.HealAfter(&h.past, w.next.Raw[h.raw:])
	if !ok {
		h.begin()
		tail, notes, _ = transcript.HealAfter(nil, w.next.Raw)
	}
	w.note(notes)
	w.examined = max(w.examined, len(w.next.Raw)-h.raw)
	w.was = slices.Clone(prev.Msgs[min(h.msgs, len(prev.Msgs)):])
	w.msgs, w.kept = append(prev.Msgs[:min(h.msgs, len(prev.Msgs))], tail...), h.msgs
	if to := h.seam(w.next.Raw, same); to > h.raw {
		first, _, ok := transcript.HealAfter(&h.past, w.next.Raw[h.raw:to])
		if ok && len(first) <= len(tail) && samePrefix(first, tail) == len(first) {
			return to, len(first)
		}
	}
	return h.raw, 0
}

// begin forgets what is settled.
func (h *heard) begin() {
	h.raw, h.msgs, h.past, h.used = 0, 0, transcript.Past{}, map[string]int{}
}

// rewound is how many of its newest messages a host may change without having all read
// anew, at least: some write their last message piece by piece.
const rewound = 8

// seam is where what is settled may end: before one of the messages that the host
// repeated, where a person spoke or the model went on behind a result.
func (h *heard) seam(raw []memkernel.Message, same int) int {
	for i := min(same, len(raw)) - rewound; i > h.raw; i-- {
		if transcript.PlainUser(raw[i]) || raw[i].Role == memkernel.RoleAssistant && raw[i-1].Role != memkernel.RoleAssistant {
			return i
		}
	}
	return h.raw
}

// keyHeard gives keys to what is not settled, of which the first msgs of ours, from
// raw of the host's, are settled then.
func (w *work) keyHeard(raw, msgs int) {
	h := w.heard
	begin, end := h.msgs, h.msgs+msgs
	if w.led > 0 && msgs > 0 {
		if end++; msgs < w.led {
			end = begin // the opening is to be settled with what stands behind it
		}
	}
	used := keyUse{h.used, map[string]int{}}
	w.keyRun(begin, end, used)
	if end > begin {
		if _, ok := h.past.Take(w.next.Raw[h.raw:raw]); ok {
			h.raw, h.msgs = raw, end
			used.settle()
		}
	}
	w.keyRun(end, len(w.msgs), used)
}

// keyUse counts the keys that are taken: those of settled messages, and those behind
// them.
type keyUse struct{ settled, now map[string]int }

func (u keyUse) of(key string) int {
	if n, ok := u.now[key]; ok {
		return n
	}
	return u.settled[key]
}

// take counts one more.
func (u keyUse) take(key string) int {
	n := u.of(key) + 1
	u.now[key] = n
	return n
}

// settle adds what was counted to what is settled.
func (u keyUse) settle() {
	maps.Copy(u.settled, u.now)
	clear(u.now)
}

// tokensFrom is what the messages from one on cost.
func (w *work) tokensFrom(from int) int {
	from = max(min(from, len(w.hosts)), 0)
	if h := w.heard; h != nil {
		return h.upto[len(w.hosts)] - h.upto[from]
	}
	n := 0
	for i := from; i < len(w.hosts); i++ {
		n += w.hosts[i].Tokens()
	}
	return n
}

// takeHosts gives the messages the views of pages, and keeps the conversation for the
// next time. Where the work fails later the session is forgotten.
func (w *work) takeHosts(g *ingester) {
	w.hosts, w.byID = g.absorb(w), g.calls
	w.stats.Examined = w.examined + len(w.hosts) - g.kept
	if w.heard != nil {
		w.heard.count(w, g.kept)
		w.heardAll()
	}
}

// count brings upto up to date; the first kept messages are those of before.
func (h *heard) count(w *work, kept int) {
	if len(h.upto) == 0 {
		h.upto = append(h.upto, 0)
	}
	h.upto = h.upto[:min(kept+1, len(h.upto))]
	for i := len(h.upto) - 1; i < len(w.hosts); i++ {
		h.upto = append(h.upto, h.upto[i]+w.hosts[i].Tokens())
	}
}
