package index

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestOwnersAlone: the index and what SQLite keeps beside it are their owner's alone, and
// an older index that others could read is narrowed when it is opened to be written.
func TestOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.sqlite")
	look := func(when string) {
		t.Helper()
		files, err := os.ReadDir(dir)
		if err != nil || len(files) < 2 {
			t.Fatalf("%s: %v, %v", when, files, err)
		}
		for _, f := range files {
			if i, err := f.Info(); err != nil || i.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s is %v, %v", when, f.Name(), i.Mode(), err)
			}
		}
	}
	for _, when := range []string{"made", "opened again"} {
		ix, err := Open(path, &Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Stats(context.Background()); err != nil {
			t.Fatal(err)
		}
		look(when)
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if i, err := os.Stat(path); err == nil && i.Mode().Perm() != 0o644 {
			t.Skip("this system has no modes")
		}
	}
}
