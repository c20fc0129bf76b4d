package kernel

import (
	"context"

	"github.com/memkernel/memkernel/pagevm/journal"
)

// projectPages are the pages that all sessions share.
func (k *Kernel) projectPages(ctx context.Context) ([]journal.StoredPage, error) {
	return k.desk.Shared(ctx)
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
	shared, err := k.projectPages(ctx)
	return append(shared, own...), err
}
