package session

import "context"

// lock is a mutex. Waiting for it ends with a context.
type lock struct{ slot chan struct{} }

func newLock() lock { return lock{make(chan struct{}, 1)} }

func (l lock) Lock() { l.slot <- struct{}{} }

func (l lock) Unlock() { <-l.slot }

func (l lock) TryLock() bool {
	select {
	case l.slot <- struct{}{}:
		return true
	default:
		return false
	}
}

// LockContext locks l like Lock. If ctx ends first, it returns the error of ctx. It takes a free
// lock even if ctx has ended.
func (l lock) LockContext(ctx context.Context) error {
	if l.TryLock() {
		return nil
	}
	select {
	case l.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
