package embed

import (
	"context"
	"fmt"

	"golang.org/x/time/rate"
)

// pace keeps requests and tokens within what a minute may have.
type pace struct {
	requests, tokens *rate.Limiter // nil for no bound
	perMinute        [2]int
}

func newPace(requests, tokens int) *pace {
	return &pace{limiter(requests), limiter(tokens), [2]int{requests, tokens}}
}

// limiter lets a quarter of n go at once and the rest evenly, so that no minute
// has more than n.
func limiter(n int) *rate.Limiter {
	if n <= 0 {
		return nil
	}
	burst := max(1, n/4)
	return rate.NewLimiter(rate.Limit(max(float64(n-burst), float64(n)/2)/60), burst)
}

// wait returns when a request of so many tokens may be sent, and at once with an
// error if that would be after ctx ends.
func (p *pace) wait(ctx context.Context, tokens int) error {
	err := waitN(ctx, p.requests, 1)
	if err == nil {
		err = waitN(ctx, p.tokens, tokens)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &Error{Err: fmt.Errorf("the limit of %s leaves no room for this request in time", p), Hint: "wait a minute, or raise requests_per_minute and tokens_per_minute"}
}

// waitN takes n in portions that the limiter has room for.
func waitN(ctx context.Context, l *rate.Limiter, n int) error {
	for l != nil && n > 0 {
		k := min(n, l.Burst())
		if err := l.WaitN(ctx, k); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

func (p *pace) String() string {
	switch {
	case p.tokens == nil:
		return fmt.Sprintf("%d requests a minute", p.perMinute[0])
	case p.requests == nil:
		return fmt.Sprintf("%d tokens a minute", p.perMinute[1])
	}
	return fmt.Sprintf("%d requests and %d tokens a minute", p.perMinute[0], p.perMinute[1])
}
