package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
)

// The operations by which memory is written.
const (
	// opRemember: a text is to be appended to a file. The line is the commit; the
	// file is brought up to it when the session is next opened to be written.
	opRemember = "remember"
	// opRemembered: the file has it.
	opRemembered = "remembered"
)

// RememberRequest is something worth keeping.
type RememberRequest struct {
	SessionKey string
	// Text is Markdown. Secrets in it are masked.
	Text string
	// Path is the file that it is appended to, relative to the workspace; "" is
	// today's log. MEMORY.md and USER.md can be written in private sessions only.
	Path string
	// ID makes the delivery idempotent. Default: a hash of session, file and text.
	ID string
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
}

// rememberBody is the body of an opRemember record.
type rememberBody struct {
	Path    string `json:"path"`
	Text    string `json:"text"`
	Private bool   `json:"private,omitempty"`
}

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
	text, masked := pagevm.Mask(strings.ToValidUTF8(req.Text, "\uFFFD"))
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("remember: there is nothing to keep: the text is empty")
	}
	store := k.memory.store(req.Private)
	if req.Path == "" {
		req.Path = store.DailyPath(req.Now)
	}
	if err := appendable(store, req.Path); err != nil {
		return nil, fmt.Errorf("remember: %w", err)
	}
	if req.ID == "" {
		req.ID = pageID("me", s.name, req.Path, text)
	}
	out, err := s.remember(ctx, k.memory, req.ID, rememberBody{Path: req.Path, Text: text, Private: req.Private}, req.Now)
	if err != nil {
		s.forget()
		return nil, fmt.Errorf("remember: %w", err)
	}
	out.Masked = masked
	k.memory.fresh.renewed(true)
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

func (s *session) remember(ctx context.Context, m *memory, id string, body rememberBody, now time.Time) (*Remembered, error) {
	if before, ok := s.remembered[id]; ok && before != body {
		return nil, fmt.Errorf("entry %s was remembered with another text or in another file", id)
	} else if !ok {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		if err := s.openJournal(); err != nil {
			return nil, err
		}
		if _, err := s.journal.Append(true, pagevm.Record{Op: opRemember, ID: id, Time: now, Body: raw}); err != nil {
			return nil, err
		}
		s.remembered[id], s.unwritten[id] = body, true
	}
	return s.write(ctx, m, id, body)
}

// write brings a file up to what was promised. The entry is looked for by its id,
// so it never stands twice.
func (s *session) write(ctx context.Context, m *memory, id string, body rememberBody) (*Remembered, error) {
	a, err := m.store(body.Private).Append(ctx, body.Path, id, body.Text)
	if err != nil {
		return nil, err
	}
	if s.unwritten[id] {
		delete(s.unwritten, id)
		// Losing this line costs one look into the file.
		if _, err := s.journal.Append(false, pagevm.Record{Op: opRemembered, ID: id, Time: time.Now(), Body: []byte("{}")}); err != nil {
			return nil, err
		}
	}
	return &Remembered{ID: id, Ref: a.Ref, Duplicate: a.Existed, Late: a.Late}, nil
}

// redo writes what a kill left promised and unwritten. What can't be written now
// stays promised.
func (s *session) redo(ctx context.Context, m *memory) {
	if m == nil || len(s.unwritten) == 0 {
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
