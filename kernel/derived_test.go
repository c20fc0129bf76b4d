package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
)

// A night tells the contradictions of files as they are, whatever it kept of the night before: of
// a file that was changed, of one that was not, and after the kept results were deleted or damaged.
func TestNightsTellTheSame(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		putAt(t, filepath.Join(dir, name), text, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	}
	put("MEMORY.md", "# Memory\n\n- The ferry listens on port 8080.\n")
	put("memory/ports.md", "# Ports\n\n- Ferry port: 8080\n- The crane waits 30 s for an answer.\n")
	put("memory/other.md", "# Other\n\n- The quay is long.\n")
	told := func() string {
		t.Helper()
		k := nightKernel(t, dir)
		defer k.Close()
		n, err := k.Maintenance().Nightly(t.Context(), api.NightlyRequest{Now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range n.Audit.Findings {
			if f.Code == health.Contradictions {
				out = append(out, f.Place.String())
			}
		}
		return strings.Join(out, " ")
	}
	derived := filepath.Join(dir, ".memkernel", "derived.json")
	for _, c := range []struct{ name, file, text, want string }{
		{"agreeing", "memory/other.md", "# Other\n", ""},
		{"again", "memory/other.md", "# Other\n", ""},
		{"changed", "memory/ports.md", "# Ports\n\n- Ferry port: 9090\n- The crane waits 30 s for an answer.\n", "memory/ports.md:3"},
		{"unchanged", "memory/other.md", "# Other\n", "memory/ports.md:3"},
		{"deleted", "derived", "", "memory/ports.md:3"},
		{"damaged", "derived", "{", "memory/ports.md:3"},
		{"mended", "memory/ports.md", "# Ports\n\n- Ferry port: 8080\n", ""},
		{"in a third file", "memory/other.md", "# Other\n\n- The port of the ferry is 7070.\n", "memory/other.md:3 memory/ports.md:3"},
	} {
		switch {
		case c.file != "derived":
			put(c.file, c.text)
		case c.text == "":
			if err := os.Remove(derived); err != nil {
				t.Fatal(err)
			}
		default:
			put(".memkernel/derived.json", c.text)
		}
		if got := told(); got != c.want {
			t.Errorf("%s: told of %q, want %q", c.name, got, c.want)
		}
	}
}
