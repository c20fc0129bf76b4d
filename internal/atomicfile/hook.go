package atomicfile

import "sync/atomic"

// The operations that a hook sees. A hook gets the path of the operation. For a rename, this is
// the new path.
const (
	opMkdir    = "mkdir"
	OpCreate   = "create"
	OpWrite    = "write"
	OpSync     = "sync"
	OpSyncFS   = "syncfs"
	OpRename   = "rename"
	OpSyncDir  = "syncdir"
	OpTruncate = "truncate"
	OpRemove   = "remove"
)

// hook is called before each operation. If it returns an error, the operation fails without
// effect. A *PartialWrite lets a write happen in part.
type hook func(op, path string) error

// PartialWrite, returned by a hook for OpWrite, writes the first N bytes and
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
