package folder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// sessionsLock is shared by processes that take a session's lock. A process that ends sessions
// holds it alone, so that no process waits for a removed lock.
const sessionsLock = "sessions.lock"

const blobsLock = "blobs.lock"

// StateLocks returns the locks that a process must hold alone to keep all other processes from
// taking a session and from adding blobs.
func StateLocks() []string { return []string{sessionsLock, blobsLock} }

// LockBlobs keeps the removal of blobs apart from writers of a blob and of the journal line that
// names it. The remover holds the lock alone, and the writers share it.
func LockBlobs(ctx context.Context, state store.Store, share store.Share) (func(), error) {
	return lockState(ctx, state, blobsLock, share)
}

// lockState takes a lock of the state directory.
func lockState(ctx context.Context, state store.Store, name string, share store.Share) (func(), error) {
	release, err := store.Wait(ctx, state, name, share)
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", state.Where(name), err)
	}
	return release, nil
}

// firstRetry and lastRetry bound the wait before another attempt to take a lock that another
// process holds. The wait doubles each time.
const firstRetry, lastRetry = 2 * time.Millisecond, 8 * time.Millisecond

// Lock takes the lock of a session's folder among processes. It waits until ctx ends.
func Lock(ctx context.Context, state store.Store, name string) (release func(), err error) {
	for retry := firstRetry; ; retry = min(2*retry, lastRetry) {
		release, err := tryLock(ctx, state, name)
		if held := (*store.LockedError)(nil); errors.As(err, &held) {
			if err = wait(ctx, retry); err == nil {
				continue
			}
		}
		return release, err
	}
}

// tryLock takes the lock if it is free. No session can end meanwhile.
func tryLock(ctx context.Context, state store.Store, name string) (release func(), err error) {
	unlock, err := lockState(ctx, state, sessionsLock, store.Shared)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return In(state, name).Lock(LockFile, store.Alone)
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
