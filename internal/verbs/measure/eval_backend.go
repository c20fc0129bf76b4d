package measure

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/postgres"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/judge/relevance"
)

// evalIndex is how eval keeps the index of a set.
func evalIndex(a *cli.App, backend string) (relevance.Opener, error) {
	if backend != "postgres" {
		return relevance.SQLite, nil
	}
	o, err := a.PostgresOptions()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, dir string, i *index.Options) (relevance.Index, error) {
		o.Workspace = "eval" + filepath.Base(dir)
		ix, err := postgres.Open(ctx, o, i)
		if err != nil {
			return nil, err
		}
		return &passing{ix}, nil
	}, nil
}

// passing is an index that goes when it is closed.
type passing struct{ *postgres.Index }

func (p *passing) Close() error {
	return errors.Join(p.Drop(context.Background()), p.Index.Close())
}
