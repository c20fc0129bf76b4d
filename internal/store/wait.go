package store

import (
	"context"
	"errors"
	"time"
)

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
