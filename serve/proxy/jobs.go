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
	idle chan struct{} // closed when n comes down to 0
}

// begin counts a job, which must end with done.
func (j *jobs) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.n++; j.n == 1 {
		j.idle = make(chan struct{})
	}
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
	if j.n--; j.n == 0 {
		close(j.idle)
	}
}

// wait returns when nothing runs.
func (j *jobs) wait(ctx context.Context) error {
	j.mu.Lock()
	n, idle := j.n, j.idle
	j.mu.Unlock()
	if n == 0 {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
