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
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		release, err := s.Lock(name, share)
		if held := (*LockedError)(nil); !errors.As(err, &held) {
			return release, err
		}
		if err := pause(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
