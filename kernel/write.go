package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// WriteRequest asks for typed changes of pages: a constraint that binds, the plan
// that is followed, a preference.
type WriteRequest struct {
	// SessionKey is the session that writes, and whose private pages are written.
	SessionKey string
	// Key makes the delivery idempotent. Default: a hash of session and updates.
	Key string
	// Point is the boundary at which it is asked for. Default: flush.
	Point journal.CommitPoint
	// By names on whose behalf; default "host".
	By string
	// Project lets the updates write what all sessions of the workspace share.
	Project bool
	// AllOrNothing commits nothing if any update is rejected.
	AllOrNothing bool
	// Updates are of one scope: the session's own, or the project's. Secrets in
	// their values are masked.
	Updates []journal.Update
	Now     time.Time
}

// Write stages, validates and commits updates of pages. What is rejected stays in
// the journal with its code and is no error. A constraint, a plan that is active,
// and a page whose field "pin" is soft or hard stand in every prompt from the next
// plan on; the others are kept.
func (k *Kernel) Write(ctx context.Context, req WriteRequest) (*journal.Receipt, error) {
	s, unlock, err := k.open(ctx, req.SessionKey, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	tx, scope, err := k.transaction(s, req)
	if err != nil {
		return nil, fmt.Errorf("write to session %s: %w", s.key, err)
	}
	to := s
	if scope == memkernel.ScopeProject {
		project, unlock, err := k.openFolder(ctx, folder.Project, folder.Project, true)
		if err != nil {
			return nil, err
		}
		defer unlock()
		to = project
	}
	r, err := to.writebackFrom(tx, evidence{s})
	if err != nil {
		to.invalidate()
		return nil, fmt.Errorf("write to session %s: %w", s.key, err)
	}
	return &r, nil
}

// transaction fills in what the request leaves open.
func (k *Kernel) transaction(s *session, req WriteRequest) (tx journal.Transaction, scope memkernel.Scope, err error) {
	tx = journal.Transaction{Key: req.Key, Time: req.Now, Point: req.Point, AllOrNothing: req.AllOrNothing,
		By: journal.Principal{Name: req.By, Session: s.name, Project: req.Project}}
	if tx.Updates, scope, err = s.masked(req.Updates); err != nil {
		return tx, scope, err
	}
	if tx.Time.IsZero() {
		tx.Time = k.now()
	}
	if tx.Point == "" {
		tx.Point = journal.PointFlush
	}
	if tx.By.Name == "" {
		tx.By.Name = "host"
	}
	if tx.Key == "" {
		raw, err := json.Marshal(tx.Updates)
		if err != nil {
			return tx, scope, err
		}
		tx.Key = ids.Page("wr", s.name, string(raw))
	}
	tx.Key = "write:" + tx.Key
	return tx, scope, nil
}

// masked checks that updates are of one scope and of types that are not the
// kernel's own, gives each an id, and masks secrets.
func (s *session) masked(in []journal.Update) ([]journal.Update, memkernel.Scope, error) {
	var scope memkernel.Scope
	out := make([]journal.Update, len(in))
	for i, u := range in {
		if u.ID == "" {
			u.ID = fmt.Sprint("u", i+1)
		}
		if bookkeeping(u.Type) {
			return nil, scope, fmt.Errorf("update %q: pages of type %q are the kernel's own", u.ID, u.Type)
		}
		if i > 0 && u.Scope != scope {
			return nil, scope, fmt.Errorf("update %q is of scope %q and those before it of %q: write them one after the other", u.ID, u.Scope, scope)
		}
		scope = u.Scope
		u.Value = maskJSON(s.masker, u.Value)
		out[i] = u
	}
	return out, scope, nil
}

// maskJSON masks the secrets in a JSON value, those that its names tell first. What
// is no JSON is masked as text; the journal refuses it.
func maskJSON(m *mask.Masker, raw json.RawMessage) json.RawMessage {
	masked, n := m.Mask(string(raw))
	if n == 0 {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if json.Valid([]byte(masked)) || dec.Decode(&v) != nil || dec.More() {
		return json.RawMessage(masked)
	}
	out, err := json.Marshal(maskStrings(m, v))
	if err != nil {
		return json.RawMessage(masked)
	}
	return out
}

func maskStrings(m *mask.Masker, v any) any {
	switch v := v.(type) {
	case string:
		return m.Text(v)
	case []any:
		for i := range v {
			v[i] = maskStrings(m, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = maskStrings(m, v[k])
		}
	}
	return v
}
