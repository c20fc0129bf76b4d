package embed

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstWait = 500 * time.Millisecond
	maxWait   = 30 * time.Second
	// maxRetryAfter is the longest wait that a server may request. For a longer wait the error is
	// returned instead.
	maxRetryAfter = time.Minute
)

// again returns how long to wait before a failed request is sent again. ok is false if the
// request should not be sent again, or if the wait would outlast ctx.
func (o *remote) again(ctx context.Context, e *Error) (wait time.Duration, ok bool) {
	if !e.transient || e.Tries >= o.cfg.MaxTries || e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	wait = max(backoff(e.Tries), e.RetryAfter)
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return 0, false
	}
	return wait, true
}

// backoff doubles with every try and is shortened at random by up to a half, so
// that clients that failed together do not come back together.
func backoff(tries int) time.Duration {
	full := maxWait
	if tries < 8 {
		full = min(maxWait, firstWait<<(tries-1))
	}
	return full - time.Duration(rand.Float64()*float64(full)/2)
}

// pause waits. If ctx ends, pause returns early with the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
