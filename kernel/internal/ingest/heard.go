package ingest

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/transcript"
)

// Heard is a conversation that is observed and not planned in this process, as it was
// handed in last. It belongs to its session alone, so that what is new is appended to
// it in place: an observation costs what is new and not what was.
//
//	raw   ──────────── settled ────────────┬── healed again ──┬── new ──
//	msgs  ── keyed, hashed, pages made ────┴──────────────────┴─────────
//
// The end is healed again, since what comes may belong to it: results to open calls.
// A host that changes what is settled has all of it read anew.
type Heard struct {
	// On is the state on which it stands, nil if there was none; state is that with
	// what was handed in since.
	On    *branch.State
	state *branch.State
	// The first raw of the host's messages came to the first msgs of ours, for good.
	// past and used are what healing and keying know of them.
	raw, msgs int
	past      transcript.Past
	used      map[string]int
	// upto are the tokens of the messages before each, and of all.
	upto []int
}

// NewHeard is a conversation of which nothing was heard beyond its state, which stands on
// a state of the session, nil if there is none.
func NewHeard(on, state *branch.State) *Heard {
	return &Heard{On: on, state: state, used: map[string]int{}}
}

// RepairHeard is Repair for a conversation that is observed: what h knows of it is not read
// again. h belongs to the batch until its pages are made.
func RepairHeard(m Maker, h *Heard, r Request) (*Batch, error) {
	b := &Batch{Maker: m, req: r, before: h.state, heard: h, Adopted: h.state.Adopted}
	b.Calls = h.state.Calls
	raw, msgs := b.repairHeard()
	return b, b.ready(func() { b.keyHeard(raw, msgs) })
}

// keep keeps what was handed in for the next time.
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

// repairHeard makes valid what is new, on top of what is settled. It gives the place
// where the next time may begin, as numbers of host messages and of ours behind the
// settled ones.
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

// begin forgets what is settled.
func (h *Heard) begin() {
	h.raw, h.msgs, h.past, h.used = 0, 0, transcript.Past{}, map[string]int{}
}

// Rewound is how many of its newest messages a host may change without having all read
// anew, at least: some write their last message piece by piece.
const Rewound = 8

// seam is where what is settled may end: before one of the messages that the host
// repeated, where a person spoke or the model went on behind a result.
func (h *Heard) seam(raw []memkernel.Message, same int) int {
	for i := min(same, len(raw)) - Rewound; i > h.raw; i-- {
		if transcript.PlainUser(raw[i]) || raw[i].Role == memkernel.RoleAssistant && raw[i-1].Role != memkernel.RoleAssistant {
			return i
		}
	}
	return h.raw
}

// keyHeard gives keys to what is not settled, of which the first msgs of ours, from
// raw of the host's, are settled then.
func (b *Batch) keyHeard(raw, msgs int) {
	h := b.heard
	begin, end := h.msgs, h.msgs+msgs
	if b.led > 0 && msgs > 0 {
		if end++; msgs < b.led {
			end = begin // the opening is to be settled with what stands behind it
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

// TokensFrom is what the messages from one on cost.
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

// Heard is the conversation that the batch goes on from, nil for one that is planned.
func (b *Batch) Heard() *Heard { return b.heard }
