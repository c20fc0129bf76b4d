package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/retrieval"
)

// Op names work of a kernel that [Options.Watch] receives.
type Op string

// The work that a watcher receives.
const (
	OpPlan       Op = "plan"
	OpPeek       Op = "peek"
	OpTurn       Op = "observe_turn"
	OpToolResult Op = "observe_tool_result"
	OpCompact    Op = "compact"
	OpSearch     Op = "search"
	// OpRecall is the search that a plan makes, while it is made.
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
	Plan *api.ContextPlan
	// Model is the model that the plan is for.
	Model string
	// Paging counts the conversation's use of pages in the plan.
	Paging Paging
	// Recalled reports whether the plan added new memory.
	Recalled bool
	// Observation is the result of OpTurn and OpToolResult.
	Observation *api.Observation
	// Passed is the result of OpCompact.
	Passed *api.Passed
	// Found counts the results of OpSearch and OpRecall, and the entries that OpRemember wrote or
	// OpForget removed.
	Found int
	// Reason is the outcome of a search.
	Reason retrieval.Reason
}

// Paging counts the use of pages in one plan: explicit faults, alerts and hits. The thrash index
// is computed from these counts.
type Paging struct{ Faults, Alerts, Hits int }

// watcher receives reports of work. A nil watcher ignores them.
type watcher func(context.Context, *Done)

// begin starts the report of some work. It returns nil if there is no watcher.
func (w watcher) begin(op Op) *Done {
	if w == nil {
		return nil
	}
	return &Done{Op: op, Began: time.Now()}
}

// end reports ended work. If the work did not fail, fill adds the result to the report.
func (w watcher) end(ctx context.Context, d *Done, err error, fill func(*Done)) {
	if d == nil {
		return
	}
	d.Took, d.Err = time.Since(d.Began), err
	if err == nil {
		fill(d)
	}
	w(ctx, d)
}

// recalled reports the searches that plans make.
func (w watcher) recalled(ctx context.Context, began time.Time, r *retrieval.Result) {
	w(ctx, &Done{Op: OpRecall, Began: began, Took: time.Since(began), Found: len(r.Hits), Reason: r.Reason})
}

// pagingOf returns the counts that a plan adds to the counts of its conversation.
func pagingOf(pl *turn.Planned) Paging {
	now, before := pl.Next.Paging.Report(), pl.Prev.Paging.Report()
	return Paging{Faults: now.ExplicitFaults - before.ExplicitFaults, Alerts: now.Alerts - before.Alerts, Hits: now.Hits - before.Hits}
}

// IndexStatus reads the size of the index, and how far the index is older than the files. It
// compares the stats of the files, opens no file and changes nothing.
func (k *Kernel) IndexStatus(ctx context.Context) api.IndexStatus { return k.inspect.IndexStatus(ctx) }
