package serve

import "sync"

// lanes run the jobs of one lane one after the other, in the order of their arrival. Jobs of
// different lanes run in parallel.
type lanes struct {
	mu sync.Mutex
	// last has the channel that the newest job of each lane closes at its end.
	last map[string]chan struct{}
}

// run adds f to the lane of a key.
func (l *lanes) run(key string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, done := l.last[key], make(chan struct{})
	l.last[key] = done
	go func() {
		if before != nil {
			<-before
		}
		f()
		l.mu.Lock()
		defer l.mu.Unlock()
		if close(done); l.last[key] == done {
			delete(l.last, key)
		}
	}()
}
