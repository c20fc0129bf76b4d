package checkpoint

// The bounds and texts that the tests from outside the package judge by.
const (
	Advice       = advice
	Kept         = kept
	MaxExchanges = maxExchanges
	MaxFiles     = maxFiles
	MaxLearnings = maxLearnings
	MaxOpenItems = maxOpenItems
	MaxTools     = maxTools
)
