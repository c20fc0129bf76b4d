package longwork

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// All calls of the process share the helpers, so that one call does not take every processor from
// the others.

// free counts the helpers that may still start.
var free atomic.Int64

func init() { Bound(runtime.GOMAXPROCS(0) - 1) }

// Bound sets how many helpers run at the same time. Callers must call it before any work begins. Default:
// one less than there are processors.
func Bound(helpers int) { free.Store(int64(helpers)) }

func take() bool {
	if free.Add(-1) >= 0 {
		return true
	}
	free.Add(1)
	return false
}

// Run calls work here and in free helpers, at most most times in all, and waits for all of them. work has to
// share out the parts by itself.
func Run(most int, work func()) {
	var helpers sync.WaitGroup
	for range most - 1 {
		if !take() {
			break
		}
		helpers.Go(func() {
			defer free.Add(1)
			work()
		})
	}
	work()
	helpers.Wait()
}

// Aside calls f in a helper. wait waits for it, or calls f itself if no helper was free. Callers must call
// wait once.
func Aside(f func()) (wait func()) {
	if !take() {
		return f
	}
	var helper sync.WaitGroup
	helper.Go(func() {
		defer free.Add(1)
		f()
	})
	return helper.Wait
}
