package embed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	firstWait = 500 * time.Millisecond
	maxWait   = 30 * time.Second
	// maxRetryAfter is the longest wait that a server may request. For a longer wait the error is
	// returned instead.
	maxRetryAfter = time.Minute

	firstRest = 10 * time.Second
	maxRest   = 5 * time.Minute
)

// backoff returns the wait after a number of tries. It doubles with every try, and is shortened at
// random by up to a half, so that clients that failed together do not try again together.
func backoff(tries int) time.Duration {
	full := min(maxWait, firstWait<<min(tries-1, 8))
	return full - time.Duration(rand.Float64()*float64(full)/2)
}

// patience stops questions to a server that did not answer in time, so that not every search
// waits for it. The pause is firstRest after the first failure and doubles with each further
// failure, up to maxRest.
type patience struct {
	mu       sync.Mutex
	failures int
	until    time.Time
	why      error
}

// tired returns an error during a pause, else nil. Callers must not send a question during a pause.
func (p *patience) tired() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := time.Until(p.until)
	if rest <= 0 {
		return nil
	}
	return &Error{Err: fmt.Errorf("the server is left alone for %v: %w", rest.Round(time.Second), p.why), Hint: "it is asked again then; check that it runs and can be reached"}
}

// learn records the outcome of a request. A canceled request, or a refusal by the server, doesn't
// count as a failure.
func (p *patience) learn(ctx context.Context, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e *Error
	switch {
	case err == nil:
		p.failures = 0
		return
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.why = errors.New("it did not answer the last question in time")
	case errors.As(err, &e) && e.transient:
		p.why = e.Err
	default:
		return
	}
	p.until = time.Now().Add(min(maxRest, firstRest<<min(p.failures, 5)))
	p.failures++
}
