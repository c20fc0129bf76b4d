package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Memory is written by a validated append to one page of the session's journal: the
// commit is the promise, and the file is brought up to it when the session is next
// opened to be written.
const (
	memoryType  pagevm.Type = "memory"
	memoryKey   string      = "memory"
	memoryField string      = "entries"
	// opRemembered: the file has the entry.
	opRemembered = "remembered"
	// opRemember was the promise before memory was written by validated appends.
	// Journals of that time are read.
	opRemember = "remember"
)

// An entry is at most a mebibyte, and a session keeps at most a million of them:
// bounds against a host in a loop, far above what anybody writes.
const maxMemoryBytes, maxMemoryEntries = 1 << 20, 1_000_000

// RememberRequest is something worth keeping.
type RememberRequest struct {
	SessionKey string
	// Text is Markdown. Secrets in it are masked.
	Text string
	// Path is the file that it is appended to, relative to the workspace; "" is
	// today's log. MEMORY.md and USER.md can be written in private sessions only.
	Path string
	// Tags say why it matters; they are written before its words, in each item if it
	// is a list. Without any it is among the first that are forgotten.
	Tags consolidation.Tags
	// ID makes the delivery idempotent. Default: a hash of session, file and text.
	ID string
	// Evidence says where it comes from: the id of a page or the key of a committed
	// turn of the session. Default: the session itself.
	Evidence string
	// Private: see [PlanRequest.Private].
	Private bool
	// Now is the time of the entry; zero takes the kernel's clock.
	Now time.Time
}

// Remembered says where an entry stands.
type Remembered struct {
	// ID is the entry's; its marker stands behind it in the file.
	ID string `json:"id"`
	// Ref is the entry's text.
	Ref memkernel.Ref `json:"ref"`
	// Duplicate tells that it was there before.
	Duplicate bool `json:"duplicate"`
	// Late is the past day's log that it was meant for; it stands in today's.
	Late string `json:"late,omitempty"`
	// Masked counts the secrets that were masked.
	Masked int `json:"masked"`
	// Unwritten says why the file does not have the entry yet, "" if it has. The session's
	// journal keeps it, and it is written with the session's next call for which the file
	// can be.
	Unwritten string `json:"unwritten,omitempty"`
}

// UnwrittenError is an entry that the journal keeps and its file does not have yet, since
// that can't be written.
type UnwrittenError struct {
	ID, Path string
	Err      error
}

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("entry %s is not written to %s: %v; the session's journal keeps it, and it is written when the file can be", e.ID, e.Path, e.Err)
}

func (e *UnwrittenError) Unwrap() error { return e.Err }

// Remember appends a text to a file of the workspace, durably and once: what was
// asked for is in the journal before the file is touched, and a kill between the
// two is made good when the session is next opened.
func (k *Kernel) Remember(ctx context.Context, req RememberRequest) (*Remembered, error) {
	if k.memory == nil {
		return nil, errors.New("remember: memory is switched off")
	}
	s, unlock, err := k.open(ctx, req.SessionKey, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	text, masked := k.masker.Mask(strings.ToValidUTF8(req.Text, "\uFFFD"))
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("remember: there is nothing to keep: the text is empty")
	}
	text = consolidation.TagEntry(text, consolidation.MakeTags(req.Tags...))
	store := k.memory.Store(req.Private)
	if req.Path == "" {
		req.Path = store.DailyPath(req.Now)
	}
	if err := appendable(store, req.Path); err != nil {
		return nil, fmt.Errorf("remember: %w", err)
	}
	if req.ID == "" {
		req.ID = ids.Page("me", s.name, req.Path, text)
	}
	out, err := s.remember(ctx, k.memory, workstate.Entry{Path: req.Path, Text: text, Private: req.Private}, req)
	if kept := (*UnwrittenError)(nil); errors.As(err, &kept) {
		return &Remembered{ID: kept.ID, Ref: memkernel.Ref{Path: kept.Path}, Masked: masked, Unwritten: kept.Error()}, nil
	}
	if err != nil {
		s.invalidate()
		return nil, fmt.Errorf("remember: %w", err)
	}
	out.Masked = masked
	k.memory.Sync.Written()
	return out, nil
}

// appendable looks whether a file may be appended to before that is promised.
func appendable(store *markdownstore.Store, path string) error {
	f, err := store.Stat(path)
	if err != nil {
		return err
	}
	if f.Kind == markdownstore.KindInstructions {
		return &markdownstore.DeniedError{Path: path, Reason: markdownstore.DenyInstructions}
	}
	return nil
}

func (s *session) remember(ctx context.Context, m *memory, body workstate.Entry, req RememberRequest) (*Remembered, error) {
	id := req.ID
	if before, ok := s.remembered[id]; ok && !before.Same(&body) {
		return nil, fmt.Errorf("entry %s was remembered with another text or in another file", id)
	} else if !ok {
		if err := s.promise(id, body, req); err != nil {
			return nil, err
		}
		s.remembered[id], s.unwritten[id] = body, true
	}
	out, err := s.write(ctx, m, id, body)
	if errors.Is(err, markdownstore.ErrReadOnly) || errors.Is(err, markdownstore.ErrFull) {
		err = &UnwrittenError{ID: id, Path: body.Path, Err: err}
	}
	return out, err
}

// promise commits an entry of memory to the journal.
func (s *session) promise(id string, body workstate.Entry, req RememberRequest) error {
	value, err := json.Marshal([]struct {
		ID    string          `json:"id"`
		Value workstate.Entry `json:"value"`
	}{{id, body}})
	if err != nil {
		return err
	}
	if req.Evidence == "" {
		req.Evidence = s.evidence()
	}
	out, err := s.writeback(journal.Transaction{Key: "remember:" + id, Time: req.Now, Point: journal.PointFlush,
		By: journal.Principal{Name: "remember", Session: s.name},
		Updates: []journal.Update{{Key: memoryKey, Type: memoryType, Field: memoryField, Op: journal.OpAppend, Value: value,
			Scope: memkernel.ScopeSession, EvidenceRef: req.Evidence}}})
	if err == nil && len(out.Rejected) > 0 {
		err = &journal.RejectionError{Code: out.Rejected[0].Code, Detail: out.Rejected[0].Detail}
	}
	if err == nil && out.Outcome == journal.Conflict {
		err = fmt.Errorf("entry %s was remembered from other evidence", id)
	}
	return err
}

// recallPromises takes over the entries that the journal holds.
func (s *session) recallPromises() error {
	if s.journal == nil {
		return nil
	}
	entries := s.journal.Store().Entries(s.address(memoryKey), memoryField, s.promises)
	for _, e := range entries {
		var b workstate.Entry
		if err := json.Unmarshal(e.Current().Value, &b); err != nil {
			return fmt.Errorf("read entry %s of memory: %w", e.ID, err)
		}
		s.remembered[e.ID] = b
		s.keepFlushed(b.Items)
		if !s.written[e.ID] {
			s.unwritten[e.ID] = true
		}
	}
	s.promises += len(entries)
	return nil
}

// write brings a file up to what was promised. The entry is looked for by its id,
// so it never stands twice.
func (s *session) write(ctx context.Context, m *memory, id string, body workstate.Entry) (*Remembered, error) {
	a, err := m.Store(body.Private).Append(ctx, body.Path, id, body.Text)
	if err != nil {
		return nil, err
	}
	if s.unwritten[id] {
		delete(s.unwritten, id)
		s.written[id] = true
		// Losing this line costs one look into the file.
		if _, err := s.journal.Append(false, journal.Record{Op: opRemembered, ID: id, Time: s.now(), Body: []byte("{}")}); err != nil {
			return nil, err
		}
	}
	return &Remembered{ID: id, Ref: a.Ref, Duplicate: a.Existed, Late: a.Late}, nil
}

// redo writes what a kill left promised and unwritten. What can't be written now
// stays promised.
func (s *session) redo(ctx context.Context, m *memory) {
	if err := s.recallPromises(); err != nil || m == nil {
		return
	}
	for _, id := range sortedKeys(s.unwritten) {
		if err := s.openJournal(); err != nil {
			return
		}
		if _, err := s.write(ctx, m, id, s.remembered[id]); err != nil {
			return
		}
	}
}
