package turn

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/report"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// record makes a plan durable in an order that survives a kill at any instant: first blobs, then
// the journal line that names the blobs, then the projection that shows them. Captured state is
// committed even if the last step fails.
func record(ctx context.Context, s *session.Session, pl *Planned) error {
	if err := recordPlan(ctx, s, pl); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.Key, err)
	}
	return nil
}

func recordPlan(ctx context.Context, s *session.Session, pl *Planned) error {
	key := branch.Key{Branch: pl.Request().Branch, Model: pl.Request().Model}
	cut := &branch.Cut{Branch: key.Branch, Model: key.Model, Spans: pl.NewSpans(), Texts: pl.Texts}
	wrote, err := s.CommitPages(ctx, pl.Out, cut, pl.Request().Now)
	addPages(&pl.Stats, wrote)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // a record that is begun is completed
	if err := recordLife(ctx, s, pl); err != nil {
		return err
	}
	if err := commitCut(s, pl); err != nil {
		return err
	}
	pl.Next.Plan, pl.Next.Expected, pl.Next.Unsent = nextPlanID(s, pl), report.Expected(pl.Result), pl.demand
	learnForGood(s, pl)
	fixed := pl.Blocks[:len(pl.Blocks)-len(pl.Proj.Carry)-len(pl.Proj.Items)]
	diff := pl.Next.Diff(s.Branches.Of(key.Branch, key.Model), s.Account.Epoch, fixed, pl.Made.Cut != nil || pl.Renewed())
	st, err := s.CommitPlan(pl.Next, &diff, pl.demand, pl.Request().Now) // a compaction was promised
	if err != nil {
		return err
	}
	addLog(&pl.Stats, st.Bytes)
	pl.Stats.Syncs, pl.Stats.SyncTime = pl.Stats.Syncs+st.Syncs, pl.Stats.SyncTime+st.SyncTime
	addState(&pl.Stats, s.Life)
	writeTrace(s, pl, &diff)
	return nil
}

// addJournal adds the cost of an append to the journal.
func addJournal(s *api.Stats, st store.Stats) {
	if s.JournalBytes == 0 && st.Bytes > 0 {
		s.Files++
	}
	s.JournalBytes += st.Bytes
	s.Syncs += st.Syncs
	s.SyncTime += st.SyncTime
}

// addPages adds the cost of writing pages.
func addPages(s *api.Stats, w session.Wrote) {
	addStats(s, api.Stats{Blobs: w.Blobs.Files, BlobBytes: w.Blobs.Bytes, Syncs: w.Blobs.Syncs, SyncTime: w.Blobs.SyncTime, Files: w.Blobs.Files})
	addJournal(s, w.Journal)
}

// add sums up two.
func addStats(s *api.Stats, o api.Stats) {
	s.Ingested, s.Counted, s.Files, s.Syncs = s.Ingested+o.Ingested, s.Counted+o.Counted, s.Files+o.Files, s.Syncs+o.Syncs
	s.Blobs, s.BlobBytes, s.LiftedBytes = s.Blobs+o.Blobs, s.BlobBytes+o.BlobBytes, s.LiftedBytes+o.LiftedBytes
	s.JournalBytes, s.LogBytes, s.StateBytes = s.JournalBytes+o.JournalBytes, s.LogBytes+o.LogBytes, s.StateBytes+o.StateBytes
	s.SyncTime += o.SyncTime
}

// log adds an append to a file that is not synced.
func addLog(s *api.Stats, bytes int64) {
	s.LogBytes += bytes
	s.Files++
}

// nextPlanID names a plan by its content, so that equal plans of equal states have equal names.
func nextPlanID(s *session.Session, pl *Planned) string {
	return ids.Page("pl", s.Name, pl.Request().Branch, pl.Request().Model, pl.Prev.Plan, fmt.Sprint(pl.Proj.Generation, len(pl.Proj.Items)),
		pl.Request().Now.UTC().Format(time.RFC3339Nano))
}

// commitCut makes the summary of the messages that a cut removes durable, before the cut itself
// is durable. The summary is recorded as an eviction, or as a downgrade if all messages stay.
func commitCut(s *session.Session, pl *Planned) error {
	if pl.Made.Cut == nil || pl.Next.Summary.Offset.Messages <= s.Account.Observed[pl.Request().Branch].Offset.Messages {
		return nil
	}
	point := journal.PointDowngrade
	if len(pl.NewSpans()) > 0 {
		point = journal.PointEviction
	}
	key := ids.Page("ct", s.Name, pl.Request().Branch, fmt.Sprint(s.Account.Epoch), pl.Next.Summary.Offset.Key, pl.Made.Cut.Chain)
	r, err := s.CommitCut(key, point, pl.Request().Branch, pl.Next.Summary, pl.Request().Now)
	addJournal(&pl.Stats, r.Stats)
	return err
}

// learnForGood keeps the model's window, trains its calibration on a refusal that named figures,
// and drops the record of a request that did not fit once a similar one fits.
func learnForGood(s *session.Session, pl *Planned) {
	refused := pl.Learned && pl.Refusal != nil && pl.Refusal.Input > 0 && pl.RefusedCount > 0
	window, from := pl.LearnedWindow()
	cal, err := s.Calibrations.Of(pl.Request().Model)
	if o := pl.Request().Overflow; err == nil && o != nil && budget.RefusesThinking(o.Text) {
		cal.Binding = string(cachelayout.BindingRefuses)
		err = s.Learn(pl.Request().Model, cal)
	}
	fits := cal.Unfit != nil && (cal.Unfit.Tools == 0 || len(pl.Request().Tools) > 0)
	if !refused && window == 0 && !fits {
		return
	}
	if fits {
		cal.Unfit = nil
	}
	if err == nil {
		counted := refused && cal.Observe(budget.Count{Tokens: pl.RefusedCount, Kind: budget.Estimated}, len(pl.Msgs), pl.RefusedActual)
		switch {
		case window > 0:
			cal.Window, cal.WindowFrom = window, string(from)
		case !counted && !fits:
			return
		}
		err = s.Learn(pl.Request().Model, cal)
	}
	if err != nil {
		pl.Faults = append(pl.Faults, fault.Fault{Code: fault.NotRecorded, Detail: err.Error()})
	}
}

// writeTrace records how a recorded plan was decided. If writing fails, the plan reports the
// failure, and the next line of the trace is complete by itself.
func writeTrace(s *session.Session, w *Planned, diff *branch.Record) {
	if s.Tracer == nil {
		return
	}
	n, err := s.Tracer.Write(tracedPlan(w, diff))
	if err != nil {
		w.Faults = append(w.Faults, fault.Fault{Code: fault.NotTraced, Detail: err.Error()})
		return
	}
	addLog(&w.Stats, int64(n))
}

// tracedPlan returns the trace's part of a plan.
func tracedPlan(pl *Planned, diff *branch.Record) *trace.Plan {
	return &trace.Plan{ID: pl.Next.Plan, Time: pl.Request().Now, Branch: pl.Request().Branch, Model: pl.Request().Model,
		On: pl.Prev.Plan, Before: pl.Prev.Proj, After: pl.Proj, KeepSeen: diff.KeepSeen, KeepItems: diff.KeepItems,
		Host: pl.Hosts, Places: pl.Places, Align: pl.Align, Trail: pl.Trail}
}
