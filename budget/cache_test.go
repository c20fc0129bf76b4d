package budget

import (
	"strings"
	"sync"
	"testing"
)

// countingCounter counts its calls.
type countingCounter struct {
	Counter
	asked int
}

func (c *countingCounter) Count(text string) Count {
	c.asked++
	return c.Counter.Count(text)
}

func TestCacheCountsOnce(t *testing.T) {
	base, _ := For(o200k)
	c := &countingCounter{Counter: base}
	k := NewCache(0)
	texts := []string{strings.Repeat("one ", 50), strings.Repeat("two ", 50), ""}
	for range 3 {
		for _, text := range texts {
			if got, want := k.Count(c, text), base.Count(text); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
	if c.asked != 2+3 { // the empty text is never kept
		t.Errorf("counted %d times", c.asked)
	}
	other, _ := For(claudeOld)
	if got, want := k.Count(other, texts[0]), other.Count(texts[0]); got != want {
		t.Errorf("another counter's count: got %+v, want %+v", got, want)
	}
	var none *Cache
	if got := none.Count(base, texts[0]); got != base.Count(texts[0]) {
		t.Error("a nil cache doesn't count")
	}
}

func TestCacheIsBounded(t *testing.T) {
	base, _ := For(bySize)
	c := &countingCounter{Counter: base}
	k := NewCache(100)
	hot := strings.Repeat("h", 60)
	for i := range 10_000 {
		k.Count(c, strings.Repeat("x", 60+i))
		k.Count(c, hot)
		if n := len(k.young) + len(k.old); n > 200 {
			t.Fatalf("%d counts after %d texts", n, i)
		}
	}
	if c.asked != 10_001 {
		t.Errorf("the text in use was forgotten: counted %d times", c.asked)
	}
}

func TestCacheIsSafe(t *testing.T) {
	c, _ := For(o200k)
	k := NewCache(32)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				text := strings.Repeat("word ", 20+(i+g)%90)
				if got := k.Count(c, text); got != c.Count(text) {
					t.Errorf("got %+v for %d bytes", got, len(text))
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkCacheWarm(b *testing.B) {
	c, _ := For(o200k)
	k := NewCache(0)
	text := sample(b, "go")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		k.Count(c, text)
	}
}
