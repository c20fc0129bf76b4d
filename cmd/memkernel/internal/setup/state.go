package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/safename"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/store/postgres"
)

// Stored is where the state is kept, as it is configured.
func (s *Settings) Stored(ctx context.Context) (kernel.Store, error) {
	if s.Config.Store.Backend != "postgres" {
		return kernel.Files(s.StateDir), nil
	}
	db, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// State opens the database that keeps the state, once; Close closes it.
func (s *Settings) State(ctx context.Context) (*postgres.Store, error) {
	if s.state != nil {
		return s.state, nil
	}
	dsn, root, err := database(s)
	if err != nil {
		return nil, err
	}
	if s.tenant != "" {
		s.state, err = postgres.OpenTenant(ctx, dsn, tenantRoot(root, s.tenant))
		return s.state, err
	}
	s.state, err = postgres.Open(ctx, dsn, root)
	return s.state, err
}

// BoundByPolicies refuses a database whose user could not keep tenants apart in it.
func (s *Settings) BoundByPolicies(ctx context.Context) error {
	if s.Config.Store.Backend != "postgres" {
		return nil
	}
	dsn, root, err := database(s)
	if err != nil {
		return err
	}
	return postgres.Bound(ctx, dsn, root)
}

// tenantRoot names the state of a tenant in a database. No two of a server share one, and none
// is the beginning of another.
func tenantRoot(root, tenant string) string { return root + "/tenants/" + safename.Of(tenant) }

// Close lets go of the database that keeps the state, if it was opened.
func (s *Settings) Close() error {
	if s.state == nil {
		return nil
	}
	defer func() { s.state = nil }()
	return s.state.Close()
}

// database is the address of the database that keeps the state, and the state's name in it.
func database(s *Settings) (dsn, root string, err error) {
	p := &s.Config.Store.Postgres
	root = cmp.Or(p.Root, s.Config.Index.Postgres.Workspace)
	dsn = os.Getenv(string(p.DSNEnv))
	switch {
	case s.ConfigPath == "" && (p.DSNEnv != "" || s.Config.Store.Backend == "postgres"):
		err = fail.Hint(fmt.Errorf("%s: store.postgres: all that sessions hold would be sent to a database, and this file may have come with the project", s.Config.Origin("store.backend")),
			"if you want that, say so by --config %s; else set store.backend to files", cmp.Or(s.ConfigFile, "FILE"))
	case p.DSNEnv == "":
		err = fail.Hint(errors.New("no database is named for the state"), "set store.postgres.dsn_env to the name of a variable that holds a DSN, such as postgres://me:secret@host/memory")
	case root == "":
		err = fail.Hint(errors.New("the state has no name in the database"), "set store.postgres.root, alike on every machine that shares it")
	case dsn == "":
		err = fail.Hint(fmt.Errorf("%s: the variable %s is empty", s.Config.Origin("store.postgres.dsn_env"), p.DSNEnv), "put the DSN into it, such as postgres://me:secret@host/memory")
	}
	return dsn, root, err
}

// daemonLock is the lock that a running 'memkernel serve' holds in the state folder.
const daemonLock = "serve.lock"

// NoDaemon keeps a daemon of a state folder from being started, and refuses if one runs.
func NoDaemon(stateDir string) (release func(), err error) {
	release, err = store.Files(stateDir).Lock(daemonLock, store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, fail.Hint(fmt.Errorf("'memkernel serve' is running for %s", stateDir), "end it, and run this again")
	}
	return release, err
}
