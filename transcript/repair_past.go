package transcript

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
)

// Past records which call ids earlier messages used and answered. [RepairAfter] needs it to repair
// later messages. Nil and the zero value mean that there are no earlier messages.
type Past struct {
	used map[string]int
	now  map[string][]string
	done map[string]bool // by repaired id
	made map[string]bool // repaired ids of all calls
	tool bool
	some bool
}

// means reports whether a call has the host's id, and whether that call waits for its result.
func (p *Past) means(id string) (known, open bool) {
	of, known := p.now[id]
	return known, slices.ContainsFunc(of, func(id string) bool { return !p.done[id] })
}

// RepairAfter is [Repair] for messages that follow a past. The result is the same as when all
// messages are repaired at once. ok is false if the result would differ: if a message answers a
// call that the past left open, or is the first tool message. RepairAfter changes neither past
// nor msgs.
func RepairAfter(past *Past, msgs []memkernel.Message) (repaired []memkernel.Message, notes []Note, ok bool) {
	h, ok := after(past, msgs)
	if !ok {
		return nil, nil, false
	}
	if out := h.emit(len(msgs), false); h.changed {
		return out, h.notes, true
	}
	return msgs, nil, true
}

// after returns the repairer of messages that follow a past. ok is as for [RepairAfter].
func after(past *Past, msgs []memkernel.Message) (h *repairer, ok bool) {
	h = newRepairer(past, msgs)
	return h, !h.reaches && (!h.past.some || h.past.tool || h.role != memkernel.RoleTool)
}

// Take adds messages to the past and returns them repaired. ok is as for [RepairAfter]. If ok is
// false, Take adds nothing.
func (p *Past) Take(msgs []memkernel.Message) (repaired []memkernel.Message, ok bool) {
	h, ok := after(p, msgs)
	if !ok {
		return nil, false
	}
	if p.used == nil {
		p.used, p.now, p.done, p.made = map[string]int{}, map[string][]string{}, map[string]bool{}, map[string]bool{}
	}
	maps.Copy(p.used, h.used)
	maps.Copy(p.now, h.now)
	maps.Copy(p.done, h.done)
	for id := range h.owner {
		p.made[id] = true
	}
	p.tool, p.some = h.role == memkernel.RoleTool, p.some || len(msgs) > 0
	repaired = h.emit(len(msgs), false)
	return slices.Clip(repaired), true
}
