package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Write stages, validates and commits updates of pages. A rejected update stays in the journal
// with its code and is not an error. From the next plan on every prompt shows constraints, active
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
