package textutil_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/memkernel/memkernel/internal/textutil"
)

// A file whose name has its accents as characters of their own is read by the name as typed.
func TestDecomposedName(t *testing.T) {
	dir := t.TempDir()
	stored := norm.NFD.String("memory/büro/züge.md")
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(stored)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, stored), []byte("# Züge\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"memory/büro/züge.md", stored} {
		if got := textutil.Spelled(os.DirFS(dir), name); norm.NFC.String(got) != "memory/büro/züge.md" {
			t.Errorf("%q is %q", name, got)
		} else if _, err := os.Stat(filepath.Join(dir, got)); err != nil {
			t.Error(err)
		}
	}
	if got := textutil.Spelled(os.DirFS(dir), "memory/büro/nüsse.md"); got == stored {
		t.Error("another name finds the file")
	}
}
