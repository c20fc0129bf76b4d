package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	if !slices.Equal(s.Config.Index.Include, markdownstore.Everything()) {
		t.Fatalf("the choice is not written: %q", s.Config.Index.Include)
	}
	if k, err = s.Kernel(ctx, Needs{}); err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if r, err := k.Reindex(ctx, nil); err != nil || r.Added != 3 {
		t.Errorf("indexed %d, %v", r.Added, err)
	}
}

// TestChoiceByMany: processes that choose at once write it once, and nobody's words go.
func TestChoiceByMany(t *testing.T) {
	dir, open := workspaceOf(t, "a.md", ".memkernel/x")
	path := filepath.Join(dir, kernel.DefaultStateDir, configName)
	if err := os.WriteFile(path, []byte("# mine\naudit: {host: codex}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	var choices []markdownstore.Options
	for range 8 {
		choices = append(choices, open().storeOptions())
	}
	var all sync.WaitGroup
	for _, o := range choices {
		all.Go(func() {
			for range 3 {
				if err := o.Settle(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "# mine\naudit: {host: codex}\n") || strings.Count(string(text), "include:") != 1 {
		t.Errorf("%s, %v", text, err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode is %v, %v", fi.Mode(), err)
	}
}

// TestChoiceThatCantBeWritten: a file that is none of the program's is left alone, the
// index is made all the same, and it says so.
func TestChoiceThatCantBeWritten(t *testing.T) {
	dir, open := workspaceOf(t, "a.md", "elsewhere.yaml", ".memkernel/x")
	if err := os.Symlink("../elsewhere.yaml", filepath.Join(dir, kernel.DefaultStateDir, configName)); err != nil {
		t.Skip(err)
	}
	s := open()
	s.Config = config.Default()
	k, err := s.Kernel(context.Background(), Needs{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	r, err := k.Reindex(context.Background(), nil)
	if err != nil || r.Added != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0].Reason, configName) {
		t.Errorf("%+v, %v", r, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "elsewhere.yaml")); string(text) != "# elsewhere.yaml\n" {
		t.Errorf("what the link leads to was written: %s", text)
	}
}

// TestOwnChoice: the workspace's choice holds beside a file that the user names, unless
// that says otherwise; nothing else of it does.
func TestOwnChoice(t *testing.T) {
	dir, open := workspaceOf(t, ".memkernel/x")
	own := filepath.Join(dir, kernel.DefaultStateDir, configName)
	if err := os.WriteFile(own, []byte("index: {include: [docs], folders: [/etc]}\naudit: {host: codex}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{"plan: {reserve: 9k}\n": {"docs"}, "index: {include: []}\n": {}, "index: {include: [a]}\n": {"a"}} {
		s := open()
		c, err := config.Read(strings.NewReader(text), "mine.yaml")
		if err != nil {
			t.Fatal(err)
		}
		s.Config, s.ConfigPath = c, "mine.yaml"
		if err := s.OwnChoice(); err != nil || !slices.Equal(c.Index.Include, want) || len(c.Index.Folders) > 0 || c.Audit.Host != "openclaw" {
			t.Errorf("%q: %q, %q, %v", text, c.Index.Include, c.Index.Folders, err)
		}
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

// TestOnlyWritten: what the first index writes is the program's own to the byte; with one byte
// more, less or other it is somebody's.
func TestOnlyWritten(t *testing.T) {
	dir, open := workspaceOf(t, "a.md")
	if err := open().storeOptions().Settle(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, kernel.DefaultStateDir, configName))
	if err != nil || !OnlyWritten(text) {
		t.Errorf("%v, not known as ours:\n%s", err, text)
	}
	for i := range text {
		for _, other := range []string{string(text[:i]) + string(text[i+1:]), string(text[:i]) + "x" + string(text[i:]), string(text[:i]) + string(text[i]^1) + string(text[i+1:])} {
			if other != string(text) && OnlyWritten([]byte(other)) {
				t.Fatalf("taken for ours:\n%s", other)
			}
		}
	}
	if OnlyWritten(nil) {
		t.Error("an empty file is somebody's")
	}
}
