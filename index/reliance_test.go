package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"testing"
)

// Vectors that find the index's own passages are worth more than those that don't; it is
// kept with the index, for the model that it was measured of.
func TestMeasure(t *testing.T) {
	files := map[string]string{}
	rng := rand.New(rand.NewSource(1))
	for i := range 40 {
		word := make([]byte, 30)
		for j := range word {
			word[j] = byte('a' + rng.Intn(26))
		}
		files[fmt.Sprintf("memory/%d.md", i)] = string(word) + "\n"
	}
	path := filepath.Join(t.TempDir(), "index.sqlite")
	ix := openAt(t, path, nil)
	newWorkspace(t, files).sync(t, ix)
	ctx := t.Context()
	calls := 0
	right := func(_ context.Context, text string) ([]float32, error) { calls++; return letters(text), nil }
	blind := func(context.Context, string) ([]float32, error) { calls++; return letters("abc"), nil }
	measured := func() *float64 {
		h, err := ix.Search(ctx, Query{Text: "word", K: 5})
		if err != nil {
			t.Fatal(err)
		}
		return h.Reliance
	}
	if err := ix.Measure(ctx, true, right); err != nil || calls != 0 || measured() != nil {
		t.Errorf("without a model: %v after %d calls, %v", measured(), calls, err)
	}
	if err := ix.UseModel(ctx, "m", 26); err != nil {
		t.Fatal(err)
	}
	embed(t, ix, "m", func(m Missing) []float32 { return letters(m.Text) })
	for _, c := range []struct {
		again       bool
		embed       func(context.Context, string) ([]float32, error)
		least, most float64
	}{{false, right, .95, 1}, {false, blind, .95, 1}, {true, blind, 0, .2}, {true, right, .95, 1}} {
		if err := ix.Measure(ctx, c.again, c.embed); err != nil {
			t.Fatal(err)
		}
		if r := measured(); r == nil || *r < c.least || *r > c.most {
			t.Errorf("again %v: %v, want %v to %v", c.again, r, c.least, c.most)
		}
	}
	down := errors.New("down")
	if err := ix.Measure(ctx, true, func(context.Context, string) ([]float32, error) { return nil, down }); !errors.Is(err, down) || measured() == nil {
		t.Errorf("a provider that is down: %v", err)
	}
	ix.Close()
	ix = openAt(t, path, nil)
	if measured() == nil {
		t.Error("it is not kept")
	}
	if err := ix.UseModel(ctx, "n", 26); err != nil {
		t.Fatal(err)
	}
	if r := measured(); r != nil {
		t.Errorf("of another model: %v", *r)
	}
}
