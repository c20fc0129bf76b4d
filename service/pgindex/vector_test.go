//go:build unix

package pgindex

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// embedded gives every text a vector of a toy model: random, but for the text
// named near.
func embedded(t testing.TB, ix *Index, model string, dim int, near string, at []float32) int {
	t.Helper()
	ctx := context.Background()
	if err := ix.UseModel(ctx, model, dim); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var all []index.Embedding
	for m, err := range ix.MissingEmbeddings(ctx, model) {
		if err != nil {
			t.Fatal(err)
		}
		v := make([]float32, dim)
		for i := range v {
			v[i] = r.Float32() - 0.5
		}
		if m.Text == near {
			copy(v, at)
		}
		all = append(all, index.Embedding{Hash: m.Hash, Vector: v})
	}
	if err := ix.PutEmbeddings(ctx, model, all); err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func withVectors(t testing.TB, ix *Index) {
	t.Helper()
	if !ix.site.vectors {
		t.Skip("the server has no pgvector; MEMKERNEL_PGLITE=1 starts one that has")
	}
}

func TestVectors(t *testing.T) {
	ix := open(t, freshSchema(t))
	withVectors(t, ix)
	ctx := context.Background()
	fill(t, ix, notes, day)
	for _, dim := range []int{8, 2500} { // whole, and by halves
		at := make([]float32, dim)
		for i := range at {
			at[i] = float32(i%3) + 1
		}
		model := map[int]string{8: "small", 2500: "large"}[dim]
		if n := embedded(t, ix, model, dim, "Ann likes espresso.", at); n != 6 {
			t.Fatalf("%s: %d texts had no vector", model, n)
		}
		h, err := ix.Search(ctx, index.Query{Text: "coffee", Model: model, Vector: at, K: 3})
		if err != nil || h.VectorErr != nil {
			t.Fatal(err, h.VectorErr)
		}
		if len(h.Vector) != 3 || h.Vector[0].Text != "Ann likes espresso." || math.Abs(h.Vector[0].Raw-1) > 1e-3 || h.Vector[0].Rank != 1 {
			t.Errorf("%s: nearest %s, %v", model, places(h.Vector), h.Vector)
		}
		if n := embedded(t, ix, model, dim, "", nil); n != 0 {
			t.Errorf("%d texts are embedded twice", n)
		}
	}
	s, err := ix.Stats(ctx)
	if err != nil || s.Cached != 12 || s.Vectors != 6 || s.Model != "large" || s.Dim != 2500 {
		t.Errorf("statistics %+v, %v", s, err)
	}
}

// A model whose vectors change their length is done without; other models stay.
func TestKeepLength(t *testing.T) {
	ix := open(t, freshSchema(t))
	withVectors(t, ix)
	ctx := context.Background()
	fill(t, ix, notes, day)
	embedded(t, ix, "other", 4, "", nil)
	embedded(t, ix, "m", 8, "", nil)
	for _, c := range []struct {
		model string
		dim   int
		want  int64
		use   string
	}{{"m", 8, 0, "m"}, {"other", 3, 6, "m"}, {"m", 3, 6, ""}} {
		n, err := ix.KeepLength(ctx, c.model, c.dim)
		used, _, merr := ix.Model(ctx)
		if n != c.want || err != nil || merr != nil || used != c.use {
			t.Errorf("%s of %d: %d forgotten, %v; %q in use, %v", c.model, c.dim, n, err, used, merr)
		}
	}
}

func TestBadVectors(t *testing.T) {
	ix := open(t, freshSchema(t))
	withVectors(t, ix)
	ctx := context.Background()
	fill(t, ix, notes, day)
	if err := ix.UseModel(ctx, "m", 3); err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for _, v := range [][]float32{{0, 0, 0}, {nan, 1, 1}, {1, 2}} {
		if err := ix.PutEmbeddings(ctx, "m", []index.Embedding{{Vector: v}}); err == nil {
			t.Errorf("%v is stored", v)
		}
	}
	h, err := ix.Search(ctx, index.Query{Text: "staging", Model: "other", Vector: []float32{1, 2, 3}, K: 3})
	if err != nil || !errors.Is(h.VectorErr, index.ErrModel) || len(h.Keyword) == 0 {
		t.Errorf("another model: %v, %v, %d hits by words", err, h.VectorErr, len(h.Keyword))
	}
}

// A server without the extension searches words, and reports why not vectors.
func TestNoVectors(t *testing.T) {
	ix := open(t, freshSchema(t))
	ix.site.vectors = false
	fill(t, ix, notes, day)
	if err := ix.UseModel(context.Background(), "m", 3); !errors.Is(err, errNoVectors) {
		t.Errorf("choose a model: %v", err)
	}
	if len(find(t, ix, "staging")) == 0 {
		t.Error("words are not found")
	}
}
