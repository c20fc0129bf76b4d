package proxy

import (
	"context"
	"sync"
)

// jobs counts the work that runs in parallel with the requests. Unlike with a [sync.WaitGroup],
// callers may wait while further jobs begin.
type jobs struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n comes down to 0; nil if nobody waits
}

// begin counts a job, which must end with done.
func (j *jobs) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.n++
}

// Go runs f.
func (j *jobs) Go(f func()) {
	j.begin()
	go func() {
		defer j.done()
		f()
	}()
}

func (j *jobs) done() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.n--; j.n == 0 && j.idle != nil {
		close(j.idle)
		j.idle = nil
	}
}

// wait returns when nothing runs.
func (j *jobs) wait(ctx context.Context) error {
	j.mu.Lock()
	if j.n == 0 {
		j.mu.Unlock()
		return nil
	}
	if j.idle == nil {
		j.idle = make(chan struct{})
	}
	idle := j.idle
	j.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
