package replay

// slidingKeep is how many tokens of messages sliding shows.
const slidingKeep = 64_000

// sliding shows the newest atoms within a number of tokens, decided anew for every
// call.
type sliding struct {
	history
	keep int
}

func newSliding(rec *recording, keep int) *sliding {
	return &sliding{history: newHistory(rec), keep: orElse(keep, slidingKeep)}
}

func (p *sliding) choose(req request) (c choice) {
	if from := p.newest(req.end, min(p.keep, req.room)); from > p.from {
		c.cut = "slide"
		p.begin(from)
	}
	c.items = p.items(req.end)
	return c
}
