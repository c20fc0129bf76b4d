package pgstore

import (
	"context"

	"github.com/memkernel/memkernel/internal/store"
)

// Begin implements [store.Store].
func (s *Store) Begin(ctx context.Context, folder string, _ bool) (store.Unit, error) {
	return store.LockedUnit(ctx, s, folder)
}
