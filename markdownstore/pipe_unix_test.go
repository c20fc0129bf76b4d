//go:build unix

package markdownstore

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe would hang whoever opens it.
func TestPipesAreNotOpened(t *testing.T) {
	dir := workspace(t, tree)
	if err := syscall.Mkfifo(filepath.Join(dir, "memory", "pipe.md"), 0o644); err != nil {
		t.Skip(err)
	}
	s := open(t, dir, true)
	if _, err := s.Read("memory/pipe.md", 0, 0); !errors.Is(err, ErrDenied) {
		t.Errorf("err = %v", err)
	}
	if got := strings.Join(listing(s), "\n"); !strings.Contains(got, "memory/pipe.md !not_file") {
		t.Errorf("listing:\n%s", got)
	}
}
