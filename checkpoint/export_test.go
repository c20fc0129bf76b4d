package checkpoint

// The bounds and texts that the tests from outside the package judge by.
const (
	Advice       = advice
	Kept         = kept
	MaxDecisions = maxDecisions
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
	Meta          = metadata
	Name          = nameText
	Pointer       = pointer
	ResourceState = resourceState
	Resources     = resources
	Resumed       = resumed
	Status        = status
	Text          = freeText
	Thread        = thread
	ThreadState   = threadState
	Time          = utcTime
	ToolCall      = toolCall
	Use           = use
	Working       = work
	Written       = written
)

// Unmarshal reads a checkpoint's file.
var Unmarshal = unmarshal

const (
	FromProvider     = fromProvider
	Schema           = schema
	StatusIdle       = statusIdle
	StatusInProgress = statusInProgress
	StatusWaiting    = statusWaiting
)
