package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// patience leaves a server alone that did not answer questions in time, so that
// not every search waits for it: for ten seconds after the first, twice as long
// after each that follows, up to five minutes.
type patience struct {
	mu       sync.Mutex
	failures int
	until    time.Time
	why      error
}

const (
	firstRest = 10 * time.Second
	maxRest   = 5 * time.Minute
)

// tired returns why the server is not asked now, nil if it may be.
func (p *patience) tired() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := time.Until(p.until)
	if rest <= 0 {
		return nil
	}
	return &Error{Err: fmt.Errorf("the server is left alone for %v: %w", rest.Round(time.Second), p.why), Hint: "it is asked again then; check that it runs and can be reached"}
}

// learn records how a request went. A caller that gave up by itself, or a
// server that refused, doesn't count as a failure.
func (p *patience) learn(ctx context.Context, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e *Error
	switch {
	case err == nil:
		p.failures = 0
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		p.rest(errors.New("it did not answer the last question in time"))
	case errors.As(err, &e) && e.transient:
		p.rest(e.Err)
	}
}

func (p *patience) rest(why error) {
	d := maxRest
	if p.failures < 5 {
		d = min(maxRest, firstRest<<p.failures)
	}
	p.failures++
	p.until, p.why = time.Now().Add(d), why
}
