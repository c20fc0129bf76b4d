package policies

import (
	"cmp"

	"github.com/memkernel/memkernel/replay"
)

// slidingKeep is how many tokens of messages sliding shows.
const slidingKeep = 64_000

// sliding shows the newest atoms within a number of tokens, decided anew for every
// call.
type sliding struct {
	replay.History
	keep int
}

func newSliding(rec *replay.Recording, keep int) replay.Chooser {
	return &sliding{History: replay.NewHistory(rec), keep: cmp.Or(keep, slidingKeep)}
}

func (p *sliding) Choose(req replay.Request) (c replay.Choice) {
	if from := p.Newest(req.End, min(p.keep, req.Room)); from > p.From {
		c.Cut = "slide"
		begin(&p.History, from)
	}
	c.Items = p.Items(req.End)
	return c
}
