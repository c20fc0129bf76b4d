package lazyregexp

import (
	"sync"
	"testing"
)

func TestNew(t *testing.T) {
	r := New(`(\w)(\d+)`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := r.FindStringSubmatch("x a12"); len(got) != 3 || got[2] != "12" || !r.MatchString("b1") {
				t.Errorf("%q", got)
			}
		})
	}
	wg.Wait()
	defer func() {
		if recover() == nil {
			t.Error("a wrong pattern is taken in a test")
		}
	}()
	New(`(`)
}
