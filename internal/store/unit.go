package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Unit is one writer's turn at a folder. From Begin to End no other writer's writes to the folder
// come between its own. All writes of this process to the folder during that time belong to the
// unit.
//
// Files are locked for the unit, and each write happens at once, in the order of the calls. A
// database collects the writes and makes them together, in one transaction that fails if somebody
// else has written to the folder since it was read.
type Unit interface {
	// State returns the whole store. Writes through it belong to the unit, too.
	State() Store
	// PutBlobs stores blobs. No process removes them before the unit ends.
	PutBlobs(ctx context.Context, b *Batch) (Stats, error)
	// Sync gives the unit's writes so far the durability with which they were made. The caller must
	// call it before it does anything outside of the folder that depends on these writes. If
	// another process has written to the folder, Sync returns an error that [Overtaken] recognises,
	// and the unit's writes since its last Sync are lost. The caller must then read the other
	// process's writes and begin a new unit.
	Sync() error
	// End does the same as Sync for the remaining writes, and ends the unit. It returns the same
	// errors as Sync. The caller must not report a result to anybody before End has returned nil.
	End() error
}

// SessionsLock and BlobsLock are locks of a whole state directory. A process shares SessionsLock
// while it takes a folder's lock. A process that ends sessions holds SessionsLock alone, so that no
// other process waits for a lock that is removed. A process shares BlobsLock while it writes a blob
// and the record that names the blob. A process that removes blobs holds BlobsLock alone.
const SessionsLock, BlobsLock = "sessions.lock", "blobs.lock"

// folderLock is the name of a folder's lock, in that folder.
const folderLock = "lock"

// LockedUnit begins a unit on a store whose folders are locked. It waits for the folder's lock until
// ctx ends. The store's root has no such lock: the writer of a log in the root must hold
// SessionsLock.
func LockedUnit(ctx context.Context, s Store, folder string) (Unit, error) {
	if folder == "" {
		return &lockedUnit{s: s}, nil
	}
	release, err := waitFor(ctx, func() (func(), error) { return tryFolder(ctx, s, folder) })
	if err != nil {
		return nil, err
	}
	return &lockedUnit{s: s, release: []func(){release}}, nil
}

// tryFolder takes a folder's lock, and returns a [*LockedError] if another holder has it. No process
// can remove the folder during the call.
func tryFolder(ctx context.Context, s Store, folder string) (release func(), err error) {
	unlock, err := Wait(ctx, s, SessionsLock, Shared)
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", s.Where(SessionsLock), err)
	}
	defer unlock()
	return s.Lock(folder+"/"+folderLock, Alone)
}

// lockedUnit is a unit whose writes happen at once.
type lockedUnit struct {
	s       Store
	release []func() // these release the folder's lock and the lock of blobs
	blobs   bool     // the unit has taken the lock of blobs
}

func (u *lockedUnit) State() Store { return u.s }
func (u *lockedUnit) Sync() error  { return nil }

func (u *lockedUnit) PutBlobs(ctx context.Context, b *Batch) (Stats, error) {
	if b.Len() > 0 && !u.blobs {
		unlock, err := Wait(ctx, u.s, BlobsLock, Shared)
		if err != nil {
			return Stats{}, fmt.Errorf("take %s: %w", u.s.Where(BlobsLock), err)
		}
		u.release, u.blobs = append(u.release, unlock), true
	}
	return b.Commit(context.WithoutCancel(ctx))
}

func (u *lockedUnit) End() error {
	for _, release := range slices.Backward(u.release) {
		release()
	}
	return nil
}

// firstPoll and lastPoll bound the time between two attempts at a held lock.
const firstPoll, lastPoll = 2 * time.Millisecond, 16 * time.Millisecond

// Wait takes a lock and waits for it until ctx ends. If ctx has ended already, Wait takes no
// lock.
func Wait(ctx context.Context, s Store, name string, share Share) (release func(), err error) {
	return waitFor(ctx, func() (func(), error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return s.Lock(name, share)
	})
}

// waitFor calls try until try returns no [*LockedError], or ctx ends.
func waitFor(ctx context.Context, try func() (release func(), err error)) (func(), error) {
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		release, err := try()
		if !errors.As(err, new(*LockedError)) {
			return release, err
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
