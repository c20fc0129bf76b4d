package replay

import "github.com/memkernel/memkernel/transcript"

// lastTurns is how many user turns turns shows.
const lastTurns = 10

// turns shows the newest user turns, however large they are.
type turns struct {
	history
	keep int
}

func newTurns(rec *recording, keep int) *turns {
	return &turns{history: newHistory(rec), keep: orElse(keep, lastTurns)}
}

func (p *turns) choose(req request) (c choice) {
	left := p.keep
	from := 0
	for i := req.end - 1; i >= 0 && left > 0; i-- {
		if !transcript.PlainUser(p.rec.msgs[i]) || i > 0 && transcript.PlainUser(p.rec.msgs[i-1]) {
			continue
		}
		if left--; left == 0 {
			from = i
		}
	}
	if from > p.from {
		c.cut = "turns"
		p.begin(from)
	}
	c.items = p.items(req.end)
	return c
}
