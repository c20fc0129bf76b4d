package budget

// DefaultReserve returns the part of the window kept free for the answer: 20 %, at least 8,000
// and at most 40,000 tokens. For a window under 16,000 tokens it is half the window, so that room
// for a prompt remains.
func DefaultReserve(window int) int {
	return min(max(window/5, 8_000), 40_000, max(window, 0)/2)
}

// LargeResult returns the size above which a tool result counts as large when
// it first appears: 10 % of the window, at most 25,000 tokens.
func LargeResult(window int) int { return min(max(window, 0)/10, 25_000) }

// summaryCap returns the most a session summary may take of a budget, which is
// the window without its reserve: 12 %, at most 1,200 tokens.
func summaryCap(budget int) int { return min(max(budget, 0)*12/100, 1_200) }

// retrievalCap returns the most that retrieval may add for one user turn:
// 2,000 tokens, or the budget if that is less.
func retrievalCap(budget int) int { return min(max(budget, 0), 2_000) }

// lowWater returns the largest working set that a cut leaves: 55 % of the budget, and at most
// 30,000 tokens of conversation. Prices may require less.
func lowWater(budget int) int { return min(max(budget, 0)*55/100, 30_000) }
