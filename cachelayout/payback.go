package cachelayout

import (
	"math"
	"time"
)

// priceRatios are prices in units of the base input price. Write is the price of a cache write, and
// Read is the price of a cache read. If writing is not charged extra, Write is 1. Without a cache
// both are 1.
type priceRatios struct {
	Write, Read float64
	// Assumed reports whether the model is unpriced. Money is never computed from assumed ratios.
	Assumed bool
}

// Ratios returns the model's ratios for a prompt of the given size, whose messages are written
// with the given lifetime. An unpriced model of a provider with a cache gets the commonest ratios,
// 1.25 and 0.1. Any other unpriced model is taken for a local one, whose cost is the time to
// process tokens that the server has not kept: a new token counts 1, a kept one 0. Reading is then
// never a reason to cut.
func (m Model) Ratios(tokens int, ttl time.Duration) priceRatios {
	if m.Cache == CacheNone || m.Cache == "" {
		if !m.Priced() {
			return priceRatios{Write: 1, Assumed: true}
		}
		return priceRatios{Write: 1, Read: 1}
	}
	t := m.TierFor(tokens)
	if t.Input == nil || *t.Input <= 0 || t.Read == nil {
		return priceRatios{Write: 1.25, Read: 0.1, Assumed: true}
	}
	r := priceRatios{Write: 1, Read: *t.Read / *t.Input}
	write := t.Write5m
	if m.longLived(ttl) {
		write = t.Write1h
	}
	switch {
	case write != nil:
		r.Write = *write / *t.Input
	case m.Cache.marked():
		r.Write, r.Assumed = 1.25, true
	}
	return r
}

// breakEven returns the number of further calls after which a cut that removes saved tokens, and
// causes the rewritten tokens after it to be written again, has paid for itself. w and r are the
// ratios of writing and reading:
//
//	n* = (w − r)·rewritten / (r·saved)
//
// For a cut that saves nothing it returns +Inf.
func breakEven(saved, rewritten int, ratios priceRatios) float64 {
	cost := math.Max(0, (ratios.Write-ratios.Read)*float64(max(rewritten, 0)))
	if saved <= 0 || ratios.Read <= 0 {
		if saved > 0 && cost == 0 {
			return 0
		}
		return math.Inf(1)
	}
	return cost / (ratios.Read * float64(saved))
}

// The bounds of ExpectedTurns, in model calls.
const (
	minExpectedTurns = 10
	maxExpectedTurns = 200
)

// ExpectedTurns returns how many model calls a session is expected to make from now on. It is the
// number of calls so far, which is the median of the remaining calls for a long-tailed
// distribution. It is at least 10, since a session that just began usually continues, and at most
// 200, since a longer forecast is worthless.
func ExpectedTurns(turnsSoFar int) float64 {
	return float64(min(max(turnsSoFar, minExpectedTurns), maxExpectedTurns))
}
