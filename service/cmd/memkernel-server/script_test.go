package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memkernel/memkernel/internal/scripttest"
	"github.com/memkernel/memkernel/service/internal/pgtest"
)

const sample = "../../../testdata/session.jsonl"

// TestMain lets every test's day begin where the sample's does, wherever the machine
// stands.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	testscript.Main(endsServer{m}, map[string]func(){"memkernel-server": func() { os.Exit(command.Main()) }})
}

// TestScripts runs every script of testdata/script against the program. $SAMPLE is the bundled
// session, $SHORT its first turn, $WS the bundled workspace.
func TestScripts(t *testing.T) {
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Abs("testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: scripts,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLE", abs)
			env.Setenv("NO_COLOR", "")
			env.Setenv("WS", filepath.Join(filepath.Dir(abs), "workspace"))
			short := filepath.Join(env.WorkDir, "short.jsonl")
			env.Setenv("SHORT", short)
			return os.WriteFile(short, bytes.Join(bytes.SplitAfterN(data, []byte("\n"), 79)[:78], nil), 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"verb":     scripttest.Verb(scripts, command.Run),
			"envsubst": scripttest.Envsubst,
			"citation": scripttest.Citation,
			"database": database,
			"owner":    owner,
		},
		Condition: func(cond string) (bool, error) {
			if cond != "postgres" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			_, err := postgresServer()
			return err == nil, nil
		},
	})
}

// postgresServer starts a database for all scripts.
var postgresServer = sync.OnceValues(func() (dsn string, err error) {
	dsn, stopServer, err = pgtest.Start()
	return dsn, err
})

var stopServer func()

// endsServer stops the database after all tests.
type endsServer struct{ *testing.M }

func (m endsServer) Run() int {
	code := m.M.Run()
	if stopServer != nil {
		stopServer()
	}
	return code
}

// database makes an empty database and gives a variable its address.
func database(ts *testscript.TestScript, neg bool, args []string) {
	dsn, err := postgresServer()
	ts.Check(err)
	c, err := pgx.Connect(context.Background(), dsn)
	ts.Check(err)
	defer c.Close(context.Background())
	name := fmt.Sprintf("script_%d", time.Now().UnixNano())
	_, err = c.Exec(context.Background(), "CREATE DATABASE "+name)
	ts.Check(err)
	ts.Setenv(args[0], strings.Replace(dsn, "dbname=postgres", "dbname="+name, 1))
}

// owner has a variable that names a database name a user in it who owns what it makes, and may
// make roles, as tenants need it.
func owner(ts *testscript.TestScript, neg bool, args []string) {
	dsn := ts.Getenv(args[0])
	c, err := pgx.Connect(context.Background(), dsn)
	ts.Check(err)
	defer c.Close(context.Background())
	name := fmt.Sprintf("owner_%d", time.Now().UnixNano())
	for _, q := range []string{"CREATE ROLE " + name + " LOGIN CREATEROLE", "GRANT CREATE ON DATABASE " + c.Config().Database + " TO " + name} {
		_, err = c.Exec(context.Background(), q)
		ts.Check(err)
	}
	ts.Setenv(args[0], strings.Replace(dsn, "user=postgres", "user="+name, 1))
}
