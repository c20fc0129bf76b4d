package atomicfile

import (
	"sync/atomic"
	"time"
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

// wait calls a sync, unless syncs are off, and counts it.
func (s *Stats) wait(sync func() error) (err error) {
	start := time.Now()
	if !noSync.Load() {
		err = sync()
	}
	s.Syncs++
	s.SyncTime += time.Since(start)
	return err
}
