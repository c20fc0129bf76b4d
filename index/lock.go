package index

import (
	"context"
	"errors"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a waiting process tries the lock again.
const lockPoll = 25 * time.Millisecond

// lock takes the lock for a sync or rebuild. It waits at most for the duration wait; if wait is
// negative, it waits until the context ends. The kernel frees the lock when its holder dies.
func lock(ctx context.Context, path string, wait time.Duration) (release func(), err error) {
	l := flock.New(path + ".lock")
	try := ctx
	if wait >= 0 {
		var cancel context.CancelFunc
		try, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	ok, err := l.TryLock()
	if err == nil && !ok {
		ok, err = l.TryLockContext(try, lockPoll)
	}
	switch {
	case err == nil && ok:
		return func() { l.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return nil, Problem("lock index", path, ErrBusy, nil)
	}
	return nil, explain("lock index", path, err)
}
