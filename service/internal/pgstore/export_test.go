package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// WritersLock is the lock of all who write to a workspace.
const WritersLock = writersLock

// BesideFor is how old may be what is known beside a lock that is resumed.
const BesideFor = besideFor

// Moments of a statement.
const (
	Look  = look
	Send  = send
	Acked = acked
)

// Step is one of them.
type Step = step

// SetFault asks f at every step from now on.
func (s *Store) SetFault(f func(Step) error) {
	if f == nil {
		s.fault.Store(nil)
		return
	}
	s.fault.Store(&f)
}

// NoPauses has lost connections tried again at once.
func NoPauses() { pauses = []time.Duration{0, 0, 0} }

// Migrations are the schema files.
func Migrations() ([]string, error) { return migrations() }

// Settle writes what is held back.
func (s *Store) Settle() error { return s.settle([]string{s.folder}) }

// ResumeAfter has locks resumed that this process found so often in a row that it had last.
func (s *Store) ResumeAfter(n int) { s.leases.need = n }

// Renew renews the leases now.
func (s *Store) Renew() { s.leases.renew() }

// Exec runs a statement as it is.
func (s *Store) Exec(ctx context.Context, q string, args ...any) error {
	_, err := s.pool.Exec(ctx, q, args...)
	return err
}

// Value reads one number.
func (s *Store) Value(ctx context.Context, q string, args ...any) (n int64, err error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Release()
	err = c.QueryRow(ctx, q, args...).Scan(&n)
	return n, err
}

var _ pgx.QueryTracer = (*Counter)(nil)

// Counter counts statements.
type Counter struct{ N int }

func (c *Counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.N++
	return ctx
}
func (c *Counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// PutApart has all documents of such names go to the bucket.
func (s *Store) PutApart(f func(name string) bool) {
	s.objects.apart = func(name string, _ []byte) bool { return f(name) }
}

// PutAsAnother writes a file of a workspace as a program does that takes no lock.
func (w *Workspace) PutAsAnother(name, text string) error {
	if err := w.refresh(); err != nil {
		return err
	}
	in := rowWriter{w, &writersTurn{release: func() {}, takeover: w.c.takeovers.Load()}}
	r, _, _, err := in.now("put", name)
	if err != nil {
		return err
	}
	return in.write("put", name, r.version, text, false)
}

// Conn gives a connection of the store's own, until release.
func (s *Store) Conn(ctx context.Context) (conn *pgx.Conn, release func(), err error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	return c.(connection).Conn.Conn(), c.Release, nil
}

// RootID is the number of the root.
func (s *Store) RootID() int64 { return s.root }
