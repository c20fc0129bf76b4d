package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
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
		return nil, fmt.Errorf("write to session %s: %w", s.Key, err)
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
	r, err := to.WritebackFrom(tx, s)
	if err != nil {
		to.Invalidate()
		return nil, fmt.Errorf("write to session %s: %w", s.Key, err)
	}
	return &r, nil
}

// transaction fills in what the request leaves open.
func (k *Kernel) transaction(s *session.Session, req WriteRequest) (tx journal.Transaction, scope memkernel.Scope, err error) {
	tx = journal.Transaction{Key: req.Key, Time: req.Now, Point: req.Point, AllOrNothing: req.AllOrNothing,
		By: journal.Principal{Name: req.By, Session: s.Name, Project: req.Project}}
	if tx.Updates, scope, err = session.Masked(s.Masker, req.Updates); err != nil {
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
		tx.Key = ids.Page("wr", s.Name, string(raw))
	}
	tx.Key = "write:" + tx.Key
	return tx, scope, nil
}
