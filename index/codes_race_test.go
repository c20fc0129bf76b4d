package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"sync"
	"testing"
)

// Searches go on while vectors are put, files change and codes are made anew, and
// more of them than there are connections.
func TestSearchesWhileCodesChange(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewSource(11))
	next := ball(rng, 40, 6)
	w, ix, truth := coded(t, 300, next)
	questions := make([][]float32, 6)
	for i := range questions {
		questions[i] = next()
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, q := range questions {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got, err := ix.Search(ctx, Query{Text: "note 3 of file 7", Model: "m", Vector: q, K: 20})
				if err != nil || got.VectorErr != nil || len(got.Vector) != 20 {
					t.Errorf("%d hits: %v, %v", len(got.Vector), err, got.VectorErr)
					return
				}
			}
		})
	}
	for i := range 2 {
		w.put(t, fmt.Sprintf("c/new-%d.md", i), manyNotes(5000+i))
		w.sync(t, ix)
		embed(t, ix, "m", func(m Missing) []float32 { v := next(); truth[m.Hash] = v; return v })
	}
	close(stop)
	wg.Wait()
	checkClean(t, ix)
	for _, q := range questions {
		if r := found(t, ix, truth, q, 20, nil); r < 0.9 {
			t.Errorf("recall %v", r)
		}
	}
}

// A measurement that is cut short at any step leaves the vectors searchable; the next
// one is made.
func TestTuningCutShort(t *testing.T) {
	rng := rand.New(rand.NewSource(13))
	next := ball(rng, 24, 4)
	_, ix, truth := coded(t, 300, next)
	for left := 1; left < 400; left = left*2 + 1 {
		ctx := &countdown{Context: context.Background(), left: left}
		h, done, err := ix.door.use(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		was := codesOf(t, ix)
		was.Of = 1 // as if there were many more vectors since
		if _, err := h.write.Exec("UPDATE meta SET value=? WHERE key='codes'", was.String()); err != nil {
			t.Fatal(err)
		}
		err = tune(ctx, h, ix.door.opts)
		done()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if m := codesOf(t, ix); err != nil && m != was {
			t.Errorf("cut short after %d looks: %s, was %s", left, m, was)
		} else if err == nil && m.Of != 300 {
			t.Errorf("not measured again: %s", m)
		}
		if r := found(t, ix, truth, next(), 10, nil); r < 0.9 {
			t.Errorf("cut short after %d looks: recall %v", left, r)
		}
	}
	checkClean(t, ix)
}

// countdown is a context that ends after so many looks at it.
type countdown struct {
	context.Context
	mu   sync.Mutex
	left int
}

func (c *countdown) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A process that only reads, and one with other settings, use the codes that are
// there; a negative ExactVectors makes none.
func TestExactVectors(t *testing.T) {
	ctx := context.Background()
	next := ball(rand.New(rand.NewSource(17)), 16, 3)
	w, ix, _ := coded(t, 300, next)
	if !codesOf(t, ix).Coded() {
		t.Fatal("no codes were made")
	}
	never := openAt(t, filepath.Join(t.TempDir(), "i.sqlite"), &Options{ExactVectors: -1})
	w.sync(t, never)
	if err := never.UseModel(ctx, "m", 16); err != nil {
		t.Fatal(err)
	}
	embed(t, never, "m", func(Missing) []float32 { return next() })
	if m := codesOf(t, never); m.Coded() || m.Of != 0 {
		t.Errorf("codes were made: %s", m)
	}
	checkClean(t, never)
}
