package postgres

import (
	"context"

	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// OpenWith opens with what tests say beside it.
func OpenWith(ctx context.Context, o pgstore.Options) (*Store, error) {
	s, err := pgstore.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}
