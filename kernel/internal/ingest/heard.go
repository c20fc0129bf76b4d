package ingest

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/transcript"
)

// Heard is a conversation that is observed and not planned in this process, as the host last
// handed it in. It belongs to a single session, so that new messages can be appended in place.
// The cost of an observation therefore depends only on the new messages.
//
//	raw   ──────────── settled ────────────┬── healed again ──┬── new ──
//	msgs  ── keyed, hashed, pages made ────┴──────────────────┴─────────
//
// The end is healed again because later messages may belong to it, such as the results of open
// calls. If a host changes settled messages, all messages are read again.
type Heard struct {
	// On is the state that the conversation extends, nil if there was no state. State is On, or an
	// empty state, with the messages that were handed in since.
	On, State *branch.State
	// The first raw messages of the host are settled. They became the first msgs valid messages.
	// past is the state of repair after them, and used is the state of keying after them.
	raw, msgs int
	past      transcript.Past
	used      map[string]int
	// upto holds the number of tokens before each message, and of all messages.
	upto []int
}

// keep stores the messages that were handed in for the next observation.
func (h *Heard) keep(b *Batch) {
	h.count(b)
	n := *h.State
	n.Raw, n.Msgs, n.Hosts, n.Calls, n.Adopted = b.Raw, b.Msgs, b.Hosts, b.Calls, b.Adopted
	h.State = &n
}

// count updates upto.
func (h *Heard) count(b *Batch) {
	if len(h.upto) == 0 {
		h.upto = append(h.upto, 0)
	}
	h.upto = h.upto[:min(b.Absorbed+1, len(h.upto))]
	for i := len(h.upto) - 1; i < len(b.Hosts); i++ {
		h.upto = append(h.upto, h.upto[i]+b.Hosts[i].Tokens())
	}
}

// repairHeard makes the new messages valid, after the settled ones. It returns how many of the
// host's messages may be settled in total, and how many valid messages that adds to the settled
// ones.
func (b *Batch) repairHeard() (raw, msgs int) {
	h, prev := b.heard, b.heard.State
	same := min(b.req.Unchanged, len(prev.Raw), len(b.req.Messages))
	same += samePrefix(prev.Raw[same:], b.req.Messages[same:])
	b.Examined = len(b.req.Messages) - same
	b.Raw = append(prev.Raw[:same], b.req.Messages[same:]...)
	if same < h.raw {
		h.begin()
	}
	tail, notes, ok := h.past.Repair(b.Raw[h.raw:])
	if !ok {
		h.begin()
		tail, notes, _ = h.past.Repair(b.Raw)
	}
	b.note(notes)
	b.Examined = max(b.Examined, len(b.Raw)-h.raw)
	b.was = slices.Clone(prev.Msgs[min(h.msgs, len(prev.Msgs)):])
	b.Msgs, b.kept = append(prev.Msgs[:min(h.msgs, len(prev.Msgs))], tail...), h.msgs
	if to := h.seam(b.Raw, same); to > h.raw {
		first, _, ok := h.past.Repair(b.Raw[h.raw:to])
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

// Rewound is the number of newest messages that a host may always change without having all
// messages read again. Some hosts write their last message piece by piece.
const Rewound = 8

// seam returns how many of the host's messages may be settled. The message after them must be one
// that the host repeated. In it a person speaks, or the model continues after a result.
func (h *Heard) seam(raw []memkernel.Message, same int) int {
	for i := min(same, len(raw)) - Rewound; i > h.raw; i-- {
		if transcript.PlainUser(raw[i]) || raw[i].Role == memkernel.RoleAssistant && raw[i-1].Role != memkernel.RoleAssistant {
			return i
		}
	}
	return h.raw
}

// keyHeard gives keys to the messages that are not settled. It then settles the host's messages up
// to raw, which became the next msgs valid messages.
func (b *Batch) keyHeard(raw, msgs int) {
	h := b.heard
	begin, end := h.msgs, h.msgs+msgs
	if b.led > 0 && msgs > 0 {
		if end++; msgs < b.led {
			end = begin // the opening has to be settled with the message after it
		}
	}
	if h.used == nil {
		h.used = map[string]int{}
	}
	used := keyUse{h.used, map[string]int{}}
	b.keyRun(begin, end, used)
	if end > begin {
		if h.past.Take(b.Raw[h.raw:raw]) {
			h.raw, h.msgs = raw, end
			used.settle()
		}
	}
	b.keyRun(end, len(b.Msgs), used)
}

// keyUse counts the taken keys of settled messages and of later messages.
type keyUse struct{ settled, now map[string]int }

func (u keyUse) of(key string) int {
	if n, ok := u.now[key]; ok {
		return n
	}
	return u.settled[key]
}

// take counts one more use of a key.
func (u keyUse) take(key string) int {
	n := u.of(key) + 1
	u.now[key] = n
	return n
}

// settle adds the new counts to the settled counts.
func (u keyUse) settle() {
	maps.Copy(u.settled, u.now)
	clear(u.now)
}

// TokensFrom returns the size of message from and all later messages.
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

// Heard returns the conversation that the batch continues, nil for a planned conversation.
func (b *Batch) Heard() *Heard { return b.heard }
