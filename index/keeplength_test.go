package index

import (
	"context"
	"errors"
	"testing"
)

// A model whose vectors change their length is done without; other models, and
// vectors of the right length, stay.
func TestKeepLength(t *testing.T) {
	ctx := context.Background()
	w := newWorkspace(t, map[string]string{"a.md": "abc\n", "b.md": "xyz\n"})
	ix := openNew(t)
	w.sync(t, ix)
	of := func(m Missing) []float32 { return letters(m.Text) }
	for _, model := range []string{"m", "other"} {
		if err := ix.UseModel(ctx, model, 26); err != nil {
			t.Fatal(err)
		}
		if n := embed(t, ix, model, of); n != 2 {
			t.Fatalf("%d texts", n)
		}
	}
	keep := func(model string, dim int, want int64, use string) {
		t.Helper()
		n, err := ix.KeepLength(ctx, model, dim)
		used, _, merr := ix.Model(ctx)
		if n != want || err != nil || merr != nil || used != use {
			t.Errorf("%d vectors of %s forgotten, %v; %q is in use, %v; want %d and %q", n, model, err, used, merr, want, use)
		}
	}
	keep("other", 26, 0, "other")
	keep("m", 3, 2, "other")
	keep("other", 3, 2, "")
	keep("none", 3, 0, "")
	if _, err := ix.KeepLength(ctx, "", 3); !errors.Is(err, ErrModel) {
		t.Errorf("without a name: %v", err)
	}
	if err := ix.UseModel(ctx, "other", 3); err != nil {
		t.Fatal(err)
	}
	if n := embed(t, ix, "other", func(Missing) []float32 { return []float32{1, 2, 3} }); n != 2 {
		t.Errorf("%d texts were embedded anew", n)
	}
	for err := range ix.Check(ctx) {
		t.Error(err)
	}
}
