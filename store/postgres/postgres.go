// Package postgres keeps a kernel's state in a PostgreSQL database, so that several machines
// may serve the same sessions: journals, blobs, checkpoints and locks are there, and what
// belongs to a machine, such as its index and its sockets, stays in its state directory.
//
//	state, err := postgres.Open(ctx, os.Getenv("STATE_DSN"), "shop")
//	...
//	defer state.Close()
//	k, err := kernel.Open(ctx, dir, &kernel.Options{Store: state})
//
// The server is PostgreSQL 15 or newer, with its plain features. Any machine may be paused
// or killed at any instant: its locks are leases, and what it would write without them
// is refused.
package postgres

import (
	"context"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/pgstore"
)

// Store is the state of one workspace in a database. It is safe for concurrent use, and
// several kernels may share it.
type Store struct{ in *pgstore.Store }

// Open opens the state that the database dsn has under the name root, which is the same on
// every machine that shares it, and makes the tables that are not there. The DSN is
// a URL or key=value pairs, and must name the host. No error repeats its password.
func Open(ctx context.Context, dsn, root string) (*Store, error) {
	s, err := pgstore.Open(ctx, pgstore.Options{DSN: dsn, Root: root})
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// OpenTenant opens the state of one of several tenants that a database has, as Open does, by
// connections that the server shows no other root, whatever statement they send: each
// tenant's log in as a role of its own, which row-level security binds. The user of the DSN
// makes the roles, owns the tables, and is no superuser.
func OpenTenant(ctx context.Context, dsn, root string) (*Store, error) {
	s, err := pgstore.OpenTenant(ctx, pgstore.Options{DSN: dsn, Root: root})
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// Bound refuses a DSN whose user row-level security would not bind, as a superuser: such a one
// is not to serve tenants. It makes nothing.
func Bound(ctx context.Context, dsn, root string) error {
	return pgstore.Bound(ctx, pgstore.Options{DSN: dsn, Root: root})
}

// State is for package kernel.
func (s *Store) State() store.Store { return s.in }

// Close lets go of the locks and the connections. The kernels that use the store are
// closed before.
func (s *Store) Close() error { return s.in.Close() }
