package cachelayout

import "math"

// The cost of a long session in units of the base input price, with S fixed
// tokens, L the low-water mark, D the batch that grows on top of it, g tokens
// of growth per call, w and r the price ratios and K the extra cost of a cut:
//
//	per call ≈ w·g + r·(L + L + D)/2 + (w·(L − S) + K)·g/D
//
// It is the economic order quantity: ordering is the cut, holding is reading.

// OptimalBatch is the batch D* that makes the cost above smallest, and the
// high-water mark L + D*, both in tokens. Nothing to grow or free reading gives
// an infinite batch: never cut for money alone.
func OptimalBatch(growth, fixed, low float64, ratios Ratios, extra float64) (batch, high float64) {
	rewrite := ratios.Write*math.Max(0, low-fixed) + math.Max(0, extra)
	if ratios.Read <= 0 || growth <= 0 {
		return math.Inf(1), math.Inf(1)
	}
	batch = math.Sqrt(2 * growth * rewrite / ratios.Read)
	return batch, low + batch
}

// BatchCost is the cost per call of growing from low by batch tokens and then
// cutting, in units of the base input price.
func BatchCost(growth, fixed, low, batch float64, ratios Ratios, extra float64) float64 {
	if batch <= 0 {
		return math.Inf(1)
	}
	cut := ratios.Write*math.Max(0, low-fixed) + extra
	return ratios.Write*growth + ratios.Read*(low+batch/2) + cut*growth/batch
}

// OptimalLowWater is the low-water mark for a given ceiling when a kept token
// is worth value per call (in units of the base input price), for example the
// chance that it would be fetched again times what that costs. It lies between
// floor and two growths below the ceiling; if keeping is worth less than
// reading costs, it is the floor.
func OptimalLowWater(ceiling, growth, fixed, floor, value float64, ratios Ratios, extra float64) float64 {
	if value <= ratios.Read {
		return floor
	}
	spread := 2 * growth * (ratios.Write*math.Max(0, ceiling-fixed) + extra) / (value - ratios.Read)
	low := ceiling - math.Sqrt(math.Max(0, spread))
	return math.Max(floor, math.Min(low, ceiling-2*growth))
}
