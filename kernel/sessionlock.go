package kernel

import "context"

// sessionLock is a mutex that is waited for no longer than a context lasts.
type sessionLock struct{ slot chan struct{} }

func newSessionLock() sessionLock { return sessionLock{make(chan struct{}, 1)} }

func (l sessionLock) Lock() { l.slot <- struct{}{} }

func (l sessionLock) Unlock() { <-l.slot }

func (l sessionLock) TryLock() bool {
	select {
	case l.slot <- struct{}{}:
		return true
	default:
		return false
	}
}

// LockContext is Lock, or the error of a context that ends first. A lock that is free
// is taken whatever the context says.
func (l sessionLock) LockContext(ctx context.Context) error {
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
