package transcript

import (
	"slices"

	"github.com/memkernel/memkernel"
)

// Past is what repairing the end of a conversation has to know of all before it: which
// call ids were used and answered. Nil, or the zero value, is that of the beginning.
type Past struct {
	used map[string]int
	now  map[string][]string
	done map[string]bool // by repaired id
	made map[string]bool // repaired ids of all calls
	tool bool
	some bool
}

func (p *Past) uses(id string) int {
	if p == nil {
		return 0
	}
	return p.used[id]
}

// means reports whether the host's id is that of a call, and whether that waits for its
// result.
func (p *Past) means(id string) (known, open bool) {
	if p == nil {
		return false, false
	}
	of, known := p.now[id]
	return known, slices.ContainsFunc(of, func(id string) bool { return !p.done[id] })
}

// has reports whether a call goes by that id, repaired.
func (p *Past) has(id string) bool { return p != nil && p.made[id] }

// RepairAfter is [Repair] for messages that follow a past. Repaired on its own, what
// follows comes out as it does when all is repaired at once; ok is false where it does
// not, since it answers a call that the past left open, or is the first to hold a tool
// message. Neither past nor msgs change.
func RepairAfter(past *Past, msgs []memkernel.Message) (repaired []memkernel.Message, notes []Note, ok bool) {
	h := newRepairer(past, msgs)
	if h.reaches || past != nil && past.some && !past.tool && h.role == memkernel.RoleTool {
		return nil, nil, false
	}
	if out := h.emit(len(msgs), false); h.changed {
		return out, h.notes, true
	}
	return msgs, nil, true
}

// Take adds messages to the past, and returns what they are repaired to. ok is as for
// [RepairAfter]; without it nothing is added.
func (p *Past) Take(msgs []memkernel.Message) (repaired []memkernel.Message, ok bool) {
	h := newRepairer(p, msgs)
	if h.reaches || p.some && !p.tool && h.role == memkernel.RoleTool {
		return nil, false
	}
	if p.used == nil {
		p.used, p.now, p.done, p.made = map[string]int{}, map[string][]string{}, map[string]bool{}, map[string]bool{}
	}
	for id, n := range h.used {
		p.used[id] = n
	}
	for id, repaired := range h.now {
		p.now[id] = repaired
	}
	for id := range h.done {
		p.done[id] = true
	}
	for id := range h.owner {
		p.made[id] = true
	}
	p.tool, p.some = h.role == memkernel.RoleTool, p.some || len(msgs) > 0
	repaired = h.emit(len(msgs), false)
	return slices.Clip(repaired), true
}
