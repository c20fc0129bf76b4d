package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/suite"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestExplainGolden holds the picture of the bundled sample.
func TestExplainGolden(t *testing.T) {
	ws := t.TempDir()
	tests := []struct {
		name string
		args []string
	}{
		{"host", nil},
		{"full", []string{"--view", "full", "--fixed-tokens", "25140", "--resolver", "page"}},
		{"middle", []string{"--view", "full", "--fixed-tokens", "25140", "--context-window", "128k", "--at", "120"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"plan", "-t", sample, "--explain", "--quiet", "--color", "never", "--workspace", ws}, tt.args...)
			code, got, stderr := invoke(t, args...)
			if code != cli.ExitOK || stderr != "" {
				t.Fatalf("exit %d, stderr %q", code, stderr)
			}
			path := filepath.Join("testdata", "golden", tt.name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("explanation differs from %s; if it should, run go test -update (-want +got):\n%s", path, diff)
			}
		})
	}
}

// TestSharedSessions explains and prints every recorded session at hand, at
// windows that need cuts and windows that don't; the quick suite takes a few.
func TestSharedSessions(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions at ../../../shared/data/transcripts")
	}
	ws := t.TempDir()
	for _, f := range suite.Some(files, 1) {
		for _, args := range [][]string{
			{"--context-window", "200k"},
			{"--context-window", "128k", "--fixed-tokens", "40000", "--view", "full", "--resolver", "page"},
		} {
			args = append([]string{"plan", "-t", f, "-q", "--workspace", ws}, args...)
			code, got, stderr := invoke(t, append(args, "--explain")...)
			if code != cli.ExitOK {
				t.Errorf("%s: exit %d, %s", filepath.Base(f), code, stderr)
				continue
			}
			for i, l := range strings.Split(got, "\n") {
				if display.Width(l) > display.Columns {
					t.Errorf("%s %v: line %d is %d columns wide", filepath.Base(f), args, i+1, display.Width(l))
				}
			}
		}
	}
}
