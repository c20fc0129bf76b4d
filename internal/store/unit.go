package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Unit is one writer's turn at a folder. From Begin to End no other writer's writes to the folder
// come between its own. All writes to the folder meanwhile belong to the unit.
//
// Files are locked for the unit, and each write happens at once, in the order of the calls. A
// database collects the writes and makes them together, in one transaction that fails if somebody
// else has written to the folder since it was read.
type Unit interface {
	// State returns the whole store. Writes through it belong to the unit, too.
	State() Store
	// PutBlobs stores blobs. No process removes them before the unit ends.
	PutBlobs(ctx context.Context, b *Batch) (Stats, error)
	// Sync makes the writes so far durable, as their durability says. The caller must call it
	// before it does anything elsewhere that depends on them. If another process has written to the
	// folder, Sync returns an error that [Overtaken] recognises, and the unit's writes since its
	// last Sync are lost. The caller must then begin anew, from the other process's writes.
	Sync() error
	// End makes the other writes durable and ends the unit. Its errors are those of Sync. The
	// caller must not report a result to anybody before End returned nil.
	End() error
}

// These locks are in a state directory. SessionsLock is shared by processes that take a folder's
// lock. A process that ends sessions holds it alone, so that no process waits for a lock that is
// removed. BlobsLock is shared by writers of a blob and of the record that names it. A process that
// removes blobs holds it alone.
const SessionsLock, BlobsLock = "sessions.lock", "blobs.lock"

// folderLock is the lock of a folder.
const folderLock = "lock"

// LockedUnit begins a unit on a store whose folders are locked: it waits for the folder's lock
// until ctx ends. The store itself has no such lock: the writer of a log in it must hold
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

// tryFolder takes a folder's lock if it is free. Nobody can remove the folder meanwhile.
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
	release []func() // the folder's lock, and that of blobs
	blobs   bool     // the lock of blobs was needed
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

// waitFor calls try until it finds no lock held, or ctx ends.
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
