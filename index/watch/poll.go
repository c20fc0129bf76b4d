package watch

import (
	"context"
	"sync"
	"time"
)

// poller compares a version number at intervals. It is for data that the system can't watch, such
// as files in a database.
type poller struct {
	changed chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}

	mu  sync.Mutex
	err error
}

// Poll begins to poll. One goroutine calls version at intervals of every, or of the default debounce
// if every is not positive. After an error of version, State returns the error until a later call
// succeeds.
func Poll(every time.Duration, version func(context.Context) (int64, error)) *poller {
	if every <= 0 {
		every = defaultDebounce
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &poller{changed: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	go p.run(ctx, every, version)
	return p
}

func (p *poller) run(ctx context.Context, every time.Duration, version func(context.Context) (int64, error)) {
	defer close(p.done)
	last, known := int64(0), false
	for {
		now, err := version(ctx)
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		if err == nil {
			if known && now != last {
				select {
				case p.changed <- struct{}{}:
				default: // a report is waiting already
				}
			}
			last, known = now, true
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// Changed gets a value when the number has changed. It is never closed.
func (p *poller) Changed() <-chan struct{} { return p.changed }

// State returns 0 folders and the error of the last call of version.
func (p *poller) State() (folders int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return 0, p.err
}

// Close ends the polling and waits until it has ended. It is idempotent.
func (p *poller) Close() error {
	p.cancel()
	<-p.done
	return nil
}
