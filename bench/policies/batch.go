package policies

import (
	"cmp"

	"github.com/memkernel/memkernel/replay"
)

// The figures of a naive batch cut, in tokens of messages.
const (
	batchHigh = 80_000
	batchLow  = 30_000
)

// batch appends until the messages are over a high mark, and then drops the oldest atoms
// until they are below a low one.
type batch struct {
	replay.History
	high, low int
}

func newBatch(rec *replay.Recording, figures []int, _ *replay.Result) replay.Chooser {
	high, low := 0, 0
	if len(figures) == 2 {
		high, low = figures[0], figures[1]
	}
	return &batch{replay.NewHistory(rec), cmp.Or(high, batchHigh), cmp.Or(low, batchLow)}
}

func (p *batch) Choose(req replay.Request) (c replay.Choice) {
	if p.Tokens(req.End) > min(p.high, req.Room) {
		if from := p.Newest(req.End, min(p.low, req.Room)); from > p.From {
			c.Cut = "batch"
			begin(&p.History, from)
		}
	}
	c.Items = p.Items(req.End)
	return c
}
