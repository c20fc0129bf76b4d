package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// Databases opens the stores that a configuration keeps in databases. Only memkernel-server has
// it.
type Databases interface {
	// State opens the database that keeps the state.
	State(context.Context, *Settings) (Database, error)
	// Index returns the index in a database. It does not open the database.
	Index(*Settings) (api.Backend, error)
}

var errNoDatabases = errors.New("memkernel keeps state and index in files; memkernel-server keeps them in PostgreSQL")

// Database keeps the state, and may keep the workspace's Markdown.
type Database interface {
	kernel.Store
	io.Closer
	// Workspace is the workspace's Markdown.
	Workspace() markdownstore.Files
}

// Stored returns the configured store of the state.
func (s *Settings) Stored(ctx context.Context) (store.Store, error) {
	if s.Config.Store.Backend != "postgres" {
		return store.Files(s.StateDir), nil
	}
	db, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	return db.State(), nil
}

// State opens the database that keeps the state. Later calls return the same database. Close
// closes it.
func (s *Settings) State(ctx context.Context) (Database, error) {
	if s.state != nil {
		return s.state, nil
	}
	if s.Databases == nil {
		return nil, errNoDatabases
	}
	db, err := s.Databases.State(ctx, s)
	if err == nil {
		s.state = db
	}
	return s.state, err
}

// Close closes the database that keeps the state, if it was opened.
func (s *Settings) Close() error {
	if s.state == nil {
		return nil
	}
	defer func() { s.state = nil }()
	return s.state.Close()
}

// daemonLock is the lock that a running 'memkernel serve' holds in the state folder.
const daemonLock = "serve.lock"

// NoDaemon prevents the start of a daemon for a state folder until the caller calls release. It
// returns an error if a daemon runs.
func NoDaemon(stateDir string) (release func(), err error) {
	release, err = store.Files(stateDir).Lock(daemonLock, store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, Hint(fmt.Errorf("'memkernel serve' is running for %s", stateDir), "end it, and run this again")
	}
	return release, err
}
