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
	rng := rand.New(rand.NewSource(1))
	files := map[string]string{}
	write := func(n int) {
		for i := len(files); i < n; i++ {
			word := make([]byte, 30)
			for j := range word {
				word[j] = byte('a' + rng.Intn(26))
			}
			files[fmt.Sprintf("memory/%d.md", i)] = string(word) + "\n"
		}
	}
	write(40)
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
	if err := ix.Measure(ctx, right); err != nil || calls != 0 || measured() != nil {
		t.Errorf("without a model: %v after %d calls, %v", measured(), calls, err)
	}
	use := func(model string) {
		t.Helper()
		if err := ix.UseModel(ctx, model, 26); err != nil {
			t.Fatal(err)
		}
		embed(t, ix, model, func(m Missing) []float32 { return letters(m.Text) })
	}
	measure := func(embed func(context.Context, string) ([]float32, error), least, most float64) {
		t.Helper()
		if err := ix.Measure(ctx, embed); err != nil {
			t.Fatal(err)
		}
		if r := measured(); r == nil || *r < least || *r > most {
			t.Errorf("%v, want %v to %v", r, least, most)
		}
	}
	use("m")
	down := errors.New("down")
	if err := ix.Measure(ctx, func(context.Context, string) ([]float32, error) { return nil, down }); !errors.Is(err, down) || measured() != nil {
		t.Errorf("a provider that is down: %v", err)
	}
	measure(right, .95, 1)
	calls = 0
	if measure(blind, .95, 1); calls > 0 {
		t.Errorf("%d calls though it is measured", calls)
	}
	ix.Close()
	ix = openAt(t, path, nil)
	if measured() == nil {
		t.Error("it is not kept")
	}
	write(80)
	newWorkspace(t, files).sync(t, ix)
	use("m")
	measure(blind, 0, .2)
	if err := ix.UseModel(ctx, "n", 26); err != nil {
		t.Fatal(err)
	}
	if r := measured(); r != nil {
		t.Errorf("of another model: %v", *r)
	}
}
