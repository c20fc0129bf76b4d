package transcript

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
)

// Past records which call ids earlier messages used and answered. [Past.Repair] needs it to
// repair later messages. The zero value means that there are no earlier messages.
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

// Repair is [Repair] for messages that follow a past. The result is the same as when all
// messages are repaired at once. ok is false if the result would differ: if a message answers a
// call that the past left open, or is the first tool message. Repair changes neither the past
// nor msgs.
func (p *Past) Repair(msgs []memkernel.Message) (repaired []memkernel.Message, notes []Note, ok bool) {
	h, ok := p.follow(msgs)
	if ok {
		repaired, notes = h.emit(msgs, false)
	}
	return repaired, notes, ok
}

// follow returns the repairer of messages that follow a past. ok is as for [Past.Repair].
func (p *Past) follow(msgs []memkernel.Message) (h *repairer, ok bool) {
	h = newRepairer(p, msgs)
	return h, !h.reaches && (!p.some || p.tool || h.role != memkernel.RoleTool)
}

// Take adds messages to the past. ok is as for [Past.Repair]. If ok is false, Take adds nothing.
func (p *Past) Take(msgs []memkernel.Message) (ok bool) {
	h, ok := p.follow(msgs)
	if !ok {
		return false
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
	return true
}
