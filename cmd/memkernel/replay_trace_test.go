package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
)

// tracedPlan plans a session twice and gives its trace.
func tracedPlan(t *testing.T) string {
	t.Helper()
	ws := t.TempDir()
	for _, n := range []int{20, 60} {
		if code, _, stderr := invoke(t, "plan", "-t", beginning(t, n), "--commit", "--session", "s", "--workspace", ws, "-q"); code != cli.ExitOK {
			t.Fatalf("plan: exit %d, %s", code, stderr)
		}
	}
	return filepath.Join(ws, ".memkernel", "sessions", "s", "trace.jsonl")
}

// retell writes a trace in which one text is another, whole in every line.
func retell(t *testing.T, path, old, now string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		_, rec, _ := strings.Cut(strings.TrimSuffix(l, "}"), `"rec":`)
		rec = strings.Replace(rec, old, now, 1)
		fmt.Fprintf(&out, `{"v":1,"n":%d,"crc":"%08x","rec":%s}`+"\n", len(rec), crc32.Checksum([]byte(rec), crc32.MakeTable(crc32.Castagnoli)), rec)
	}
	told := filepath.Join(t.TempDir(), "told.jsonl")
	if err := os.WriteFile(told, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return told
}

// TestReplayTrace: a session's trace is decided again; a decision that comes out
// otherwise is shown and the exit code is 3, unless another version made it.
func TestReplayTrace(t *testing.T) {
	path := tracedPlan(t)
	for _, tt := range []struct {
		name, path string
		code       int
		want       []string
	}{
		{"as it was", path, cli.ExitOK, []string{"2 plans, ", "every one the same"}},
		{"a reason", retell(t, path, `"reason":"none"`, `"reason":"cold"`), cli.ExitFindings, []string{"line 2 differs, after 0 plans", "decided by  plan_cut", "out.reason", `recorded    "cold"`, `replayed    "none"`}},
		{"another version", retell(t, retell(t, path, `"plan_cut":`, `"plan_cut":9`), `"reason":"none"`, `"reason":"cold"`), cli.ExitOK, []string{"2 plans, ", "by another version", "first on line 2", `replayed    "none"`}},
		{"no trace", filepath.Join(filepath.Dir(path), "journal.jsonl"), cli.ExitError, []string{"no trace: the first line is no header", "hint: a trace is trace.jsonl"}},
		{"newer", retell(t, path, `"format":2`, `"format":9`), cli.ExitError, []string{"written by a newer version"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := invoke(t, "replay", "--trace", tt.path)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, w := range tt.want {
				if !strings.Contains(stdout+stderr, w) {
					t.Errorf("%q is missing in\n%s%s", w, stdout, stderr)
				}
			}
		})
	}
}
