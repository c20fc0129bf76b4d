package replay

// The figures of a naive batch cut, in tokens of messages.
const (
	batchHigh = 80_000
	batchLow  = 30_000
)

// batch appends until the messages are over a high mark, and then drops the oldest atoms
// until they are below a low one.
type batch struct {
	history
	high, low int
}

func newBatch(rec *recording, high, low int) *batch {
	return &batch{newHistory(rec), orElse(high, batchHigh), orElse(low, batchLow)}
}

func (p *batch) choose(req request) (c choice) {
	if p.tokens(req.end) > min(p.high, req.room) {
		if from := p.newest(req.end, min(p.low, req.room)); from > p.from {
			c.cut = "batch"
			p.begin(from)
		}
	}
	c.items = p.items(req.end)
	return c
}
