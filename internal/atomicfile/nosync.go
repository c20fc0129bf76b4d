package atomicfile

import (
	"os"
	"sync/atomic"
)

// noSync is false outside tests.
var noSync atomic.Bool

// NoSync makes every sync of this process return at once without asking the system,
// and returns a function that puts back what was there. Hooks still see each sync,
// and Stats counts it. It exists for tests: what they write survives the end of a
// process at any instant, and not a power cut, so that they don't wait for a disk.
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
