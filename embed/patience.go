package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// patience stops questions to a server that did not answer in time, so that not every search
// waits for it. The pause is ten seconds after the first failure and doubles with each further
// failure, up to five minutes.
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

// tired returns the error because of which no question is sent now, or nil if a question may be
// sent.
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
