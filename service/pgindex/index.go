package pgindex

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// Index is the index of one workspace and agent. Its methods may be called from
// several goroutines at once.
type Index struct{ site *site }

// site is the place of an index and the agent that uses it.
type site struct {
	pool     *pgxpool.Pool
	opts     Options
	index    index.Options
	place    string
	password string
	// vectors reports that the schema has a table of vectors.
	vectors bool

	analyzers analysis.Pool

	// mu guards the view, which searches share as long as the scopes are unchanged.
	mu   sync.Mutex
	seen *view
}

// querier has the methods that pools, connections and transactions share. Callers that collect the
// rows of a Query need not check its error: the rows have it too.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Open connects to the index. Unless o is ReadOnly, tables of an older version are replaced by
// empty ones, which the next Sync fills, and pgvector is switched on if the server has it. If o is
// ReadOnly and the index does not exist yet, the error is ErrMissing.
func Open(ctx context.Context, opts Options, o *index.Options) (*Index, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	c, err := opts.pool()
	if err != nil {
		return nil, err
	}
	st := &site{opts: opts, place: opts.Place(), password: c.ConnConfig.Password}
	if o != nil {
		st.index = *o
	}
	if st.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, st.explain("open index", err)
	}
	if err := openTables(ctx, st); err != nil {
		st.pool.Close()
		return nil, st.explain("open index", err)
	}
	return &Index{st}, nil
}

func openTables(ctx context.Context, st *site) error {
	n, err := schemaVersion(ctx, st, st.pool)
	switch {
	case err != nil:
		return err
	case n == schemaNumber:
	case !st.index.ReadOnly:
		if err := makeTables(ctx, st); err != nil {
			return err
		}
	case n == 0:
		return index.Problem("open index", st.place, index.ErrMissing, nil)
	default:
		return index.Problem("open index", st.place, index.ErrOlder, nil)
	}
	if err := readyVectors(ctx, st); err != nil || !st.index.ReadOnly {
		return err
	}
	_, err = st.look(ctx)
	return err
}

// Rebuild empties the index of this workspace and agent, except for the vectors, and opens it. A
// Sync must then fill it. The data of other agents is kept.
func Rebuild(ctx context.Context, opts Options, o *index.Options) (*Index, error) {
	ix, err := Open(ctx, opts, o)
	if err != nil {
		return nil, err
	}
	err = ix.site.locked(ctx, "rebuild index", defaultWait, func(s *syncer) error {
		return s.change(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM files WHERE scope = ANY($1::integer[])`, ownScopes(s.space))
			return err
		})
	})
	if err != nil {
		ix.Close()
		return nil, err
	}
	return ix, nil
}

// Close ends the use of the index.
func (ix *Index) Close() error {
	ix.site.pool.Close()
	return nil
}

// tryRead runs f, which must only read. If the connection is broken, it runs f once more: the server
// may have been restarted since the connection was last used.
func tryRead[T any](ctx context.Context, st *site, f func() (T, error)) (T, error) {
	out, err := f()
	if err == nil || !pgdsn.Lost(err) || ctx.Err() != nil {
		return out, err
	}
	st.pool.Reset()
	return f()
}

// defaultWait is how long to wait for another process that syncs.
const defaultWait = 10 * time.Second
