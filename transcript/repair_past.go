package transcript

import (
	"slices"

	"github.com/memkernel/memkernel"
)

// Past is what healing the end of a conversation has to know of all before it: which
// call ids were used and answered. Nil, or the zero value, is that of the beginning.
type Past struct {
	used map[string]int
	now  map[string]string
	done map[string]bool // by healed id
	made map[string]bool // healed ids of all calls
	tool bool
	some bool
}

func (p *Past) uses(id string) int {
	if p == nil {
		return 0
	}
	return p.used[id]
}

// healed is what the call goes by that the host's id means.
func (p *Past) healed(id string) (string, bool) {
	if p == nil {
		return "", false
	}
	healed, ok := p.now[id]
	return healed, ok
}

// has tells whether a call goes by that id, healed.
func (p *Past) has(id string) bool { return p != nil && p.made[id] }

// HealAfter is [Heal] for messages that follow a past. Healed on its own, what
// follows comes out as it does when all is healed at once; ok is false where it does
// not, since it answers a call that the past left open, or is the first to hold a tool
// message. Neither past nor msgs change.
func HealAfter(past *Past, msgs []memkernel.Message) (healed []memkernel.Message, notes []Note, ok bool) {
	h := newHealer(past, msgs)
	if h.reaches || past != nil && past.some && !past.tool && h.role == memkernel.RoleTool {
		return nil, nil, false
	}
	if out := h.emit(len(msgs), false); h.changed {
		return out, h.notes, true
	}
	return msgs, nil, true
}

// Take adds messages to the past, and gives what they are healed to. ok is as for
// [HealAfter]; without it nothing is added.
func (p *Past) Take(msgs []memkernel.Message) (healed []memkernel.Message, ok bool) {
	h := newHealer(p, msgs)
	if h.reaches || p.some && !p.tool && h.role == memkernel.RoleTool {
		return nil, false
	}
	if p.used == nil {
		p.used, p.now, p.done, p.made = map[string]int{}, map[string]string{}, map[string]bool{}, map[string]bool{}
	}
	for id, n := range h.used {
		p.used[id] = n
	}
	for id, healed := range h.now {
		p.now[id] = healed
	}
	for id := range h.done {
		p.done[id] = true
	}
	for id := range h.owner {
		p.made[id] = true
	}
	p.tool, p.some = h.role == memkernel.RoleTool, p.some || len(msgs) > 0
	healed = h.emit(len(msgs), false)
	return slices.Clip(healed), true
}
