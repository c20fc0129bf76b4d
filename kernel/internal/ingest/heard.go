package ingest

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/transcript"
)

// Heard is a conversation that is observed and not planned in this process, as it was handed in
// last. It belongs to its session alone, so that new messages are appended to it in place: the
// cost of an observation depends on the new messages only.
//
//	raw   ──────────── settled ────────────┬── healed again ──┬── new ──
//	msgs  ── keyed, hashed, pages made ────┴──────────────────┴─────────
//
// The end is healed again, since later messages may belong to it: results to open calls. If a
// host changes settled messages, all of them are read anew.
type Heard struct {
	// On is the state that the conversation extends, nil if there was none. state adds to it the
	// messages handed in since.
	On    *branch.State
	state *branch.State
	// The first raw of the host's messages became the first msgs of ours, for good. past and used
	// are the state of healing and keying after them.
	raw, msgs int
	past      transcript.Past
	used      map[string]int
	// upto holds the number of tokens before each message, and of all messages.
	upto []int
}

// NewHeard returns a conversation without messages beyond its state. on is the state of the
// session that it extends, nil if there is none.
func NewHeard(on, state *branch.State) *Heard {
	return &Heard{On: on, state: state, used: map[string]int{}}
}

// RepairHeard is Repair for a conversation that is observed: the messages that h knows are not
// read again. The caller must leave h to the batch until its pages are made.
func RepairHeard(m Maker, h *Heard, r Request) (*Batch, error) {
	b := &Batch{Maker: m, req: r, before: h.state, heard: h, Adopted: h.state.Adopted}
	b.Calls = h.state.Calls
	raw, msgs := b.repairHeard()
	return b, b.ready(func() { b.keyHeard(raw, msgs) })
}

// keep keeps the messages that were handed in for the next time.
func (h *Heard) keep(b *Batch) {
	h.count(b)
	n := *h.state
	n.Raw, n.Msgs, n.Hosts, n.Calls, n.Adopted = b.Raw, b.Msgs, b.Hosts, b.Calls, b.Adopted
	h.state = &n
}

// count brings upto up to date.
func (h *Heard) count(b *Batch) {
	if len(h.upto) == 0 {
		h.upto = append(h.upto, 0)
	}
	h.upto = h.upto[:min(b.Absorbed+1, len(h.upto))]
	for i := len(h.upto) - 1; i < len(b.Hosts); i++ {
		h.upto = append(h.upto, h.upto[i]+b.Hosts[i].Tokens())
	}
}

// repairHeard makes the new messages valid, on top of the settled ones. It returns the place
// where the next time may begin, as numbers of host messages and of ours after the settled ones.
func (b *Batch) repairHeard() (raw, msgs int) {
	h, prev := b.heard, b.heard.state
	same := min(b.req.Unchanged, len(prev.Raw), len(b.req.Messages))
	same += samePrefix(prev.Raw[same:], b.req.Messages[same:])
	b.Examined = len(b.req.Messages) - same
	b.Raw = append(prev.Raw[:same], b.req.Messages[same:]...)
	if same < h.raw {
		h.begin()
	}
	tail, notes, ok := transcript.RepairAfter(&h.past, b.Raw[h.raw:])
	if !ok {
		h.begin()
		tail, notes, _ = transcript.RepairAfter(nil, b.Raw)
	}
	b.note(notes)
	b.Examined = max(b.Examined, len(b.Raw)-h.raw)
	b.was = slices.Clone(prev.Msgs[min(h.msgs, len(prev.Msgs)):])
	b.Msgs, b.kept = append(prev.Msgs[:min(h.msgs, len(prev.Msgs))], tail...), h.msgs
	if to := h.seam(b.Raw, same); to > h.raw {
		first, _, ok := transcript.RepairAfter(&h.past, b.Raw[h.raw:to])
		if ok && len(first) <= len(tail) && samePrefix(first, tail) == len(first) {
			return to, len(first)
		}
	}
	return h.raw, 0
}

// begin forgets the settled messages.
func (h *Heard) begin() {
	h.raw, h.msgs, h.past, h.used = 0, 0, transcript.Past{}, map[string]int{}
}

// Rewound is the least number of its newest messages that a host may change without having all
// messages read anew: some hosts write their last message piece by piece.
const Rewound = 8

// seam returns the place where the settled messages may end: before one of the messages that the
// host repeated, where a person spoke or the model continued after a result.
func (h *Heard) seam(raw []memkernel.Message, same int) int {
	for i := min(same, len(raw)) - Rewound; i > h.raw; i-- {
		if transcript.PlainUser(raw[i]) || raw[i].Role == memkernel.RoleAssistant && raw[i-1].Role != memkernel.RoleAssistant {
			return i
		}
	}
	return h.raw
}

// keyHeard gives keys to the messages that are not settled. The first msgs of ours, from raw of
// the host's, are settled then.
func (b *Batch) keyHeard(raw, msgs int) {
	h := b.heard
	begin, end := h.msgs, h.msgs+msgs
	if b.led > 0 && msgs > 0 {
		if end++; msgs < b.led {
			end = begin // the opening has to be settled with the message after it
		}
	}
	used := keyUse{h.used, map[string]int{}}
	b.keyRun(begin, end, used)
	if end > begin {
		if _, ok := h.past.Take(b.Raw[h.raw:raw]); ok {
			h.raw, h.msgs = raw, end
			used.settle()
		}
	}
	b.keyRun(end, len(b.Msgs), used)
}

// keyUse counts the taken keys: those of settled messages, and those of later ones.
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

// settle adds the new counts to the settled ones.
func (u keyUse) settle() {
	maps.Copy(u.settled, u.now)
	clear(u.now)
}

// TokensFrom returns the size of the messages from one on.
func (b *Batch) TokensFrom(from int) int {
	from = max(min(from, len(b.Hosts)), 0)
	if h := b.heard; h != nil {
		return h.upto[len(b.Hosts)] - h.upto[from]
	}
	n := 0
	for i := from; i < len(b.Hosts); i++ {
		n += b.Hosts[i].Tokens()
	}
	return n
}

// Heard returns the conversation that the batch continues, nil for one that is planned.
func (b *Batch) Heard() *Heard { return b.heard }
