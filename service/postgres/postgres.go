// Package postgres keeps a kernel's state in a PostgreSQL database, so that several machines
// may serve the same sessions. Journals, blobs, checkpoints and locks are in the database.
// The files of one machine, such as its index and its sockets, stay in its state directory.
//
//	state, err := postgres.Open(ctx, os.Getenv("STATE_DSN"), "shop")
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
	"fmt"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/service/internal/bucket"
	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// Store is the state of one workspace in a database. It is safe for concurrent use, and
// several kernels may share it.
type Store struct{ in *pgstore.Store }

// Open opens the state with the name root in the database dsn, and creates missing tables. The
// name must be the same on every machine that shares the state. The DSN is a URL or key=value
// pairs, and must name the host. No error repeats the DSN's password.
func Open(ctx context.Context, dsn, root string, with ...Option) (*Store, error) {
	return open(ctx, pgstore.Open, dsn, root, with)
}

// OpenTenant opens the state of one of several tenants in a database, as Open does. Its
// connections can reach only that root, whatever statement they send: they log in as the tenant's
// own role, to which row-level security applies. The user of the DSN creates the roles and owns
// the tables. That user must not be a superuser.
func OpenTenant(ctx context.Context, dsn, root string, with ...Option) (*Store, error) {
	return open(ctx, pgstore.OpenTenant, dsn, root, with)
}

func open(ctx context.Context, by func(context.Context, pgstore.Options) (*pgstore.Store, error), dsn, root string, with []Option) (*Store, error) {
	o := pgstore.Options{DSN: dsn, Root: root}
	for _, w := range with {
		if err := w(&o); err != nil {
			return nil, err
		}
	}
	s, err := by(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// Bound returns an error if row-level security would not bind the user of a DSN. Such a user, for
// example a superuser, must not serve tenants. Bound creates no tables.
func Bound(ctx context.Context, dsn, root string) error {
	return pgstore.Bound(ctx, pgstore.Options{DSN: dsn, Root: root})
}

// Option is an option of [Open] and [OpenTenant].
type Option func(*pgstore.Options) error

// Bucket is a bucket of a server that speaks Amazon's S3.
type Bucket struct {
	// Name is the bucket's name. Prefix begins every key in it.
	Name, Prefix string
	// Endpoint is the server, as https://host:port. The default is Amazon's server of the region.
	Endpoint string
	// Region is the bucket's region. The default is us-east-1.
	Region string
	// AccessKey, SecretKey and SessionToken are the credentials. No error repeats them.
	AccessKey, SecretKey, SessionToken string
	// VirtualHost puts the bucket's name before the host's instead of into the path.
	VirtualHost bool
	// Above is the size in bytes above which contents are kept in the bucket. 0 means 256 KiB.
	Above int64
}

// Lease sets how long a lock outlives a machine that was killed. 0 means 15 s. A machine that is
// paused for longer may lose its locks.
func Lease(d time.Duration) Option {
	return func(o *pgstore.Options) error {
		o.Lease = d
		return nil
	}
}

// above is the default of Bucket.Above.
const above = pgstore.DefaultAbove

// WithBucket keeps large tool results and media in a bucket instead of the database, under keys
// that hold their hashes. Contents that are already in the database stay there.
func WithBucket(b Bucket) Option {
	return func(o *pgstore.Options) error {
		in, err := bucket.New(bucket.Options{Endpoint: b.Endpoint, Bucket: b.Name, Prefix: b.Prefix, Region: b.Region, AccessKey: b.AccessKey,
			SecretKey: b.SecretKey, SessionToken: b.SessionToken, VirtualHost: b.VirtualHost})
		if err != nil {
			return fmt.Errorf("keep blobs in a bucket: %w", err)
		}
		o.Bucket, o.Above = in, b.Above
		if o.Above <= 0 {
			o.Above = above
		}
		return nil
	}
}

// Workspace returns the files of the workspace that the database keeps under the same root, for
// kernel.MemoryOptions.Files. All machines see the same files, and need no folder. Closing the
// store also closes the returned files.
func (s *Store) Workspace() markdownstore.Files { return s.in.Workspace() }

// State returns the store that package kernel uses.
func (s *Store) State() store.Store { return s.in }

// Close releases the locks and closes the connections. Callers must first close the kernels that
// use the store.
func (s *Store) Close() error { return s.in.Close() }
