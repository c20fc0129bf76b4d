package rows

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// faulty is a database that calls a function before each statement and after its answer.
type faulty struct {
	database
	f *atomic.Pointer[func(name string, answered bool) error]
}

func (d faulty) Ask(ctx context.Context, s *statement, args []any, row func(func(...any) error) error) error {
	at := func(answered bool) error {
		if f := d.f.Load(); f != nil {
			return (*f)(s.name, answered)
		}
		return nil
	}
	if err := at(false); err != nil {
		return err
	}
	if err := d.database.Ask(ctx, s, args, row); err != nil {
		return err
	}
	return at(true)
}

// SetFault asks f before every statement and after its answer. The first call must come before
// others use the store.
func (s *Store) SetFault(f func(name string, answered bool) error) {
	if _, ok := s.db.(faulty); !ok {
		s.core.db = faulty{s.db, new(atomic.Pointer[func(string, bool) error])}
	}
	at := s.db.(faulty).f
	if f == nil {
		at.Store(nil)
		return
	}
	at.Store(&f)
}

// OpenAlone opens a tenant as Open does, with a new connection for each statement: what a pooler
// in transaction mode may do. The tables must be there.
func OpenAlone(ctx context.Context, o Options) (*Store, error) {
	s, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	s.core.db = &alternating{pool: s.db.(server).Pool, schema: o.Schema}
	return s, nil
}

type alternating struct {
	pool   *pgxpool.Pool
	schema string
}

func (a *alternating) Ask(ctx context.Context, st *statement, args []any, row func(func(...any) error) error) error {
	err := server{a.pool, a.schema}.Ask(ctx, st, args, row)
	for _, c := range a.pool.AcquireAllIdle(ctx) {
		if _, err := c.Exec(ctx, `DISCARD ALL`, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		c.Release()
	}
	return err
}

func (a *alternating) Close() { a.pool.Close() }

// NoPauses has lost connections tried again at once, and writers of blobs soon.
func NoPauses() { pauses, blobPause = []time.Duration{0, 0, 0}, time.Millisecond }

// Renew renews the leases now.
func (s *Store) Renew() { _ = s.core.renew() }

// pool is the store's own connections.
func (s *Store) pool() *pgxpool.Pool {
	switch d := s.db.(type) {
	case faulty:
		return d.database.(server).Pool
	case *alternating:
		return d.pool
	case *twin:
		return d.database.(server).Pool
	default:
		return d.(server).Pool
	}
}

// Exec runs a statement as it is.
func (s *Store) Exec(ctx context.Context, q string, args ...any) error {
	_, err := s.pool().Exec(ctx, q, args...)
	return err
}

// Value reads one value.
func (s *Store) Value(ctx context.Context, into any, q string, args ...any) error {
	return s.pool().QueryRow(ctx, q, args...).Scan(into)
}

// Conn gives a connection of the store's own, until release.
func (s *Store) Conn(ctx context.Context) (conn *pgx.Conn, release func(), err error) {
	c, err := s.pool().Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	return c.Conn(), c.Release, nil
}

// TenantID is the number of the tenant.
func (s *Store) TenantID() int64 { return s.tenant }

var _ pgx.QueryTracer = (*Counter)(nil)

// Counter counts statements.
type Counter struct{ N int }

func (c *Counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.N++
	return ctx
}
func (c *Counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// PutAsAnother writes a file of a workspace as another program does.
func (w *Workspace) PutAsAnother(name, text string) error {
	if err := w.lock(0); err != nil {
		return err
	}
	w.f.mu.Unlock()
	return fileWriter{w}.change("put", name, false, func(fileInfo) (*doc, error) { return contents(text), nil })
}

// Schema is the schema of the tables.
func (s *Store) Schema() string { return s.db.(server).schema }

// First makes the tables as their first version had them.
func First(ctx context.Context, o Options) error {
	c, err := pgx.Connect(ctx, o.DSN)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.PgConn().Exec(ctx, `CREATE SCHEMA `+o.Schema+`; SET search_path = `+o.Schema+`;
		CREATE TABLE versions(version int PRIMARY KEY, time timestamptz NOT NULL DEFAULT now()); INSERT INTO versions(version) VALUES(1);`+first).ReadAll()
	return err
}

// Error is the error of a database.
type Error = failure

// The errors that the tests from outside the package tell apart.
var (
	ErrRefused     = errRefused
	ErrTenants     = errTenants
	ErrUnreachable = errUnreachable
)

// Unchecked reports that Begin did not check whether another process has written to the folder
// since this process did.
func (u *unit) Unchecked() bool { return u.unchecked }
