package kernel

import (
	"context"
	"errors"
	"io/fs"

	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// projectPages are the pages that all sessions share. A workspace without any has
// no journal for them.
func (k *Kernel) projectPages(ctx context.Context) ([]journal.StoredPage, error) {
	if _, err := folder.In(k.state, folder.Project).Stat(folder.JournalFile); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	p, unlock, err := k.openFolder(ctx, folder.Project, folder.Project, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return p.Stored(), nil
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

// pinnedKeys names what stands in every prompt of the session.
func pinnedKeys(s *session.Session) []string {
	out := []string{}
	for _, p := range plan.Standing(s.Stored()) {
		out = append(out, p.Key)
	}
	return out
}
