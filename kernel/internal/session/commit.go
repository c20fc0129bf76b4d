package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// opPlan is the only operation of projection.jsonl: the changes of a plan.
const opPlan = "plan"

// Wrote is the cost of writing pages.
type Wrote struct {
	Blobs   store.Stats
	Journal store.Stats
}

// CommitPages writes new pages, their contents, and the blocks that replace the messages a cut
// removed.
func (s *Session) CommitPages(ctx context.Context, pages *ingest.Pages, cut *branch.Cut, now time.Time) (w Wrote, err error) {
	if s.unlocked != nil {
		return w, s.unlocked
	}
	recs, err := captureRecords(pages, cut, now)
	if err != nil {
		return w, err
	}
	if len(recs) == 0 { // all shown pages are already written
		return w, s.Stands()
	}
	if err := s.openJournal(); err != nil {
		return w, err
	}
	batch := s.Blobs.NewBatch()
	for _, b := range pages.Blobs {
		batch.AddString(b)
	}
	if w.Blobs, err = s.unit.PutBlobs(ctx, batch); err != nil {
		return w, err
	}
	if w.Journal, err = s.Journal.Append(true, recs...); err != nil {
		return w, err
	}
	s.keepPages(pages.New)
	s.keepCut(cut)
	return w, nil
}

func captureRecords(pages *ingest.Pages, cut *branch.Cut, now time.Time) ([]store.Record, error) {
	var recs []store.Record
	if !pages.Empty() {
		body, err := pages.AppendJSON(nil)
		if err != nil {
			return nil, err
		}
		recs = append(recs, store.Record{Op: ingest.Op, ID: ids.HashBytes(body)[:24], Time: now, Body: body})
	}
	if len(cut.Texts) > 0 {
		body, err := json.Marshal(cut)
		if err != nil {
			return nil, err
		}
		recs = append(recs, store.Record{Op: branch.OpCut, ID: ids.HashBytes(body)[:24], Time: now, Body: body})
	}
	return recs, nil
}

// CommitPlan appends the changes of a plan to projection.jsonl. It syncs the file if the plan
// promised something. next becomes the state of the conversation.
func (s *Session) CommitPlan(next *branch.State, diff *branch.Record, synced bool, now time.Time) (store.Stats, error) {
	if err := s.openRecords(); err != nil {
		return store.Stats{}, err
	}
	body, err := json.Marshal(diff)
	if err != nil {
		return store.Stats{}, err
	}
	st, err := s.records.Append(synced, store.Record{Op: opPlan, ID: next.Plan, Time: now, Body: body})
	if err != nil {
		return st, err
	}
	key := branch.Key{Branch: next.Branch, Model: next.Model}
	s.Branches.All[key] = next
	delete(s.Branches.heard, key)
	return st, nil
}

// CommitTurn writes a turn to the journal, with the summary of its branch and the host's updates.
func (s *Session) CommitTurn(key string, t *Turn, st summary.State, host []journal.Update, now time.Time) (journal.Receipt, error) {
	entry, err := listUpdate(s.Name, turnsField, key, t)
	if err != nil {
		return journal.Receipt{}, err
	}
	return s.settle(journal.Transaction{Key: "turn:" + key, Time: now, Point: journal.PointTurn, By: journal.Principal{Name: "host"}}, entry, t.Branch, st, host)
}

// CommitBoundary is CommitTurn for a boundary.
func (s *Session) CommitBoundary(key string, b *Boundary, st summary.State, host []journal.Update) (journal.Receipt, error) {
	entry, err := listUpdate(s.Name, boundariesField, key, b)
	if err != nil {
		return journal.Receipt{}, err
	}
	return s.settle(journal.Transaction{Key: "boundary:" + key, Time: b.Time, Point: b.Point, By: journal.Principal{Name: "host"}}, entry, b.Branch, st, host)
}

// CommitCut makes the summary of the messages that a cut removes durable.
func (s *Session) CommitCut(key string, point journal.CommitPoint, branch string, st summary.State, now time.Time) (journal.Receipt, error) {
	return s.settle(journal.Transaction{Key: "cut:" + key, Time: now, Point: point, By: journal.Principal{Name: "plan"}}, journal.Update{}, branch, st, nil)
}

// Passed reports whether a boundary is in the journal.
func (s *Session) Passed(key string) bool {
	if s.Journal == nil {
		return false
	}
	_, ok := s.Journal.Store().Entry(addressIn(s.Name, sessionKey), boundariesField, key)
	return ok
}

// settle commits, as one transaction, an entry of the session's page, the summary of a branch and
// the host's updates.
func (s *Session) settle(tx journal.Transaction, entry journal.Update, branch string, st summary.State, host []journal.Update) (journal.Receipt, error) {
	tx.By.Session = s.Name
	if entry.ID != "" {
		tx.Updates = append(tx.Updates, entry)
	}
	u, ok, err := s.summaryUpdate(branch, st)
	if err != nil {
		return journal.Receipt{}, err
	}
	if ok {
		tx.Updates = append(tx.Updates, u)
	}
	for i, h := range host {
		if h.ID == "" {
			h.ID = fmt.Sprint("u", i+1)
		}
		if bookkeeping(h.Type) || h.Scope == memkernel.ScopeProject {
			return journal.Receipt{}, fmt.Errorf("update %q: a turn writes private pages of the host's types; use Write for the project's", h.ID)
		}
		h.Value = maskJSON(s.Masker, h.Value)
		tx.Updates = append(tx.Updates, h)
	}
	if len(tx.Updates) == 0 {
		return journal.Receipt{Outcome: journal.Duplicate}, nil
	}
	r, err := s.Writeback(tx)
	if err != nil {
		return r, err
	}
	for _, rej := range r.Rejected {
		if strings.HasPrefix(rej.ID, "memkernel-") {
			return r, &journal.RejectionError{Code: rej.Code, Detail: rej.Detail}
		}
	}
	return r, s.recallAccount()
}

// listUpdate returns the update that appends one entry to a list. The list is on the page of the
// session whose folder is name.
func listUpdate(name, field, id string, entry any) (journal.Update, error) {
	value, err := json.Marshal([]struct {
		ID    string `json:"id"`
		Value any    `json:"value"`
	}{{id, entry}})
	return journal.Update{ID: "memkernel-" + field, Key: sessionKey, Type: sessionType, Field: field, Op: journal.OpAppend, Value: value,
		Scope: memkernel.ScopeSession, EvidenceRef: evidenceOf(name)}, err
}

// Stands waits until the data that was read of the session survives a power cut and a failover to
// a standby. Callers must call Stands before they name or repeat the result of an earlier call.
// The earlier call may have been killed before it answered.
func (s *Session) Stands() error {
	if s.unlocked != nil || s.unit == nil || s.Journal == nil {
		return s.unlocked
	}
	return s.Journal.Sync()
}

func (s *Session) openJournal() error {
	if s.unlocked != nil {
		return s.unlocked
	}
	if s.Journal == nil || s.Journal.Len() == 0 {
		_ = store.KeepOutOfGit(s.o.State)
	}
	if err := s.owner.Sign(s.Files, s.Key); err != nil {
		return err
	}
	return openFile(&s.Journal, s.Files, folder.JournalFile)
}

// openRecords opens projection.jsonl for writing. It puts a damaged file aside.
func (s *Session) openRecords() error {
	if s.unlocked != nil {
		return s.unlocked
	}
	if err := s.owner.Sign(s.Files, s.Key); err != nil {
		return err
	}
	if s.Branches.lost != nil {
		if _, err := store.PutAside(s.Files, folder.RecordsFile); err != nil {
			return err
		}
		s.Branches.lost = nil
	}
	return openFile(&s.records, s.Files, folder.RecordsFile)
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
