package serve

import "sync"

// lanes run the jobs of one lane one after the other, in the order of their arrival. Jobs of
// different lanes run in parallel.
type lanes struct {
	mu      sync.Mutex
	waiting map[string][]func()
}

func newLanes() *lanes { return &lanes{waiting: map[string][]func(){}} }

// run adds f to the lane of a key. A lane has a goroutine while it has jobs.
func (l *lanes) run(key string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if jobs, ok := l.waiting[key]; ok {
		l.waiting[key] = append(jobs, f)
		return
	}
	l.waiting[key] = nil
	go func() {
		for f != nil {
			f()
			f = l.next(key)
		}
	}()
}

func (l *lanes) next(key string) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs := l.waiting[key]
	if len(jobs) == 0 {
		delete(l.waiting, key)
		return nil
	}
	l.waiting[key] = jobs[1:]
	return jobs[0]
}
