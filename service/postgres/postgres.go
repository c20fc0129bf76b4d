// Package postgres keeps a kernel's state in a PostgreSQL database, so that several machines
// may serve the same sessions. Journals, blobs, checkpoints and locks are in the database.
// The files of one machine, such as its index and its sockets, stay in its state directory.
//
//	state, err := postgres.Open(ctx, postgres.Options{DSN: os.Getenv("STATE_DSN"), Root: "shop"})
//	...
//	defer state.Close()
//	k, err := kernel.Open(ctx, dir, &kernel.Options{Store: state})
//
// The workspace's Markdown is still in a folder, unless kernel.MemoryOptions.Files is the
// Workspace of the Store.
//
// The server must be PostgreSQL 15 or newer; it needs no extension. Any machine may be paused or
// killed at any time. Its locks are leases, and its writes are refused once it has lost a lock.
package postgres

import (
	"context"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// Store is the state of one workspace in a database. It is safe for concurrent use, and
// several kernels may share it.
type Store struct{ in *rows.Store }

// Options names the place of a state. Schema and Tracer are for tests.
type Options = rows.Options

// Open opens a state in a database, and creates missing tables. No error repeats the DSN's password.
func Open(ctx context.Context, o Options) (*Store, error) { return opened(rows.Open(ctx, o)) }

// OpenTenant opens the state of one of several tenants in a database, as Open does. Its
// connections can reach only that root, whatever statement they send: they log in as the tenant's
// own role, to which row-level security applies. The user of the DSN creates the roles and owns
// the tables. That user must not be a superuser.
func OpenTenant(ctx context.Context, o Options) (*Store, error) {
	return opened(rows.OpenTenant(ctx, o))
}

func opened(s *rows.Store, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// Bound returns an error if row-level security would not bind the user of a DSN. Such a user, for
// example a superuser, must not serve tenants. Bound creates no tables.
func Bound(ctx context.Context, o Options) error { return rows.Bound(ctx, o) }

// Workspace returns the files of the workspace that the database keeps under the same root, for
// kernel.MemoryOptions.Files. All machines see the same files, and need no folder. Closing the
// store also closes the returned files.
func (s *Store) Workspace() markdownstore.Files { return s.in.Workspace() }

// State returns the store that package kernel uses.
func (s *Store) State() store.Store { return s.in }

// Close releases the locks and closes the connections. Callers must first close the kernels that
// use the store.
func (s *Store) Close() error { return s.in.Close() }
