package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// opPlan is the only operation of projection.jsonl: what a plan changed.
const opPlan = "plan"

// record makes a plan durable in the order that a kill at any instant survives:
// blobs, then the journal line that names them, then the projection that shows
// them. What was captured is committed even if the last step fails.
func (s *session) record(ctx context.Context, pl *planned) error {
	if err := s.recordPlan(ctx, pl); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	return nil
}

func (s *session) recordPlan(ctx context.Context, pl *planned) error {
	key := lineKey{pl.req.Branch, pl.req.Model}
	cut := &branch.Cut{Branch: key.branch, Model: key.model, Spans: pl.NewSpans(), Texts: pl.Texts}
	if err := s.commitPages(ctx, pl.Out, cut, pl.req.Now, &pl.stats); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // what is begun is recorded
	if err := s.recordLife(ctx, pl); err != nil {
		return err
	}
	if err := s.commitCut(pl); err != nil {
		return err
	}
	pl.Next.Plan, pl.Next.Expected, pl.Next.Unsent = s.nextPlanID(pl), pl.expected(), pl.demand
	s.learnForGood(pl)
	if err := s.openRecords(); err != nil {
		return err
	}
	fixed := pl.Blocks[:len(pl.Blocks)-len(pl.Proj.Carry)-len(pl.Proj.Items)]
	diff := pl.Next.Diff(s.line(key.branch, key.model), s.account.epoch, fixed, pl.Made.Cut != nil || pl.Renewed())
	body, err := json.Marshal(diff)
	if err != nil {
		return err
	}
	rec := journal.Record{Op: opPlan, ID: pl.Next.Plan, Time: pl.req.Now, Body: body}
	st, err := s.records.Append(pl.demand, rec) // a compaction was promised
	if err != nil {
		return err
	}
	pl.stats.log(st.Bytes)
	pl.stats.Syncs, pl.stats.SyncTime = pl.stats.Syncs+st.Syncs, pl.stats.SyncTime+st.SyncTime
	pl.stats.state(s.life)
	s.lines[key] = pl.Next
	delete(s.heard, key)
	s.trace(pl, &diff)
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
func (s *session) nextPlanID(pl *planned) string {
	return ids.Page("pl", s.name, pl.req.Branch, pl.req.Model, pl.Prev.Plan, fmt.Sprint(pl.Proj.Generation, len(pl.Proj.Items)),
		pl.req.Now.UTC().Format(time.RFC3339Nano))
}

// commitCut makes the summary of what a cut lets go durable before the cut is: an
// eviction, or a downgrade if all messages stay.
func (s *session) commitCut(pl *planned) error {
	if pl.Made.Cut == nil || pl.Next.Summary.Offset.Messages <= s.account.observed[pl.req.Branch].Offset.Messages {
		return nil
	}
	point := journal.PointDowngrade
	if len(pl.NewSpans()) > 0 {
		point = journal.PointEviction
	}
	key := ids.Page("ct", s.name, pl.req.Branch, fmt.Sprint(s.account.epoch), pl.Next.Summary.Offset.Key, pl.Made.Cut.Chain)
	r, err := s.settle(journal.Transaction{Key: "cut:" + key, Time: pl.req.Now, Point: point, By: journal.Principal{Name: "plan"}},
		journal.Update{}, pl.req.Branch, pl.Next.Summary, nil)
	pl.stats.journal(r.Stats)
	return err
}

func (s *session) openJournal() error {
	if s.journal == nil || s.journal.Len() == 0 {
		ignoreState(s.root)
	}
	if err := s.owner.Sign(s.files, s.key); err != nil {
		return err
	}
	return openFile(&s.journal, s.files, folder.JournalFile)
}

// openRecords opens projection.jsonl for writing. A damaged one is put aside.
func (s *session) openRecords() error {
	if err := s.owner.Sign(s.files, s.key); err != nil {
		return err
	}
	if s.lost != nil {
		if _, err := store.PutAside(s.files, folder.RecordsFile); err != nil {
			return err
		}
		s.lost = nil
	}
	return openFile(&s.records, s.files, folder.RecordsFile)
}

// openFile opens a journal for writing on first use.
func openFile(j **journal.Journal, in store.Store, name string) error {
	if *j != nil {
		return nil
	}
	opened, err := journal.OpenJournalIn(in, name, &journal.Options{Derived: name == folder.RecordsFile})
	if err != nil {
		return err
	}
	*j = opened
	return nil
}
