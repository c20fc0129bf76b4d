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

// Bound sets the number of helpers that may run at the same time. Callers must call it before any
// work begins. The default is the number of processors minus one.
func Bound(helpers int) { free.Store(int64(helpers)) }

func take() bool {
	if free.Add(-1) >= 0 {
		return true
	}
	free.Add(1)
	return false
}

// Run calls work in this goroutine and in free helpers, and waits for all calls. The parameter
// most is the largest number of calls. The calls of work must divide the parts among themselves.
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
