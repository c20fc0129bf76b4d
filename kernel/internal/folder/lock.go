package folder

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/internal/store"
)

// StateLocks returns the locks that a process must hold alone to keep all other processes from
// taking a session and from adding blobs.
func StateLocks() []string { return []string{store.SessionsLock, store.BlobsLock} }

// LockBlobs keeps all writers of blobs away while blobs are removed.
func LockBlobs(ctx context.Context, state store.Store) (func(), error) {
	return lockState(ctx, state, store.BlobsLock)
}

// lockState takes a lock of the state directory alone.
func lockState(ctx context.Context, state store.Store, name string) (func(), error) {
	release, err := store.Wait(ctx, state, name, store.Alone)
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", state.Where(name), err)
	}
	return release, nil
}
