package replay

import (
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay/recall"
)

// restorer prices the pages that a prompt lacked, as if the model had fetched them. The page is
// written after the newest message. Every later call reads the page until the next cut removes
// it. A cold call writes the page again. Each round of fetching costs one more call, which reads
// the prompt once more. Pages that the prompt points to and pages that it has lost have the same
// price and separate sums.
type restorer struct {
	rec *Recording
	// fetched holds the pages fetched since the last cut. The value reports whether a pointer led
	// to the page.
	fetched map[recall.Place]bool
}

func newRestorer(rec *Recording) *restorer {
	return &restorer{rec: rec, fetched: map[recall.Place]bool{}}
}

// call adds the price of one call's needs.
func (r *restorer) call(c *Call, needs []recall.Need, m cachelayout.Model) {
	if c.Cut != "" {
		clear(r.fetched)
	}
	tier := m.TierFor(c.Input)
	write := writePrice(m, tier, r.rec.Opt.TTL)
	on := tier.Read
	if c.Cold {
		on = write
	}
	var pointer, lost bill
	var behind, gone int // tokens, whose sum is the same in any order
	for at, byPointer := range r.fetched {
		*pick(byPointer, &behind, &gone) += r.rec.size(at)
	}
	pointer.add(behind, on)
	lost.add(gone, on)
	fetched := 0
	for _, n := range needs {
		if _, ok := r.fetched[n.Place]; ok {
			continue
		}
		r.fetched[n.Place] = n.Behind
		pick(n.Behind, &pointer, &lost).add(r.rec.size(n.Place), write)
		c.Resolutions += count(n.Behind)
		c.Lost += count(!n.Behind)
		fetched++
	}
	if fetched > 0 { // one round fetches them all
		pick(c.Resolutions > 0, &pointer, &lost).add(c.Input, tier.Read)
	}
	c.ResolutionsUSD, c.LostUSD = pointer.usd(), lost.usd()
}

func pick[T any](first bool, a, b *T) *T {
	if first {
		return a
	}
	return b
}

// bill sums tokens at prices in dollars per million. One unknown price makes the sum unknown.
type bill struct {
	tokens  float64 // times dollars per million
	unknown bool
}

func (b *bill) add(tokens int, price *float64) {
	switch {
	case tokens == 0:
	case price == nil:
		b.unknown = true
	default:
		b.tokens += float64(tokens) * *price
	}
}

func (b *bill) usd() *float64 {
	if b.unknown {
		return nil
	}
	v := b.tokens / 1e6
	return &v
}

// writePrice returns the price of a new token that is written for ttl. It is the input price if
// writing has no price of its own.
func writePrice(m cachelayout.Model, t cachelayout.Tier, ttl time.Duration) *float64 {
	long := len(m.TTLs) > 1 && m.TTL(ttl) >= m.TTLs[1]
	switch {
	case long && t.Write1h != nil:
		return t.Write1h
	case !long && t.Write5m != nil:
		return t.Write5m
	case m.Cache == cachelayout.CacheAnthropic || m.Cache == cachelayout.CacheOpenAIExplicit:
		return nil
	}
	return t.Input
}
