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

// The parts of a checkpoint and of a state that the tests make.
type (
	Decision      = decision
	Exchange      = exchange
	Pointer       = pointer
	ResourceState = resourceState
	Resources     = resources
	Resumed       = resumed
	Status        = status
	Thread        = thread
	ThreadState   = threadState
	ToolCall      = toolCall
	Use           = use
	Working       = work
	Written       = written
)

const (
	Schema           = schema
	StatusIdle       = statusIdle
	StatusInProgress = statusInProgress
	StatusWaiting    = statusWaiting
)
