package kernel

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/report"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// record makes a plan durable in the order that a kill at any instant survives:
// blobs, then the journal line that names them, then the projection that shows
// them. What was captured is committed even if the last step fails.
func record(s *session.Session, ctx context.Context, pl *planned) error {
	if err := recordPlan(s, ctx, pl); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.Key, err)
	}
	return nil
}

func recordPlan(s *session.Session, ctx context.Context, pl *planned) error {
	key := branch.Key{Branch: pl.req.Branch, Model: pl.req.Model}
	cut := &branch.Cut{Branch: key.Branch, Model: key.Model, Spans: pl.NewSpans(), Texts: pl.Texts}
	wrote, err := s.CommitPages(ctx, pl.Out, cut, pl.req.Now)
	pl.stats.pages(wrote)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // what is begun is recorded
	if err := recordLife(s, ctx, pl); err != nil {
		return err
	}
	if err := commitCut(s, pl); err != nil {
		return err
	}
	pl.Next.Plan, pl.Next.Expected, pl.Next.Unsent = nextPlanID(s, pl), report.Expected(pl.Result), pl.demand
	learnForGood(s, pl)
	fixed := pl.Blocks[:len(pl.Blocks)-len(pl.Proj.Carry)-len(pl.Proj.Items)]
	diff := pl.Next.Diff(s.Branches.Of(key.Branch, key.Model), s.Account.Epoch, fixed, pl.Made.Cut != nil || pl.Renewed())
	st, err := s.CommitPlan(pl.Next, &diff, pl.demand, pl.req.Now) // a compaction was promised
	if err != nil {
		return err
	}
	pl.stats.log(st.Bytes)
	pl.stats.Syncs, pl.stats.SyncTime = pl.stats.Syncs+st.Syncs, pl.stats.SyncTime+st.SyncTime
	pl.stats.state(s.Life)
	writeTrace(s, pl, &diff)
	return nil
}

// journal adds what an append to the journal cost.
func (s *Stats) journal(st journal.Stats) {
	if s.JournalBytes == 0 && st.Bytes > 0 {
		s.Files++
	}
	s.JournalBytes += st.Bytes
	s.Syncs += st.Syncs
	s.SyncTime += st.SyncTime
}

// pages adds what the writing of pages cost.
func (s *Stats) pages(w session.Wrote) {
	s.add(Stats{Blobs: w.Blobs.Files, BlobBytes: w.Blobs.Bytes, Syncs: w.Blobs.Syncs, SyncTime: w.Blobs.SyncTime, Files: w.Blobs.Files})
	s.journal(w.Journal)
}

// add sums up two.
func (s *Stats) add(o Stats) {
	s.Ingested, s.Counted, s.Files, s.Syncs = s.Ingested+o.Ingested, s.Counted+o.Counted, s.Files+o.Files, s.Syncs+o.Syncs
	s.Blobs, s.BlobBytes, s.LiftedBytes = s.Blobs+o.Blobs, s.BlobBytes+o.BlobBytes, s.LiftedBytes+o.LiftedBytes
	s.JournalBytes, s.LogBytes, s.StateBytes = s.JournalBytes+o.JournalBytes, s.LogBytes+o.LogBytes, s.StateBytes+o.StateBytes
	s.SyncTime += o.SyncTime
}

// log adds an append to a file that is not synced.
func (s *Stats) log(bytes int64) {
	s.LogBytes += bytes
	s.Files++
}

// nextPlanID names a plan by what it planned, so that equal plans of equal states
// have equal names.
func nextPlanID(s *session.Session, pl *planned) string {
	return ids.Page("pl", s.Name, pl.req.Branch, pl.req.Model, pl.Prev.Plan, fmt.Sprint(pl.Proj.Generation, len(pl.Proj.Items)),
		pl.req.Now.UTC().Format(time.RFC3339Nano))
}

// commitCut makes the summary of what a cut lets go durable before the cut is: an
// eviction, or a downgrade if all messages stay.
func commitCut(s *session.Session, pl *planned) error {
	if pl.Made.Cut == nil || pl.Next.Summary.Offset.Messages <= s.Account.Observed[pl.req.Branch].Offset.Messages {
		return nil
	}
	point := journal.PointDowngrade
	if len(pl.NewSpans()) > 0 {
		point = journal.PointEviction
	}
	key := ids.Page("ct", s.Name, pl.req.Branch, fmt.Sprint(s.Account.Epoch), pl.Next.Summary.Offset.Key, pl.Made.Cut.Chain)
	r, err := s.CommitCut(key, point, pl.req.Branch, pl.Next.Summary, pl.req.Now)
	pl.stats.journal(r.Stats)
	return err
}
