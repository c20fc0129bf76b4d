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

// Done is work that has ended. It holds the caller's own result: a watcher must only read it.
type Done struct {
	Op Op
	// Began and Took are measured by the system's clock, whatever the request's Now is.
	Began time.Time
	Took  time.Duration
	Err   error
	// Plan is that of OpPlan and OpPeek. Model is the model that it is for. Paging counts the
	// conversation's use of pages in it. Recalled reports whether it added new memory.
	Plan     *api.ContextPlan
	Model    string
	Paging   Paging
	Recalled bool
	// Observation is that of OpTurn and OpToolResult.
	Observation *api.Observation
	// Passed is that of OpCompact.
	Passed *api.Passed
	// Found counts the results of OpSearch and OpRecall, and the entries that OpRemember wrote or
	// OpForget took out. Reason is how a search ended.
	Found  int
	Reason retrieval.Reason
}

// Paging counts the use of pages in one plan: explicit faults, alerts and hits, of which the
// thrash index is made.
type Paging struct{ Faults, Alerts, Hits int }

// watcher receives reports of work; a nil one ignores them.
type watcher func(context.Context, *Done)

// begin starts the report of some work. It returns nil if there is no watcher.
func (w watcher) begin(op Op) *Done {
	if w == nil {
		return nil
	}
	return &Done{Op: op, Began: time.Now()}
}

// end reports ended work; fill adds its result, if it did not fail.
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

// pagingOf returns the counts that a plan adds to those of its conversation.
func pagingOf(pl *turn.Planned) Paging {
	now, before := pl.Next.Paging.Report(), pl.Prev.Paging.Report()
	return Paging{Faults: now.ExplicitFaults - before.ExplicitFaults, Alerts: now.Alerts - before.Alerts, Hits: now.Hits - before.Hits}
}

// IndexStatus reads the size of the index, and how far it is older than the files. It compares
// their stats, opens none of them and changes nothing.
func (k *Kernel) IndexStatus(ctx context.Context) api.IndexStatus { return k.inspect.IndexStatus(ctx) }
