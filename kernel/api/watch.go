package api

import (
	"time"

	"github.com/memkernel/memkernel/retrieval"
)

// Op names a kind of work that a kernel reports to the Watch of its options.
type Op string

// The kinds of work.
const (
	OpPlan       Op = "plan"
	OpPeek       Op = "peek"
	OpTurn       Op = "observe_turn"
	OpToolResult Op = "observe_tool_result"
	OpCompact    Op = "compact"
	OpSearch     Op = "search"
	// OpRecall is the search for a plan. It is reported while the plan is being made.
	OpRecall   Op = "recall"
	OpRemember Op = "remember"
	OpForget   Op = "forget"
)

// Done is work that has ended. It holds the result that the caller also gets. A watcher must only
// read the result.
type Done struct {
	Op Op
	// Began and Took are measured by the system's clock, whatever the request's Now is.
	Began time.Time
	Took  time.Duration
	Err   error
	// Plan is the result of OpPlan and OpPeek.
	Plan *ContextPlan
	// Model is the model that the plan is for.
	Model string
	// Faults, Alerts and Hits count the use of pages in the plan. The thrash index is computed from
	// these counts.
	Faults, Alerts, Hits int
	// Recalled reports whether the plan added new memory.
	Recalled bool
	// Observation is the result of OpTurn and OpToolResult.
	Observation *Observation
	// Passed is the result of OpCompact.
	Passed *Passed
	// Found counts the results of OpSearch and OpRecall, and the entries that OpRemember wrote or
	// OpForget removed.
	Found int
	// Reason is the outcome of a search.
	Reason retrieval.Reason
}
