package longwork

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestHelpersAreShared: a call has the helpers that others leave, and gives them back.
func TestHelpersAreShared(t *testing.T) {
	t.Cleanup(func() { Bound(runtime.GOMAXPROCS(0) - 1) })
	Bound(2)
	for range 2 {
		var all, now, within, most atomic.Int64
		Run(5, func() {
			for all.Add(1); all.Load() < 3; { // all of them are at work
				runtime.Gosched()
			}
			Run(5, func() {
				for n := now.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				within.Add(1)
				runtime.Gosched()
				now.Add(-1)
			})
		})
		if all.Load() != 3 || within.Load() < 3 || most.Load() > 3 {
			t.Errorf("%d at work; within them %d, at most %d at a time", all.Load(), within.Load(), most.Load())
		}
	}
}
