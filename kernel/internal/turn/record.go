package turn

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// record makes a plan durable in an order that survives a kill at any instant: first blobs, then
// the journal line that names the blobs, then the projection that shows them. Captured state is
// committed even if the last step fails.
func record(ctx context.Context, s *session.Session, pl *Planned) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("record plan of session %s: %w", s.Key, err)
		}
	}()
	key := branch.Key{Branch: pl.Request.Branch, Model: pl.Request.Model}
	cut := &branch.Cut{Branch: key.Branch, Model: key.Model, Spans: pl.NewSpans(), Texts: pl.Chosen.Texts}
	if err := s.CommitPages(ctx, pl.Maker.Out, cut, pl.Request.Now); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)                 // once begun, the record is completed
	faults, err := s.Life.BeforePlan(ctx, pl.Result) // the checkpoint
	pl.Faults = append(pl.Faults, faults...)
	if err != nil {
		return err
	}
	if err := commitCut(s, pl); err != nil {
		return err
	}
	// Equal plans of equal states have equal names.
	pl.Next.Plan = ingest.PageID("pl", s.Name, key.Branch, key.Model, pl.Prev.Plan, fmt.Sprint(pl.Proj.Generation, len(pl.Proj.Items)), pl.Request.Now.UTC().Format(time.RFC3339Nano))
	pl.Next.Expected, pl.Next.Unsent = pl.Result.Expected(), pl.Request.Demand != nil
	learnForGood(s, pl)
	fixed := pl.Blocks[:len(pl.Blocks)-len(pl.Proj.Carry)-len(pl.Proj.Items)]
	diff := pl.Next.Diff(s.Branches.Of(key.Branch, key.Model), s.Account.Epoch, fixed, pl.Made.Cut != nil || pl.Renewed())
	if err := s.CommitPlan(pl.Next, &diff, pl.Next.Unsent, pl.Request.Now); err != nil { // a compaction was promised
		return err
	}
	writeTrace(s, pl)
	return nil
}

// commitCut makes the summary of the messages that a cut removes durable, before the cut itself
// is durable. The summary is recorded as an eviction, or as a downgrade if all messages stay.
func commitCut(s *session.Session, pl *Planned) error {
	if pl.Made.Cut == nil || pl.Next.Summary.Offset.Messages <= s.Account.Observed[pl.Request.Branch].Offset.Messages {
		return nil
	}
	point := journal.PointDowngrade
	if len(pl.NewSpans()) > 0 {
		point = journal.PointEviction
	}
	key := ingest.PageID("ct", s.Name, pl.Request.Branch, fmt.Sprint(s.Account.Epoch), pl.Next.Summary.Offset.Key, pl.Made.Cut.Chain)
	return s.CommitCut(key, point, pl.Request.Branch, pl.Next.Summary, pl.Request.Now)
}

// learnForGood stores what a plan learned about its model: the window, a refused size for the
// calibration, and that thinking was refused. It removes the record of a request that did not fit
// once a similar request fits.
func learnForGood(s *session.Session, pl *Planned) {
	refused := pl.Refusal.Refused && pl.Refusal.Figures.Input > 0 && pl.Refusal.Count > 0
	window, from := pl.LearnedWindow()
	unwritten := s.Learn(pl.Request.Model, func(cal *budget.Calibration) (learned bool) {
		if o := pl.Request.Overflow; o != nil && budget.RefusesThinking(o.Text) {
			cal.Binding, learned = string(cachelayout.BindingRefuses), true
		}
		if cal.Unfit != nil && (cal.Unfit.Tools == 0 || len(pl.Request.Tools) > 0) {
			cal.Unfit, learned = nil, true
		}
		if refused && cal.Observe(budget.Count{Tokens: pl.Refusal.Count, Kind: budget.Estimated}, len(pl.Msgs), pl.Refusal.Actual) {
			learned = true
		}
		if window > 0 {
			cal.Window, cal.WindowFrom, learned = window, string(from), true
		}
		return learned
	})
	pl.Faults = append(pl.Faults, fault.Of(fault.NotRecorded, unwritten)...)
}

// writeTrace records the decisions of a recorded plan. If writing fails, the plan reports the
// failure, and the next line of the trace is complete by itself.
func writeTrace(s *session.Session, w *Planned) {
	if s.Tracer == nil {
		return
	}
	n, err := s.Tracer.Write(&trace.Plan{ID: w.Next.Plan, Time: w.Request.Now, Branch: w.Request.Branch, Model: w.Request.Model,
		Before: w.Prev.Proj, After: w.Proj,
		Host: w.Hosts, Places: w.Places, Align: w.Align, Trail: w.Trail})
	if err != nil {
		w.Faults = append(w.Faults, fault.Fault{Code: "not_traced", Detail: err.Error()})
		return
	}
	s.SpendLog(int64(n))
}
