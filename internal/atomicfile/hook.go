package atomicfile

import (
	"sync/atomic"
	"time"
)

// hook is called before each operation: mkdir, create, write, sync, syncfs, rename, syncdir,
// truncate or remove. Its path is that of the operation, and for a rename the new path. If it
// returns an error, the operation fails without effect. After a *PartialWrite, a part of the data
// is written.
type hook func(op, path string) error

// PartialWrite, returned by a hook for a write, writes the first N bytes and
// then fails with Err, as a full disk does.
type PartialWrite struct {
	N   int
	Err error
}

func (p *PartialWrite) Error() string { return p.Err.Error() }
func (p *PartialWrite) Unwrap() error { return p.Err }

// testHook is nil outside tests. It is atomic only so that tests with
// goroutines stay free of races.
var testHook atomic.Pointer[hook]

// SetHook installs h for every operation of this package and returns a function that restores the
// previous hook. It exists for tests that record the order of operations or let the Nth operation
// fail. Such tests must not run in parallel with other tests.
func SetHook(h hook) (restore func()) {
	old := testHook.Swap(&h)
	return func() { testHook.Store(old) }
}

func runHook(op, path string) error {
	h := testHook.Load()
	if h == nil || *h == nil {
		return nil
	}
	return (*h)(op, path)
}

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

// wait calls sync, unless [NoSync] is in effect. It adds the call and its time to s.
func (s *Stats) wait(sync func() error) (err error) {
	start := time.Now()
	if !noSync.Load() {
		err = sync()
	}
	s.Syncs++
	s.SyncTime += time.Since(start)
	return err
}
