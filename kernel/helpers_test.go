package kernel_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tree lists the files below dir.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tempDir is t.TempDir for a property.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "memkernel-test-")
	if err != nil {
		t.Fatalf("make folder: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// damageOneBlob changes a byte of one blob in place.
func damageOneBlob(t *testing.T, dir string) {
	t.Helper()
	blobs := tree(t, filepath.Join(dir, ".memkernel", "blobs"))
	if len(blobs) == 0 {
		t.Fatal("there is no blob")
	}
	b, err := os.ReadFile(blobs[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	os.Chmod(blobs[0], 0o600)
	if err := os.WriteFile(blobs[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rewriteFirst replaces the first occurrence of a text in every journal.
func rewriteFirst(t *testing.T, dir, old, with string) {
	t.Helper()
	for _, f := range tree(t, dir) {
		if filepath.Base(f) != "journal.jsonl" {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(strings.Replace(string(b), old, with, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// noted counts the entries of a log that are not open items.
func noted(log string) int {
	return strings.Count("\n"+log, "\n- ") - strings.Count(log, "\n- [open] ")
}
