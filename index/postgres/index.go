package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// Index is the index of one workspace and agent. Its methods may be called from
// several goroutines at once.
type Index struct {
	pool     *pgxpool.Pool
	opts     Options
	index    index.Options
	place    string
	password string
	// vectors: the tables for vectors are there; iterates: pgvector goes on
	// walking where rows were refused.
	vectors, iterates bool

	analyzers sync.Pool

	// mu guards what questions need of the scopes, while those stand.
	mu   sync.Mutex
	seen *view
}

// querier is what pools, connections and transactions have in common.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Open connects to the index. Unless o says ReadOnly, the tables are made or
// brought to this program's version, and pgvector is switched on if the server has
// it. The error is ErrMissing if there is nothing to read yet.
func Open(ctx context.Context, opts Options, o *index.Options) (*Index, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	c, err := opts.pool()
	if err != nil {
		return nil, err
	}
	ix := &Index{opts: opts, place: opts.Place(), password: c.ConnConfig.Password}
	if o != nil {
		ix.index = *o
	}
	if ix.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, ix.explain("open index", err)
	}
	if err := ix.open(ctx); err != nil {
		ix.pool.Close()
		return nil, ix.explain("open index", err)
	}
	return ix, nil
}

func (ix *Index) open(ctx context.Context) error {
	n, err := ix.version(ctx, ix.pool)
	switch {
	case err != nil:
		return err
	case n == len(migrations):
	case !ix.index.ReadOnly:
		if err := ix.migrate(ctx); err != nil {
			return err
		}
	case n == 0:
		return index.Problem("open index", ix.place, index.ErrMissing, nil)
	default:
		return index.Problem("open index", ix.place, index.ErrOlder, nil)
	}
	if err := ix.vectorsReady(ctx, !ix.index.ReadOnly); err != nil {
		return err
	}
	if !ix.index.ReadOnly {
		return nil
	}
	_, err = ix.look(ctx)
	return err
}

// Rebuild empties the index of this workspace and agent, but for the vectors, and
// opens it; a Sync then fills it. What other agents have stands.
func Rebuild(ctx context.Context, opts Options, o *index.Options) (*Index, error) {
	ix, err := Open(ctx, opts, o)
	if err != nil {
		return nil, err
	}
	const op = "rebuild index"
	if ix.index.ReadOnly {
		ix.Close()
		return nil, index.Problem(op, ix.place, index.ErrReadOnly, errors.New("opened for reading"))
	}
	s, err := ix.exclusive(ctx, op, defaultWait)
	if err == nil {
		err = s.clear(ctx)
		s.release()
	}
	if err != nil {
		ix.Close()
		return nil, ix.explain(op, err)
	}
	return ix, nil
}

// Close ends the use of the index.
func (ix *Index) Close() error {
	ix.pool.Close()
	return nil
}

// Place names the database, without its password.
func (ix *Index) Place() string { return ix.place }

// read runs what only reads, and once more if the connection turns out broken: the
// server may have been restarted since it was last used.
func (ix *Index) read(ctx context.Context, f func() error) error {
	err := f()
	if err == nil || !broken(err) || ctx.Err() != nil {
		return err
	}
	ix.pool.Reset()
	return f()
}

// transact runs f in a transaction.
func (ix *Index) transact(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, ix.pool, f)
}

// analyzer lends an Analyzer; give takes it back.
func (ix *Index) analyzer() (*analysis.Analyzer, error) {
	if a, ok := ix.analyzers.Get().(*analysis.Analyzer); ok {
		return a, nil
	}
	return analysis.New()
}

func (ix *Index) give(a *analysis.Analyzer) { ix.analyzers.Put(a) }

// defaultWait is how long to wait for another process that syncs.
const defaultWait = 10 * time.Second
