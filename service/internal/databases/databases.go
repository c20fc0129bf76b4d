// Package databases opens the parts of a configuration that are kept in PostgreSQL. Only this
// package turns these settings into options.
package databases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/service/pgindex"
	"github.com/memkernel/memkernel/service/postgres"
)

// PostgreSQL opens the databases of memkernel-server.
type PostgreSQL struct{}

// State opens the database that keeps the state.
func (PostgreSQL) State(ctx context.Context, s *cli.Settings) (cli.Database, error) {
	o, err := database(s)
	if err != nil {
		return nil, err
	}
	open := postgres.Open
	if s.TenantName != "" {
		open, o.Root = postgres.OpenTenant, tenantRoot(o.Root, s.TenantName)
	}
	db, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Index returns the index that a database keeps. It opens no connection yet.
func (PostgreSQL) Index(s *cli.Settings) (api.Backend, error) {
	o, err := postgresOptions(s)
	if err != nil {
		return api.Backend{}, err
	}
	return postgresBackend(o), nil
}

// BoundByPolicies returns an error if the database's policies would not bind its user, so that
// the server could not keep tenants apart.
func BoundByPolicies(ctx context.Context, s *cli.Settings) error {
	if s.Config.Store.Backend != "postgres" {
		return nil
	}
	o, err := database(s)
	if err != nil {
		return err
	}
	return postgres.Bound(ctx, o)
}

// tenantRoot names the state of a tenant in a database. No two tenants of a server share a name,
// and no name is a prefix of another.
func tenantRoot(root, tenant string) string { return root + "/tenants/" + textutil.SafeName(tenant) }

// database returns the location of the state, if a database keeps the state.
func database(s *cli.Settings) (o postgres.Options, err error) {
	p := &s.Config.Store.Postgres
	o = postgres.Options{DSN: os.Getenv(string(p.DSNEnv)), Root: cmp.Or(p.Root, s.Config.Index.Postgres.Workspace), Lease: time.Duration(p.Lease)}
	switch {
	case p.DSNEnv == "":
		err = cli.Hint(errors.New("no database is named for the state"), "set store.postgres.dsn_env to the name of a variable that holds a DSN, such as postgres://me:secret@host/memory")
	case o.Root == "":
		err = cli.Hint(errors.New("the state has no name in the database"), "set store.postgres.root, alike on every machine that shares it")
	case o.DSN == "":
		err = cli.Hint(fmt.Errorf("%s: the variable %s is empty", s.Config.Origin("store.postgres.dsn_env"), p.DSNEnv), "put the DSN into it, such as postgres://me:secret@host/memory")
	}
	return o, err
}

// leaveAlone is how long after a failed attempt to open a database no other attempt is made.
const leaveAlone = 15 * time.Second

func postgresBackend(o pgindex.Options) api.Backend {
	some := func(ix *pgindex.Index, err error) (api.MemoryIndex, error) {
		if err != nil {
			return nil, err
		}
		return ix, nil
	}
	return api.Backend{Name: "postgres", Place: o.Place(), Shared: true, LeaveAlone: leaveAlone,
		Open: func(ctx context.Context, i *index.Options) (api.MemoryIndex, error) {
			return some(pgindex.Open(ctx, o, i))
		},
		Rebuild: func(ctx context.Context, i *index.Options) (api.MemoryIndex, error) {
			return some(pgindex.Rebuild(ctx, o, i))
		}}
}

// postgresOptions returns the options of the index from the configuration.
func postgresOptions(s *cli.Settings) (pgindex.Options, error) {
	p := &s.Config.Index.Postgres
	o := pgindex.Options{DSN: string(p.DSN), Workspace: p.Workspace, Agent: p.Agent,
		Private: func(path string) bool {
			c, ok := markdownstore.Classify(path)
			return !p.Share || !ok || !c.Memory || c.Private
		}}
	if p.DSNEnv != "" {
		o.DSN = os.Getenv(string(p.DSNEnv))
		if o.DSN == "" {
			return o, cli.Hint(fmt.Errorf("%s: the variable %s is empty", s.Config.Origin("index.postgres.dsn_env"), p.DSNEnv), "put the DSN into it, such as postgres://me:secret@host/memory")
		}
	}
	switch {
	case o.DSN == "":
		return o, cli.Hint(fmt.Errorf("no database is named"), "set index.postgres.dsn, or index.postgres.dsn_env if it holds a password")
	case o.Workspace == "":
		return o, cli.Hint(fmt.Errorf("the workspace has no name in the database"), "set index.postgres.workspace, alike on every host that shares it")
	}
	return o, nil
}
