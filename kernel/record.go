package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// opPlan is the only operation of projection.jsonl: what a plan changed.
const opPlan = "plan"

// record makes a plan durable in the order that a kill at any instant survives:
// blobs, then the journal line that names them, then the projection that shows
// them. What was captured is committed even if the last step fails.
func (s *session) record(w *work) error {
	if err := s.commitPages(cmp.Or(w.ctx, context.Background()), w.Out, &cutBody{Branch: w.req.Branch, Model: w.req.Model, Spans: w.newSpans(), Texts: w.texts}, w.req.Now, &w.stats); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	w.ctx = context.WithoutCancel(cmp.Or(w.ctx, context.Background())) // what is begun is recorded
	if err := s.recordLife(w); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	if err := s.commitCut(w); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	w.next.Plan, w.next.Expected, w.next.Unsent = s.nextPlanID(w), w.expected(), w.demand != nil
	s.learnForGood(w)
	if err := s.openRecords(); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	fixed := w.blocks[:len(w.blocks)-len(w.proj.Carry)-len(w.proj.Items)]
	diff := w.next.Diff(s.line(w.req.Branch, w.req.Model), s.account.epoch, fixed, w.decision.Cut != nil || w.renewed())
	body, err := json.Marshal(diff)
	if err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	rec := journal.Record{Op: opPlan, ID: w.next.Plan, Time: w.req.Now, Body: body}
	st, err := s.records.Append(w.demand != nil, rec) // a compaction was promised
	if err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	w.stats.log(st.Bytes)
	w.stats.Syncs, w.stats.SyncTime = w.stats.Syncs+st.Syncs, w.stats.SyncTime+st.SyncTime
	s.spend(&w.stats)
	s.lines[lineKey{w.req.Branch, w.req.Model}] = w.next
	delete(s.heard, lineKey{w.req.Branch, w.req.Model})
	s.trace(w, &diff)
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
func (s *session) nextPlanID(w *work) string {
	return ids.Page("pl", s.name, w.req.Branch, w.req.Model, w.prev.Plan, fmt.Sprint(w.proj.Generation, len(w.proj.Items)),
		w.req.Now.UTC().Format(time.RFC3339Nano))
}

// commitCut makes the summary of what a cut lets go durable before the cut is: an
// eviction, or a downgrade if all messages stay.
func (s *session) commitCut(w *work) error {
	if w.decision.Cut == nil || w.next.Summary.Offset.Messages <= s.observed[w.req.Branch].Offset.Messages {
		return nil
	}
	point := journal.PointDowngrade
	if len(w.newSpans()) > 0 {
		point = journal.PointEviction
	}
	key := ids.Page("ct", s.name, w.req.Branch, fmt.Sprint(s.account.epoch), w.next.Summary.Offset.Key, w.decision.Cut.Chain)
	r, err := s.settle(journal.Transaction{Key: "cut:" + key, Time: w.req.Now, Point: point, By: journal.Principal{Name: "plan"}},
		journal.Update{}, w.req.Branch, w.next.Summary, nil)
	w.stats.journal(r.Stats)
	return err
}

// newSpans are the spans that this plan added.
func (w *work) newSpans() []branch.Span {
	if len(w.next.Spans) <= len(w.prev.Spans) {
		return nil
	}
	return w.next.Spans[len(w.prev.Spans):]
}

func (s *session) openJournal() error {
	if s.journal == nil || s.journal.Len() == 0 {
		ignoreState(s.root)
	}
	if err := s.sign(); err != nil {
		return err
	}
	return s.openFile(&s.journal, journalFile)
}

// openRecords opens projection.jsonl for writing. A damaged one is put aside.
func (s *session) openRecords() error {
	if err := s.sign(); err != nil {
		return err
	}
	if s.lost != nil {
		if _, err := s.files.PutAside(recordsFile); err != nil {
			return err
		}
		s.lost = nil
	}
	return s.openFile(&s.records, recordsFile)
}

// openFile opens a journal for writing on first use.
func (s *session) openFile(j **journal.Journal, name string) error {
	if *j != nil {
		return nil
	}
	opened, err := journal.OpenJournalIn(s.files, name, &journal.Options{Derived: name == recordsFile})
	if err != nil {
		return err
	}
	*j = opened
	return nil
}
