package policies

import (
	"cmp"

	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// lastTurns is how many user turns turns shows.
const lastTurns = 10

// turns shows the newest user turns, however large they are.
type turns struct {
	replay.History
	keep int
}

func newTurns(rec *replay.Recording, keep int) replay.Chooser {
	return &turns{History: replay.NewHistory(rec), keep: cmp.Or(keep, lastTurns)}
}

func (p *turns) Choose(req replay.Request) (c replay.Choice) {
	left := p.keep
	from := 0
	for i := req.End - 1; i >= 0 && left > 0; i-- {
		if !transcript.PlainUser(p.Rec.Messages[i]) || i > 0 && transcript.PlainUser(p.Rec.Messages[i-1]) {
			continue
		}
		if left--; left == 0 {
			from = i
		}
	}
	if from > p.From {
		c.Cut = "turns"
		begin(&p.History, from)
	}
	c.Items = p.Items(req.End)
	return c
}
