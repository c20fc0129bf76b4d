package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Without syncs hooks and Stats see the same operations, and a closed file is not
// noticed, because the system is not asked.
func TestNoSync(t *testing.T) {
	group := func() ([]string, Stats, error) {
		dir := t.TempDir()
		ops := record(t, dir, -1)
		st, err := group(dir, 2)
		st.SyncTime = 0
		return *ops, st, err
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	wantOps, wantStats, _ := group()
	if _, err := Sync(f); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file is synced: %v", err)
	}
	restore := NoSync()
	ops, stats, err := group()
	if diff := cmp.Diff(wantOps, ops) + cmp.Diff(wantStats, stats); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := Sync(f); err != nil {
		t.Errorf("the system is asked: %v", err)
	}
	var st Stats
	if err := syncFS(f, &st); err != nil && haveSyncFS {
		t.Errorf("the system is asked for a whole file system: %v", err)
	}
	restore()
	if _, err := Sync(f); !errors.Is(err, os.ErrClosed) {
		t.Errorf("syncs are not back: %v", err)
	}
}
