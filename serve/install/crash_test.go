package install

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/suite"
)

// beforeCrash is a project that some hosts have settings in.
func beforeCrash(t *testing.T, dir string) *Installer {
	in := site(t, dir)
	write(t, in, ".mcp.json", "{\n  \"a\": 1\n}")
	write(t, in, ".gemini/settings.json", "{\n  // mine\n}\n")
	write(t, in, ".clinerules", "Be kind.")
	return in
}

var crashHosts = []string{"claude", "codex", "gemini", "opencode", "aider", "zed", "cline"}

// TestPutScript puts memkernel in, and takes it out again.
func TestPutScript(t *testing.T) {
	in := beforeCrash(t, suite.Child(t))
	whole(t, put(t, in, crashHosts...))
	whole(t, takeOut(t, in))
}

// TestKilledAtEveryWrite: whenever the program is killed, a second run of either verb
// completes: all is there, or all is as it was.
func TestKilledAtEveryWrite(t *testing.T) {
	plain := beforeCrash(t, t.TempDir())
	relative := func(in *Installer) map[string]string {
		out := map[string]string{}
		for path, text := range tree(t, in.Workspace) {
			out[path[len(in.Workspace):]] = text
		}
		return out
	}
	want := relative(plain)
	put(t, plain, crashHosts...)
	full := relative(plain)
	suite.EveryWrite(t, "TestPutScript", 60, func(dir string, n int, _ []byte) {
		if _, err := os.Stat(dir + "/project/.gemini"); err != nil {
			t.Fatal(err)
		}
		in := site(t, dir)
		if n%2 == 0 {
			whole(t, put(t, in, crashHosts...))
			if d := cmp.Diff(full, relative(in)); d != "" {
				t.Errorf("killed at %d, put in again: %s", n, d)
			}
		}
		whole(t, takeOut(t, in))
		if d := cmp.Diff(want, relative(in)); d != "" {
			t.Errorf("killed at %d: %s", n, d)
		}
	})
}
