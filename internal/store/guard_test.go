package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
)

// TestKeepOutOfGit: a file that lets git see the state is made anew, and so is a link; one
// that shows the configuration alone stays as it is.
func TestKeepOutOfGit(t *testing.T) {
	for rules, stays := range map[string]bool{
		"*\n":                             true,
		"# ours\n*\r\n":                   true,
		"*\n!config.yaml\n!/.gitignore\n": true,
		"":                                false,
		"sessions/\n":                     false,
		"*\n!sessions\n":                  false,
		"!*\n":                            false,
		"*\n!/sessions/**\n":              false,
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, ".gitignore")
		if err := os.WriteFile(at, []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := store.KeepOutOfGit(store.Files(dir)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(at)
		if want := "*\n"; err != nil || stays != (string(got) == rules) || !stays && string(got) != want {
			t.Errorf("%q became %q, %v", rules, got, err)
		}
	}
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, ".gitignore")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := store.KeepOutOfGit(store.Files(dir)); err != nil {
		t.Fatal(err)
	}
	i, err := os.Lstat(filepath.Join(dir, ".gitignore"))
	if text, _ := os.ReadFile(other); err != nil || !i.Mode().IsRegular() || string(text) != "theirs" {
		t.Errorf("a link: %v, %v, and where it leads %q", i, err, text)
	}
}

// TestNarrow: what others may read in a state directory they no longer may, links are left
// alone, and one that is its owner's already is not touched.
func TestNarrow(t *testing.T) {
	dir, other := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "other")
	if err := os.MkdirAll(filepath.Join(dir, "sessions", "s"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{filepath.Join(dir, "index.sqlite"), filepath.Join(dir, "sessions", "s", "journal.jsonl"), other} {
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(f, 0o664); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != 0o755 {
		t.Skip("this system has no modes")
	}
	if err := os.Symlink(other, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if n, err := store.Narrow(dir); err != nil || n < 3 {
		t.Errorf("%d narrowed, %v", n, err)
	}
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		i, err := e.Info()
		if err != nil || i.Mode()&fs.ModeSymlink == 0 && i.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, i, err)
		}
		return nil
	})
	if i, _ := os.Stat(other); i.Mode().Perm() != 0o664 {
		t.Errorf("where a link leads: %v", i.Mode())
	}
	if n, err := store.Narrow(dir); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
	if n, err := store.Narrow(filepath.Join(dir, "none")); err != nil || n != 0 {
		t.Errorf("no directory: %d, %v", n, err)
	}
}
