package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"memkernel": func() { os.Exit(mainWithSignals()) }})
}

// TestScripts runs every script of testdata/script against the program. $SAMPLE
// is the bundled session, $SHORT its first turn.
func TestScripts(t *testing.T) {
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLE", abs)
			env.Setenv("NO_COLOR", "")
			short := filepath.Join(env.WorkDir, "short.jsonl")
			env.Setenv("SHORT", short)
			return os.WriteFile(short, bytes.Join(bytes.SplitAfterN(data, []byte("\n"), 79)[:78], nil), 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"narrow": narrow,
		},
	})
}

// narrow fails if a line of a file is over 80 columns.
func narrow(ts *testscript.TestScript, neg bool, args []string) {
	for i, l := range strings.Split(ts.ReadFile(args[0]), "\n") {
		if width(l) > columns {
			ts.Fatalf("line %d is %d columns wide: %s", i+1, width(l), l)
		}
	}
}
