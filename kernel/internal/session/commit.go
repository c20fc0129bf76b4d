package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// opPlan is the only operation of projection.jsonl: the changes of a plan.
const opPlan = "plan"

// TakeSpent returns the cost of the call's writes since the last TakeSpent.
func (s *Session) TakeSpent() api.Stats {
	st := s.Life.Spent()
	s.spend(st)
	out := s.Spent
	out.StateBytes += st.Bytes
	s.Spent = api.Stats{}
	return out
}

func (s *Session) spend(st store.Stats) {
	s.Spent.Files += st.Files
	s.Spent.Syncs += st.Syncs
	s.Spent.SyncTime += st.SyncTime
}

// SpendLog adds the cost of an append to a file that is not synced.
func (s *Session) SpendLog(bytes int64) {
	s.Spent.LogBytes += bytes
	s.Spent.Files++
}

// spendJournal adds the cost of an append to the journal. In a call, the journal counts as one
// file.
func (s *Session) spendJournal(st store.Stats) {
	files := 0
	if s.Spent.JournalBytes == 0 && st.Bytes > 0 {
		files = 1
	}
	s.Spent.JournalBytes += st.Bytes
	s.spend(store.Stats{Files: files, Syncs: st.Syncs, SyncTime: st.SyncTime})
}

// CommitPages writes new pages, their contents, and the blocks that replace the messages a cut
// removed.
func (s *Session) CommitPages(ctx context.Context, pages *ingest.Pages, cut *branch.Cut, now time.Time) error {
	if s.unlocked != nil {
		return s.unlocked
	}
	recs, err := captureRecords(pages, cut, now)
	if err != nil {
		return err
	}
	if len(recs) == 0 { // all shown pages are on disk already
		return s.Stands()
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	batch := s.Blobs.NewBatch()
	for _, b := range pages.Blobs {
		batch.AddString(b)
	}
	blobs, err := s.unit.PutBlobs(ctx, batch)
	if err != nil {
		return err
	}
	s.Spent.Blobs += blobs.Files
	s.Spent.BlobBytes += blobs.Bytes
	s.spend(blobs)
	st, err := s.Journal.Append(true, recs...)
	if err != nil {
		return err
	}
	s.spendJournal(st)
	s.keepPages(pages.New)
	s.keepCut(cut)
	return nil
}

func captureRecords(pages *ingest.Pages, cut *branch.Cut, now time.Time) ([]store.Record, error) {
	var recs []store.Record
	if !pages.Empty() {
		body, err := pages.JSON()
		if err != nil {
			return nil, err
		}
		recs = append(recs, store.Record{Op: ingest.Op, ID: bodyID(body), Time: now, Body: body})
	}
	if len(cut.Texts) > 0 {
		body, err := json.Marshal(cut)
		if err != nil {
			return nil, err
		}
		recs = append(recs, store.Record{Op: branch.OpCut, ID: bodyID(body), Time: now, Body: body})
	}
	return recs, nil
}

// CommitPlan appends the changes of a plan to projection.jsonl. With synced it syncs the file. next
// becomes the state of the conversation.
func (s *Session) CommitPlan(next *branch.State, diff *branch.Record, synced bool, now time.Time) error {
	if s.unlocked != nil {
		return s.unlocked
	}
	if err := s.owner.Sign(s.Files, s.Key); err != nil {
		return err
	}
	if s.Branches.lost != nil { // a damaged file is put aside
		if _, err := store.PutAside(s.Files, folder.RecordsFile); err != nil {
			return err
		}
		s.Branches.lost = nil
	}
	if err := openFile(&s.records, s.Files, folder.RecordsFile); err != nil {
		return err
	}
	body, err := json.Marshal(diff)
	if err != nil {
		return err
	}
	st, err := s.records.Append(synced, store.Record{Op: opPlan, ID: next.Plan, Time: now, Body: body})
	if err != nil {
		return err
	}
	s.SpendLog(st.Bytes)
	s.spend(store.Stats{Syncs: st.Syncs, SyncTime: st.SyncTime})
	key := branch.Key{Branch: next.Branch, Model: next.Model}
	s.Branches.All[key] = next
	delete(s.Branches.heard, key)
	return nil
}

// CommitTurn writes a turn to the journal, with the summary of its branch and the host's updates.
func (s *Session) CommitTurn(key string, t *Turn, st summary.State, host []journal.Update, now time.Time) (journal.Receipt, error) {
	return s.settle(journal.Transaction{Key: "turn:" + key, Time: now, Point: journal.PointTurn, By: journal.Principal{Name: "host"}}, turnsField, key, t, t.Branch, st, host)
}

// CommitBoundary is CommitTurn for a boundary.
func (s *Session) CommitBoundary(key string, b *Boundary, st summary.State, host []journal.Update) (journal.Receipt, error) {
	return s.settle(journal.Transaction{Key: "boundary:" + key, Time: b.Time, Point: b.Point, By: journal.Principal{Name: "host"}}, boundariesField, key, b, b.Branch, st, host)
}

// CommitCut makes the summary of the messages that a cut removes durable.
func (s *Session) CommitCut(key string, point journal.CommitPoint, branch string, st summary.State, now time.Time) error {
	_, err := s.settle(journal.Transaction{Key: "cut:" + key, Time: now, Point: point, By: journal.Principal{Name: "plan"}}, "", "", nil, branch, st, nil)
	return err
}

// Passed reports whether a boundary is in the journal.
func (s *Session) Passed(key string) bool {
	_, ok := s.Account.Boundaries[key]
	return ok
}

// settle commits one transaction: an entry of the session's page if there is one, the summary of a
// branch, and the host's updates.
func (s *Session) settle(tx journal.Transaction, field, id string, entry any, branch string, st summary.State, host []journal.Update) (journal.Receipt, error) {
	tx.By.Session = s.Name
	if entry != nil {
		u, err := entryUpdate(sessionType, sessionKey, field, id, entry, s.Evidence())
		if err != nil {
			return journal.Receipt{}, err
		}
		u.ID = "memkernel-" + field
		tx.Updates = append(tx.Updates, u)
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
	r, err := s.Writeback(tx, s)
	if err != nil {
		return r, err
	}
	s.spendJournal(r.Stats)
	for _, rej := range r.Rejected {
		if strings.HasPrefix(rej.ID, "memkernel-") {
			return r, &journal.RejectionError{Code: rej.Code, Detail: rej.Detail}
		}
	}
	return r, s.recallAccount()
}

// entryUpdate returns the update that appends one entry to a list on a private page.
func entryUpdate(t pagevm.Type, page, field, id string, entry any, evidence string) (journal.Update, error) {
	value, err := json.Marshal([]struct {
		ID    string `json:"id"`
		Value any    `json:"value"`
	}{{id, entry}})
	return journal.Update{Key: page, Type: t, Field: field, Op: journal.OpAppend, Value: value, Scope: memkernel.ScopeSession, EvidenceRef: evidence}, err
}

// commitEntry commits one entry. conflict is the error text if the id has another value already.
func (s *Session) commitEntry(by, id string, u journal.Update, conflict string, now time.Time) error {
	out, err := s.Writeback(journal.Transaction{Key: by + ":" + id, Time: now, Point: journal.PointFlush,
		By: journal.Principal{Name: by, Session: s.Name}, Updates: []journal.Update{u}}, s)
	switch {
	case err == nil && len(out.Rejected) > 0:
		return &journal.RejectionError{Code: out.Rejected[0].Code, Detail: out.Rejected[0].Detail}
	case err == nil && out.Outcome == journal.Conflict:
		return errors.New(conflict)
	}
	return err
}

// Stands waits until the session's data survives a power cut and a failover to a standby. Callers
// must call Stands before they report or repeat the result of an earlier call, because a kill may
// have ended that call before its data was durable.
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

// openFile opens a journal for writing on first use.
func openFile(j **journal.Journal, in store.Store, name string) error {
	if *j != nil {
		return nil
	}
	return follow(j, in, name, true, nil)
}

// bodyID returns the id of a record, which is the beginning of its body's hash.
func bodyID(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:12])
}
