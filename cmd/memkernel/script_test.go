package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/pgtest"
	"github.com/memkernel/memkernel/internal/s3test"
)

// TestMain lets every test's day begin where the sample's does, wherever the machine
// stands.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	testscript.Main(endsServer{m}, map[string]func(){"memkernel": func() { os.Exit(command.Main()) }, "client": client})
}

// TestScripts runs every script of testdata/script against the program. $SAMPLE
// is the bundled session, $SHORT its first turn, $WS the bundled workspace.
func TestScripts(t *testing.T) {
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	fake := &models{}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLE", abs)
			env.Setenv("NO_COLOR", "")
			env.Setenv("WS", filepath.Join(filepath.Dir(abs), "workspace"))
			// A socket's path has to be short, which the script's own folder need not be.
			sockets, err := os.MkdirTemp("", "mk")
			if err != nil {
				return err
			}
			env.Defer(func() { os.RemoveAll(sockets) })
			env.Setenv("SOCKETS", sockets)
			short := filepath.Join(env.WorkDir, "short.jsonl")
			env.Setenv("SHORT", short)
			return os.WriteFile(short, bytes.Join(bytes.SplitAfterN(data, []byte("\n"), 79)[:78], nil), 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"narrow":    narrow,
			"hold":      hold,
			"spoil":     spoil,
			"cut":       cutFile,
			"waitfor":   waitFor,
			"envsubst":  envsubst,
			"checksum":  checksum,
			"recorded":  recorded,
			"append":    appendText,
			"citation":  citation,
			"fakemodel": fake.fakeModel,
			"billed":    fake.billed,
			"database":  database,
			"bucket":    bucket,
			"owner":     owner,
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

// endsServer ends it behind all tests.
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

// bucket serves an empty bucket for a script, and gives a variable its server's address. What
// else is said is how the server misbehaves.
func bucket(ts *testscript.TestScript, neg bool, args []string) {
	s := s3test.Start()
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
	if len(args) > 1 {
		s.SetFault(s3test.Refuse(http.StatusForbidden, args[1]))
	}
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

// cutFile takes a number of bytes off the end of a file.
func cutFile(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	fi, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, fi.Size()-n))
}

// appendText adds text to the end of a file.
func appendText(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+args[1]), 0o600))
}

// citation puts the first word that the last program printed into a variable.
func citation(ts *testscript.TestScript, neg bool, args []string) {
	place, _, _ := strings.Cut(ts.ReadFile("stdout"), " ")
	ts.Setenv(args[0], place)
}

// waitFor waits until a file is there.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	for range 12000 {
		if _, err := os.Lstat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s does not appear", args[0])
}

// hold keeps the lock of a file until the script ends.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	l := flock.New(ts.MkAbs(args[0]))
	ts.Check(l.Lock())
	ts.Defer(func() { l.Unlock() })
}

// spoil overwrites the beginning of a file.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	defer f.Close()
	_, err = f.WriteAt(make([]byte, 64), 0)
	ts.Check(err)
}

// envsubst puts variables of the script's environment into a file, as JSON strings
// have them.
func envsubst(ts *testscript.TestScript, neg bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), func(name string) string {
		return strings.ReplaceAll(ts.Getenv(name), `\`, `\\`)
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// checksum writes the names, modes and hashes of all that is in folders, state folders
// apart, to a file.
func checksum(ts *testscript.TestScript, neg bool, args []string) {
	var out strings.Builder
	for _, dir := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Name() == ".memkernel" {
				return fs.SkipDir
			}
			st, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprint(&out, st.Mode(), " ", path)
			if st.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(&out, " %x", sha256.Sum256(data))
			}
			fmt.Fprintln(&out)
			return nil
		}))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out.String()), 0o600))
}

// recorded puts two sessions of a project where Claude Code keeps them in a home.
func recorded(ts *testscript.TestScript, neg bool, args []string) {
	project, err := filepath.EvalSymlinks(ts.MkAbs(args[1]))
	ts.Check(err)
	name := regexp.MustCompile("[^a-zA-Z0-9]").ReplaceAllString(project, "-")
	dir := filepath.Join(ts.MkAbs(args[0]), ".claude", "projects", name)
	ts.Check(os.MkdirAll(dir, 0o755))
	data, err := os.ReadFile(ts.Getenv("SHORT"))
	ts.Check(err)
	for _, name := range []string{"one.jsonl", "two.jsonl"} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
}

// narrow fails if a line of a file is over 80 columns.
func narrow(ts *testscript.TestScript, neg bool, args []string) {
	for i, l := range strings.Split(ts.ReadFile(args[0]), "\n") {
		if display.Width(l) > display.Columns {
			ts.Fatalf("line %d is %d columns wide: %s", i+1, display.Width(l), l)
		}
	}
}
