package tools_test

import (
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// holdSession keeps a session's lock, as another process would.
func holdSession(t *testing.T, dir string) (unlock func()) {
	t.Helper()
	l := flock.New(filepath.Join(dir, "lock"))
	if ok, err := l.TryLock(); err != nil || !ok {
		t.Fatalf("lock %s: %v, %v", dir, ok, err)
	}
	return func() { l.Unlock() }
}
