package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/scripttest"
)

// TestMain lets every test's day begin where the sample's does, wherever the machine
// stands.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	testscript.Main(m, map[string]func(){"memkernel": func() { os.Exit(command.Main()) }, "client": client})
}

// TestScripts runs every script of testdata/script against the program. $SAMPLE
// is the bundled session, $SHORT its first turn, $WS the bundled workspace.
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
	fake := &models{}
	testscript.Run(t, testscript.Params{
		Dir: scripts,
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
			"verb":      scripttest.Verb(scripts, checked(t, command.Run)),
			"narrow":    narrow,
			"hold":      hold,
			"spoil":     spoil,
			"cut":       cutFile,
			"waitfor":   waitFor,
			"envsubst":  scripttest.Envsubst,
			"checksum":  checksum,
			"recorded":  recorded,
			"append":    appendText,
			"citation":  scripttest.Citation,
			"fakemodel": fake.fakeModel,
			"billed":    fake.billed,
		},
	})
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
