package pgindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// Options says where an index is and to which agent it belongs.
type Options struct {
	// DSN names the server and the database, as a URL or as key=value pairs. It must name the
	// host. A DSN without a password means an empty one, even if the environment holds one.
	DSN string
	// Schema is the schema of the tables; default memkernel.
	Schema string
	// Workspace names the workspace. The name must be the same on every host that shares the
	// workspace.
	Workspace string
	// Agent names the agent that writes; the default is "default". A host with its own files
	// should be a separate agent.
	Agent string
	// Private reports whether only this agent sees a file. If Private is nil, only this agent
	// sees its files.
	Private func(path string) bool
}

const (
	statementTimeout = 30 * time.Second
	connectTimeout   = 5 * time.Second
	maxConns         = 4
)

// defaultAgent is the default of Options.Agent.
const defaultAgent = "default"

var (
	schemaName = textutil.LazyRegexp(`^[a-z_][a-z0-9_]{0,62}$`)
	ownerName  = textutil.LazyRegexp(`^[\pL\pN][\pL\pN._-]{0,99}$`)
)

// check fills in the defaults and returns an error for impossible values.
func (o *Options) check() error {
	o.Schema, o.Agent = cmp.Or(o.Schema, "memkernel"), cmp.Or(o.Agent, defaultAgent)
	if o.Private == nil {
		o.Private = func(string) bool { return true }
	}
	switch {
	case !schemaName.MatchString(o.Schema):
		return fmt.Errorf("schema %q: take lower case letters, digits and _", o.Schema)
	case o.Workspace == "":
		return errors.New("the workspace has no name: name it alike on every host that shares it")
	case !ownerName.MatchString(o.Workspace):
		return fmt.Errorf("workspace %q: take letters, digits, and . _ - between them", o.Workspace)
	case !ownerName.MatchString(o.Agent):
		return fmt.Errorf("agent %q: take letters, digits, and . _ - between them", o.Agent)
	}
	return nil
}

// pool returns the configuration of the connections. Its errors never repeat the DSN, which may
// hold a password.
func (o *Options) pool() (*pgxpool.Config, error) {
	c, err := pgdsn.Config(o.DSN)
	if err != nil {
		return nil, err
	}
	c.MaxConns, c.MinConns = maxConns, 0
	c.ConnConfig.ConnectTimeout = connectTimeout
	c.ConnConfig.RuntimeParams["application_name"] = "memkernel"
	// A statement sets these settings because not every server and pooler accepts them when a
	// connection starts. A transaction whose program died must not hold its locks for ever.
	// Compiling a statement (jit) takes longer than running it.
	ms := statementTimeout.Milliseconds()
	settings := fmt.Sprintf(`SELECT set_config('search_path', '%s, public' || coalesce((SELECT ', ' || quote_ident(n.nspname)
		FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid=e.extnamespace WHERE e.extname='vector'), ''), false);
		SET statement_timeout = %d; SET jit = off; SET idle_in_transaction_session_timeout = %d`, o.Schema, ms, 2*ms)
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.PgConn().Exec(ctx, settings).ReadAll()
		return err
	}
	return c, nil
}

// Place names the database for people: host, port, database, schema, workspace and agent, never a
// password.
func (o *Options) Place() string {
	place := pgdsn.Place(o.DSN)
	if place == "postgres" { // the DSN can't be parsed
		return place
	}
	owner := o.Workspace
	if o.Agent != "" && o.Agent != defaultAgent {
		owner += "@" + o.Agent
	}
	return place + "#" + owner
}
