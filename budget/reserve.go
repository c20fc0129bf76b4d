package budget

// OpenClaw's own figures for a host that wants them, in tokens: the part of the
// window kept free for the answer, and the distance to it at which a flush
// begins.
const (
	OpenClawReserve       = 20_000
	OpenClawSoftThreshold = 4_000
)

// DefaultReserve is the part of the window kept free for the answer: 20 %, at
// least 8,000 and at most 40,000 tokens. Of a window under 16,000 it is half,
// since a reserve that leaves nothing plans nothing.
func DefaultReserve(window int) int {
	return min(max(window/5, 8_000), 40_000, max(window, 0)/2)
}

// SoftThreshold is the distance to the reserve at which memory is flushed: 5 %
// of the window, at most 10,000 tokens.
func SoftThreshold(window int) int { return min(max(window, 0)/20, 10_000) }

// LargeResult is the size above which a tool result counts as large when it
// first appears: 10 % of the window, at most 25,000 tokens.
func LargeResult(window int) int { return min(max(window, 0)/10, 25_000) }

// SummaryCap is the most a session summary may take of a budget, which is the
// window without its reserve: 12 %, at most 1,200 tokens.
func SummaryCap(budget int) int { return min(max(budget, 0)*12/100, 1_200) }

// RetrievalCap is the most that retrieval may add for one user turn: 2,000
// tokens, or the budget if that is less.
func RetrievalCap(budget int) int { return min(max(budget, 0), 2_000) }

// LowWater is what a cut leaves of the working set at most: 55 % of the budget,
// and no more than 30,000 tokens of conversation. Prices may ask for less.
func LowWater(budget int) int { return min(max(budget, 0)*55/100, 30_000) }

// Growth is how much recent calls added to the prompt, in tokens.
type Growth struct {
	// Largest and Median are over the last ten calls; 0 if there were none.
	Largest, Median int
}

// HighWater is the size of a prompt at which it is cut: below the ceiling, which
// is the lower of window − reserve and a price cliff (0 if there is none), by the
// largest recent growth, so that the call after the last uncut one still fits.
// The mark stays two median growths above lowWater, the size after a cut, lest
// cuts follow each other, but never above the ceiling.
func HighWater(window, reserve, cliff, lowWater int, g Growth) int {
	ceiling := max(window-reserve, 0)
	if cliff > 0 {
		ceiling = min(ceiling, cliff)
	}
	return min(max(ceiling-g.Largest, lowWater+2*g.Median, 0), ceiling)
}
