package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/turn"
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
// and a page whose field "pin" is soft or hard are in every prompt from the next
// plan on; the others are kept.
func (k *Kernel) Write(ctx context.Context, req WriteRequest) (*journal.Receipt, error) {
	return k.desk.Write(ctx, turn.WriteRequest(req))
}

// Pages lists what hosts wrote with [Kernel.Write]: the session's pages and those
// that all sessions share, by scope and key.
func (k *Kernel) Pages(ctx context.Context, sessionKey string) ([]journal.StoredPage, error) {
	s, unlock, err := k.open(ctx, sessionKey, false)
	if err != nil {
		return nil, err
	}
	own := s.Stored()
	unlock()
	shared, err := k.desk.Shared(ctx)
	return append(shared, own...), err
}
