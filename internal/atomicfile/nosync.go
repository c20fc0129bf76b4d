package atomicfile

import (
	"os"
	"sync/atomic"
)

// noSync is false outside tests.
var noSync atomic.Bool

// NoSync makes every sync of this process return at once without asking the system, and returns a
// function that restores the previous mode. Hooks still see each sync, and Stats counts it. It
// exists for tests, which then don't wait for a disk. Their files survive the end of a process at
// any instant, but not a power cut.
func NoSync() (restore func()) {
	old := noSync.Swap(true)
	return func() { noSync.Store(old) }
}

// fsync syncs a file or a directory.
func fsync(f *os.File) error {
	if noSync.Load() {
		return nil
	}
	return f.Sync()
}
