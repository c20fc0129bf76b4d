package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/inspect"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Write stages, validates and commits updates of pages. A rejected update stays in the journal with
// its code and is not an error. From the next plan on, every prompt shows constraints, active
// plans, and pages whose field "pin" is soft or hard. Other pages are stored but not shown.
func (k *Kernel) Write(ctx context.Context, req api.WriteRequest) (*journal.Receipt, error) {
	return k.desk.Write(ctx, req)
}

// Pages lists the pages that hosts wrote with [Kernel.Write], by scope and key. They are the
// session's pages and the pages that all sessions share.
func (k *Kernel) Pages(ctx context.Context, sessionKey string) ([]journal.StoredPage, error) {
	s, unlock, err := k.open(ctx, sessionKey)
	if err != nil {
		return nil, err
	}
	own := s.Stored()
	unlock()
	shared, err := k.desk.Shared(ctx)
	return append(shared, own...), err
}

// Get restores a page, a span or a blob of a session, byte for byte as stored. If the id has a
// range of lines, as citations of a search have, Get returns these lines of the page's text. An
// unknown id is not an error: Reason is then NO_MATCH. Known content that is gone or damaged is
// not an error either: Reason is then BACKEND_ERROR, and Fault is set. Get returns an error if
// the content can't be read now.
func (k *Kernel) Get(ctx context.Context, sessionKey, id string) (*api.Content, error) {
	s, unlock, err := k.open(ctx, sessionKey)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return k.inspect.Get(s, id)
}

// Kept returns a session's stored pages, and the cuts of its newest plan.
func (k *Kernel) Kept(ctx context.Context, sessionKey string) (out *api.KeptSession, err error) {
	err = k.reading(ctx, sessionKey, func(s *session.Session) error {
		out, err = inspect.Kept(s)
		return err
	})
	return out, err
}
