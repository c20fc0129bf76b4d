package budget

// Reserve returns the part of a window kept free for the answer. It is one and a half times the
// longest answer of the session. It is at least an eighth of the window, up to 8,000 tokens, and at
// most a fifth of the window, up to 40,000 tokens. Before the first answer longest is 0, and the
// reserve is the maximum. If limit is not 0, answers have at most limit tokens, and the reserve is
// no larger. The shares are our choice.
func Reserve(window, longest, limit int) int {
	window = max(window, 0)
	n := min(window/5, 40_000)
	if longest > 0 {
		n = min(n, max(longest+longest/2, min(window/8, 8_000)))
	}
	if limit > 0 {
		n = min(n, limit)
	}
	return n
}

// LargeResult returns the size above which a tool result counts as large when
// it first appears: 10 % of the window, at most 25,000 tokens.
func LargeResult(window int) int { return min(max(window, 0)/10, 25_000) }
