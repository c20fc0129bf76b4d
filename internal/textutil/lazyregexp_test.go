package textutil

import (
	"sync"
	"testing"
)

func TestNew(t *testing.T) {
	r := LazyRegexp(`(\w)(\d+)`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := r.FindStringSubmatch("x a12"); len(got) != 3 || got[2] != "12" || !r.MatchString("b1") {
				t.Errorf("%q", got)
			}
		})
	}
	wg.Wait()
}

func TestCompileAll(t *testing.T) {
	before := len(lazy)
	LazyRegexp(`a+`)
	if n := CompileAll(); n != before+1 {
		t.Errorf("%d patterns, want %d", n, before+1)
	}
	LazyRegexp(`(`)
	defer func() {
		lazy = lazy[:before]
		if recover() == nil {
			t.Error("a wrong pattern is taken")
		}
	}()
	CompileAll()
}
