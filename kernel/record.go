package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// opPlan is the only operation of projection.jsonl: what a plan changed.
const opPlan = "plan"

// planBody is the body of an opPlan record: the difference to the projection
// before. These records are appended without a sync. Losing one costs a cache
// miss, never data.
type planBody struct {
	Plan       string `json:"plan"`
	Branch     string `json:"branch,omitempty"`
	Model      string `json:"model"`
	Generation int    `json:"generation"`
	// Epoch is the session's, which rises at every reset.
	Epoch int `json:"epoch,omitempty"`
	// KeepSeen and KeepItems lead over from the record before; then come Seen and
	// Items. Carry and Fixed are nil where they stayed.
	KeepSeen  int                 `json:"keep_seen"`
	KeepItems int                 `json:"keep_items"`
	Seen      []pagevm.Seen       `json:"seen,omitempty"`
	Items     []pagevm.Item       `json:"items,omitempty"`
	Carry     []pagevm.Item       `json:"carry,omitempty"`
	NewCarry  bool                `json:"new_carry,omitempty"`
	Cuts      []pagevm.CutPoint   `json:"cuts,omitempty"`
	Spans     []Span              `json:"spans,omitempty"`
	Summary   *summary.State      `json:"summary,omitempty"`
	Fixed     []cachelayout.Block `json:"fixed"`
	Recall    *pagevm.Recall      `json:"recall,omitempty"`
	Private   bool                `json:"private,omitempty"`
	Level     int                 `json:"level,omitempty"`
	// Window is the one that was planned for, in tokens, Full the whole input,
	// calibrated.
	Window int `json:"window,omitempty"`
	Full   int `json:"full,omitempty"`
	// FlushAsked and FlushSeen are the line's.
	FlushAsked int `json:"flush_asked,omitempty"`
	FlushSeen  int `json:"flush_seen,omitempty"`
	// Call is nil where it stayed; Overflow, Breaker and Compacted are the line's.
	// Unsent: a compaction on demand, which is no request.
	Call      *callRecord   `json:"call,omitempty"`
	Overflow  overflowState `json:"overflow,omitzero"`
	Breaker   breaker       `json:"breaker,omitzero"`
	Compacted int           `json:"compacted,omitempty"`
	Unsent    bool          `json:"unsent,omitempty"`
	// Notes is the version of a model's notes that the carry block shows.
	Notes int `json:"notes,omitempty"`

	// Ledger is what the provider's cache is taken to hold.
	Ledger cachelayout.Record `json:"ledger"`
	TTL    time.Duration      `json:"ttl,omitempty"`
	// Pace is how the calls follow each other.
	Pace    cachelayout.Pace `json:"pace,omitzero"`
	Anchor  anchor           `json:"anchor,omitzero"`
	Planned int              `json:"planned"`
	Before  int              `json:"before"`
	// Expected is the bill that was planned.
	Expected *Expected `json:"expected,omitempty"`
	Ratio    float64   `json:"ratio"`
}

// record makes a plan durable in the order that a kill at any instant survives:
// blobs, then the journal line that names them, then the projection that shows
// them. What was captured is committed even if the last step fails.
func (s *session) record(w *work) error {
	if err := s.commitCapture(w); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	w.ctx = context.WithoutCancel(cmp.Or(w.ctx, context.Background())) // what is begun is recorded
	if err := s.recordLife(w); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	if err := s.commitCut(w); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	w.next.planID, w.next.expected, w.next.unsent = s.nextPlanID(w), w.expected(), w.demand != nil
	s.learnForGood(w)
	if err := s.openRecords(); err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	diff := planDiff(w)
	body, err := json.Marshal(diff)
	if err != nil {
		return fmt.Errorf("record plan of session %s: %w", s.key, err)
	}
	rec := journal.Record{Op: opPlan, ID: w.next.planID, Time: w.req.Now, Body: body}
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
	return pageID("pl", s.name, w.req.Branch, w.req.Model, w.prev.planID, fmt.Sprint(w.proj.Generation, len(w.proj.Items)),
		w.req.Now.UTC().Format(time.RFC3339Nano))
}

// commitCapture writes what the plan ingested, and the cut if it made one.
func (s *session) commitCapture(w *work) error {
	recs, err := s.captureRecords(w)
	if err != nil || len(recs) == 0 {
		return err
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	if len(w.capture.blobs) > 0 {
		unlock, err := lockBlobs(cmp.Or(w.ctx, context.Background()), s.root, store.Shared)
		if err != nil {
			return err
		}
		defer unlock()
	}
	batch := s.blobs.NewBatch()
	for _, b := range w.capture.blobs {
		batch.AddString(b)
	}
	st, err := batch.Commit(context.Background())
	if err != nil {
		return err
	}
	w.stats.Blobs, w.stats.BlobBytes, w.stats.Syncs, w.stats.SyncTime, w.stats.Files = st.Files, st.Bytes, st.Syncs, st.SyncTime, st.Files
	js, err := s.journal.Append(true, recs...)
	if err != nil {
		return err
	}
	w.stats.journal(js)
	s.keepPages(w.capture.pages)
	s.keepCut(&cutBody{Branch: w.req.Branch, Model: w.req.Model, Spans: w.newSpans(), Texts: w.texts})
	return nil
}

// commitCut makes the summary of what a cut lets go durable before the cut is: an
// eviction, or a downgrade if all messages stay.
func (s *session) commitCut(w *work) error {
	if w.decision.Cut == nil || w.next.summary.Offset.Messages <= s.observed[w.req.Branch].Offset.Messages {
		return nil
	}
	point := journal.PointDowngrade
	if len(w.newSpans()) > 0 {
		point = journal.PointEviction
	}
	key := pageID("ct", s.name, w.req.Branch, fmt.Sprint(s.account.epoch), w.next.summary.Offset.Key, w.decision.Cut.Chain)
	r, err := s.settle(journal.Transaction{Key: "cut:" + key, Time: w.req.Now, Point: point, By: journal.Principal{Name: "plan"}},
		journal.Update{}, w.req.Branch, w.next.summary, nil)
	w.stats.journal(r.Stats)
	return err
}

func (s *session) captureRecords(w *work) ([]journal.Record, error) {
	var recs []journal.Record
	if !w.capture.empty() {
		body, err := w.capture.appendJSON(nil)
		if err != nil {
			return nil, err
		}
		recs = append(recs, journal.Record{Op: opIngest, ID: hashText(string(body))[:24], Time: w.req.Now, Body: body})
	}
	if len(w.texts) > 0 {
		body, err := json.Marshal(cutBody{Branch: w.req.Branch, Model: w.req.Model, Spans: w.newSpans(), Texts: w.texts})
		if err != nil {
			return nil, err
		}
		recs = append(recs, journal.Record{Op: opCut, ID: hashText(string(body))[:24], Time: w.req.Now, Body: body})
	}
	return recs, nil
}

// newSpans are the spans that this plan added.
func (w *work) newSpans() []Span {
	if len(w.next.spans) <= len(w.prev.spans) {
		return nil
	}
	return w.next.spans[len(w.prev.spans):]
}

// planDiff is the difference between the line before and the one planned.
func planDiff(w *work) planBody {
	p, q := w.s.line(w.req.Branch, w.req.Model).proj, w.proj // what the record says so far
	b := planBody{Plan: w.next.planID, Branch: w.req.Branch, Model: w.req.Model, Generation: q.Generation, Epoch: w.s.account.epoch,
		Ledger: w.next.ledger.Record(), TTL: w.next.ttl, Pace: w.next.pace,
		Anchor: w.next.anchor, Planned: w.next.planned, Before: w.before, Ratio: w.ratio, Expected: w.next.expected,
		Fixed: w.blocks[:len(w.blocks)-len(q.Carry)-len(q.Items)]}
	for b.KeepSeen < len(p.Seen) && b.KeepSeen < len(q.Seen) && p.Seen[b.KeepSeen] == q.Seen[b.KeepSeen] {
		b.KeepSeen++
	}
	for b.KeepItems < len(p.Items) && b.KeepItems < len(q.Items) && p.Items[b.KeepItems] == q.Items[b.KeepItems] {
		b.KeepItems++
	}
	b.Seen, b.Items = q.Seen[b.KeepSeen:], q.Items[b.KeepItems:]
	if w.decision.Cut != nil || w.renewed() || len(p.Carry) != len(q.Carry) {
		b.NewCarry, b.Carry, b.Spans, b.Summary = true, q.Carry, w.next.spans, &w.next.summary
	}
	if p.Recall != q.Recall {
		b.Recall = &q.Recall
	}
	b.Private, b.Level, b.Window, b.Full = w.next.private, w.next.level, w.next.window, w.next.full
	b.FlushAsked, b.FlushSeen = w.next.flushAsked, w.next.flushSeen
	b.Overflow, b.Breaker, b.Compacted, b.Unsent = w.next.overflow, w.next.breaker, w.next.compacted, w.next.unsent
	b.Notes = w.next.notesShown
	if w.next.call.callRecord != w.s.line(b.Branch, b.Model).call.callRecord {
		b.Call = &w.next.call.callRecord
	}
	b.Cuts = q.Cuts[min(len(p.Cuts), len(q.Cuts)):]
	return b
}

// apply brings a line forward by one record. A record that does not fit the line
// (another process compacted the file, or one was lost) starts the line anew.
func (l *line) apply(session string, b *planBody) *line {
	n := *l
	p := *l.proj
	if b.KeepSeen > len(p.Seen) || b.KeepItems > len(p.Items) {
		return newLine(session, b.Branch, b.Model)
	}
	p.Generation = b.Generation
	p.Seen = append(p.Seen[:b.KeepSeen:b.KeepSeen], b.Seen...)
	p.Items = append(p.Items[:b.KeepItems:b.KeepItems], b.Items...)
	p.Cuts = append(p.Cuts[:len(p.Cuts):len(p.Cuts)], b.Cuts...)
	if b.NewCarry {
		p.Carry, n.spans = b.Carry, b.Spans
		if b.Summary != nil {
			n.summary = *b.Summary
		}
	}
	if b.Recall != nil {
		p.Recall = *b.Recall
	}
	n.private, n.level, n.window, n.full = b.Private, b.Level, b.Window, b.Full
	n.flushAsked, n.flushSeen = b.FlushAsked, b.FlushSeen
	n.overflow, n.breaker, n.compacted, n.unsent = b.Overflow, b.Breaker, b.Compacted, b.Unsent
	n.notesShown = b.Notes
	if b.Call != nil {
		n.call = call{callRecord: *b.Call}
	}
	n.proj, n.planID, n.planned, n.ttl, n.pace, n.anchor = &p, b.Plan, b.Planned, b.TTL, b.Pace, b.Anchor
	n.expected = b.Expected
	n.restored = b
	return &n
}

// restoreLedger makes the ledger of a line that was read from disk. If it cannot
// be made, nothing is known to be cached.
func (l *line) restoreLedger() {
	b := l.restored
	if b == nil {
		return
	}
	w := work{ratio: b.Ratio, spread: 1}
	l.ledger, _ = b.Ledger.Restore(append(b.Fixed[:len(b.Fixed):len(b.Fixed)], w.blockList(l.proj)...))
	l.restored = nil
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
		if _, err := store.PutAside(s.files, recordsFile); err != nil {
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
