package postgres

import (
	"context"

	"github.com/memkernel/memkernel/service/internal/rows"
)

// OpenWith opens with what tests say beside it.
func OpenWith(ctx context.Context, o rows.Options) (*Store, error) {
	s, err := rows.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}
