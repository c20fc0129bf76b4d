package cachelayout

import "math"

// The cost of a long session in units of the base input price, with S fixed
// tokens, L the low-water mark, D the batch that grows on top of it, g tokens
// of growth per call, w and r the price ratios and K the extra cost of a cut:
//
//	per call ≈ w·g + r·(L + L + D)/2 + (w·(L − S) + K)·g/D
//
// It is the economic order quantity: ordering is the cut, holding is reading.

// optimalBatch returns the batch D* that makes the cost above smallest, and the
// high-water mark L + D*, both in tokens. Nothing to grow or free reading gives
// an infinite batch: never cut for money alone.
func optimalBatch(growth, fixed, low float64, ratios Ratios, extra float64) (batch, high float64) {
	rewrite := ratios.Write*math.Max(0, low-fixed) + math.Max(0, extra)
	if ratios.Read <= 0 || growth <= 0 {
		return math.Inf(1), math.Inf(1)
	}
	batch = math.Sqrt(2 * growth * rewrite / ratios.Read)
	return batch, low + batch
}

// Cycle is a session seen as a cycle: it grows from the size that a cut kept until the next
// rewrite, which is a cut at the mark or a cold cache, whichever is sooner. Sizes are tokens.
type Cycle struct {
	// Growth is the mean growth per call. Fixed is the size of tools and system prompt.
	Growth, Fixed float64
	// Room is the most that conversation can grow to; 0 is no limit.
	Room float64
	// ColdRate is the chance that a call finds the cache cold.
	ColdRate float64
	Ratios   Ratios
	// Extra is the extra cost of a cut in base input tokens.
	Extra float64
	// Economy is the user's preference.
	Economy Economy
}

// holdShare is the part of the read price that counts against the size of a batch. Reading it is
// not all loss: the next calls refer most to the conversation since the last cut. On thirteen
// recorded sessions a smaller batch with a higher low-water mark showed as much for the same
// money; the larger one breaks the cache less often.
const holdShare = 0.5

// Batch returns how far conversation grows above low before it is cut: the
// optimum by price, kept below the room there is.
func (c Cycle) Batch(low float64) float64 {
	ratios := c.Ratios
	ratios.Read *= holdShare
	batch, _ := optimalBatch(c.Growth, 0, low, ratios, c.Extra)
	if batch *= c.Economy.thrift().patience; math.IsNaN(batch) {
		batch = math.Inf(1) // nothing is kept, and nothing is a reason to cut
	}
	if c.Room > 0 {
		batch = math.Min(batch, math.Max(c.Room-low, 0))
	}
	return batch
}

// rewrites returns how many rewrites a call makes on average.
func (c Cycle) rewrites(low float64) float64 {
	batch := math.Max(c.Batch(low), math.Max(2*c.Growth, 1))
	return math.Min(1, math.Max(c.ColdRate, c.Growth/batch))
}

// Cost returns the average cost of a call if cuts keep low tokens of conversation. Memory returns
// the part of it for keeping them: reading them at every call and writing them at every rewrite.
// Both are in base input tokens.
func (c Cycle) Cost(low float64) (call, memory float64) {
	rate := c.rewrites(low)
	grown := math.Min(c.Batch(low), c.Growth/math.Max(rate, 1e-9))
	memory = low * (c.Ratios.Read + c.Ratios.Write*rate)
	call = c.Ratios.Write*c.Growth + c.Ratios.Read*(c.Fixed+grown/2) + c.Extra*rate + memory
	return call, memory
}

// Miss returns the cost, in base input tokens, of a call in which the model fetches hidden
// content again: one more call over a prompt of common size, and the tokens that it adds.
func (c Cycle) Miss() float64 {
	return c.Ratios.Read*(c.Fixed+commonConversation) + c.Ratios.Write*priorGrowth
}

// Kept is the conversation that a cut is taken to keep before the session has shown its worth.
func (c Cycle) Kept() int {
	t := c.Economy.thrift()
	return max(t.floor, int(math.Min(float64(t.floor)*t.worth, workingSetShare*c.Room)))
}

// LowWater returns the most conversation, between floor and ceiling, that is worth
// its keep. The chance that a call needs something falls with its distance, so that
// the last of x tokens is worth MissWeight·Miss/x a call; it costs r + w per
// rewrite.
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
