package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// workspaceOf makes a folder of files, and settings of it as a process reads them.
func workspaceOf(t *testing.T, files ...string) (dir string, open func() *Settings) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range files {
		p := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("# "+f+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(dir, kernel.DefaultStateDir)
	return dir, func() *Settings {
		t.Helper()
		s := &Settings{Workspace: dir, StateDir: state}
		if s.Read() != nil {
			s.Config = config.Default()
		}
		return s
	}
}

// TestChoiceOutlivesTheFirstMemory: what an agent remembers in a folder of notes does not
// hide the notes, though it was never indexed before.
func TestChoiceOutlivesTheFirstMemory(t *testing.T) {
	dir, open := workspaceOf(t, "notes/a.md", "README.md")
	ctx := context.Background()
	k, err := open().Kernel(ctx, Needs{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, kernel.DefaultStateDir)); err == nil {
		t.Error("opening writes something")
	}
	if _, err := k.Remember(ctx, api.RememberRequest{Text: "we deploy at dusk", Private: true}); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	s := open()
	if o := s.storeOptions(); o.PrivateNotes || !slices.Equal(o.Include, markdownstore.Everything()) {
		t.Fatalf("the choice is not kept: %+v", o)
	}
	if text, err := os.ReadFile(filepath.Join(dir, kernel.DefaultStateDir, configName)); err == nil {
		t.Errorf("a configuration that nobody asked for:\n%s", text)
	}
	if k, err = s.Kernel(ctx, Needs{}); err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if r, err := k.Reindex(ctx, nil); err != nil || r.Added != 3 {
		t.Errorf("indexed %d, %v", r.Added, err)
	}
}

// TestMemoryWorkspaceKeepsItsWays: where agents keep memory other Markdown is read in
// private sessions alone, and nothing is written.
func TestMemoryWorkspaceKeepsItsWays(t *testing.T) {
	for _, file := range []string{"MEMORY.md", "memory/a.md", "SOUL.md"} {
		_, open := workspaceOf(t, file, "README.md")
		s := open()
		if o := s.storeOptions(); !o.PrivateNotes || o.Settle != nil {
			t.Errorf("%s: %+v", file, o)
		}
		for _, private := range []bool{true, false} {
			st, err := s.OpenStore(t.Context(), private)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			for _, one := range []*markdownstore.Store{st, st.Shared()} {
				_, err := one.Read("README.md", 1, 1)
				if open := private && one == st; open != (err == nil) {
					t.Errorf("%s: private %v: %v", file, private, err)
				}
			}
		}
	}
}
