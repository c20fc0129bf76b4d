package cachelayout

import "math"

// This file computes the average cost of a call in a long session, in units of the base input
// price. S is the number of fixed tokens, and L is the low-water mark. D is the batch, by which the
// prompt grows above L before it is cut. g is the growth per call, and w and r are the prices of
// writing and reading:
//
//	cost ≈ w·g + r·(L + L + D)/2 + w·(L − S)·g/D
//
// This is the formula of the economic order quantity: a cut is an order, and reading is the cost
// of holding stock.

// Cycle describes a session as a repeated cycle. The conversation grows from the size that a cut
// kept until the next rewrite, which is a cut at the mark or a cold cache. Sizes are tokens.
type Cycle struct {
	// Growth is the mean growth per call. Fixed is the size of tools and system prompt.
	Growth, Fixed float64
	// Room is the largest size of the conversation. 0 means no limit.
	Room float64
	// ColdRate is the chance that a call finds the cache cold.
	ColdRate float64
	Ratios   priceRatios
	// Economy is the user's preference.
	Economy Economy
}

// holdShare is the part of the read price that counts as a cost of a large batch. The other part
// pays for content that the next calls need, since they refer most to the conversation since the
// last cut. On thirteen recorded sessions a smaller batch with a higher low-water mark showed as
// much for the same money, but a larger batch breaks the cache less often.
const holdShare = 0.5

// Batch returns the number of tokens by which the conversation grows above low before it is cut:
// the batch D for which this file's formula with S = 0 gives the smallest cost, limited by the
// room.
func (c Cycle) Batch(low float64) float64 {
	batch := math.Inf(1) // without growth, or if reading is free, money is never a reason to cut
	if read := c.Ratios.Read * holdShare; read > 0 && c.Growth > 0 {
		rewrite := c.Ratios.Write * math.Max(0, low)
		batch = math.Sqrt(2 * c.Growth * rewrite / read)
	}
	if batch *= c.Economy.thrift().patience; math.IsNaN(batch) {
		batch = math.Inf(1) // nothing is kept, and nothing is a reason to cut
	}
	if c.Room > 0 {
		batch = math.Min(batch, math.Max(c.Room-low, 0))
	}
	return batch
}

// rewrites returns the average number of rewrites per call.
func (c Cycle) rewrites(low float64) float64 {
	batch := math.Max(c.Batch(low), math.Max(2*c.Growth, 1))
	return math.Min(1, math.Max(c.ColdRate, c.Growth/batch))
}

// Cost returns the average cost of a call if cuts keep low tokens of conversation. memory is the
// part of the cost for keeping these tokens: reading them at every call and writing them at every
// rewrite. Both results are in base input tokens.
func (c Cycle) Cost(low float64) (call, memory float64) {
	rate := c.rewrites(low)
	grown := math.Min(c.Batch(low), c.Growth/math.Max(rate, 1e-9))
	memory = low * (c.Ratios.Read + c.Ratios.Write*rate)
	call = c.Ratios.Write*c.Growth + c.Ratios.Read*(c.Fixed+grown/2) + memory
	return call, memory
}

// Miss returns the cost, in base input tokens, of a call in which the model fetches hidden
// content again: one more call over a prompt of common size, and the tokens that it adds.
func (c Cycle) Miss() float64 {
	return c.Ratios.Read*(c.Fixed+commonConversation) + c.Ratios.Write*priorGrowth
}

// widestRoom is the largest room by which Kept judges, the window of the largest models in use.
const widestRoom = 1_000_000

// Kept returns the size of the conversation that a cut is assumed to keep before the session has
// shown the conversation's worth.
func (c Cycle) Kept() int {
	t := c.Economy.thrift()
	room := math.Min(c.Room, widestRoom)
	least := t.least(int(c.Fixed + room))
	return max(least, int(math.Min(float64(least)*t.worth, workingSetShare*room)))
}

// LowWater returns the largest conversation, between floor and ceiling, that is worth the cost of
// keeping it. The chance that a call needs a token falls with the token's distance, so that the
// last of x tokens is worth missWeight·Miss/x per call. Keeping that token costs r per call and w
// per rewrite.
func (c Cycle) LowWater(floor, ceiling int) int {
	worth := missWeight * c.Miss() * c.Economy.thrift().worth
	lo, hi := floor, max(floor, ceiling)
	for lo < hi {
		mid := lo + (hi-lo+1)/2
		if _, memory := c.Cost(float64(mid)); memory <= worth {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
