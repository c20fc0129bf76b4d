package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel/internal/suite"
)

// embed puts a vector for every text that misses one, and counts them.
func embed(t testing.TB, ix *Index, model string, of func(Missing) []float32) int {
	t.Helper()
	ctx := context.Background()
	var batch []Embedding
	for m, err := range ix.MissingEmbeddings(ctx, model) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Hash != HashChunk(m.Trail, m.Text) {
			t.Errorf("the hash of %q is not that of its parts", m.Text)
		}
		batch = append(batch, Embedding{m.Hash, of(m)})
	}
	if err := ix.PutEmbeddings(ctx, model, batch); err != nil {
		t.Fatal(err)
	}
	return len(batch)
}

// letters is a small embedding: how often each letter occurs.
func letters(s string) []float32 {
	v := make([]float32, 26)
	for _, r := range s {
		if r >= 'a' && r <= 'z' {
			v[r-'a'] += 3 // not a unit vector
		}
	}
	return v
}

func TestVectors(t *testing.T) {
	ctx := context.Background()
	w := newWorkspace(t, map[string]string{"a.md": "# T\n\nabc\n\nxyz\n\nmmm\n", "b.md": "xyz\n"})
	ix := openNew(t)
	w.sync(t, ix)
	if _, err := ix.Vector(ctx, "m1", letters("abc"), 3, nil); !errors.Is(err, ErrModel) {
		t.Errorf("without a model: %v", err)
	}
	if err := ix.UseModel(ctx, "m1", 26); err != nil {
		t.Fatal(err)
	}
	of := func(m Missing) []float32 { return letters(m.Text) }
	if n := embed(t, ix, "m1", of); n != 4 {
		t.Errorf("%d texts were missing a vector, want 4: under a heading is another text", n)
	}
	near := func(want ...string) {
		t.Helper()
		hits, err := ix.Vector(ctx, "m1", letters("xxyyzza"), 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, places(hits)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for i, h := range hits {
			if h.Rank != i+1 || h.Score < 0 || h.Score > 1 {
				t.Errorf("hit %d: rank %d, score %v, cosine %v", i, h.Rank, h.Score, h.Raw)
			}
		}
	}
	near("a.md:5", "b.md:1", "a.md:3")
	hits, _ := ix.Vector(ctx, "m1", letters("xyz"), 1, nil)
	if math.Abs(hits[0].Raw-1) > 1e-6 {
		t.Errorf("cosine of equal directions: %v", hits[0].Raw)
	}
	only, err := ix.Vector(ctx, "m1", letters("xyz"), 2, func(p string) bool { return p == "b.md" })
	if err != nil || !cmp.Equal(places(only), []string{"b.md:1"}) {
		t.Errorf("%v, %v", places(only), err)
	}
	checkClean(t, ix)

	// Text that moves keeps its vector; text that is new misses one; text that
	// comes back has it still.
	w.put(t, "c.md", "xyz\n")
	w.put(t, "a.md", "# T\n\nabc\n\nnew\n")
	w.sync(t, ix)
	checkClean(t, ix)
	near("b.md:1", "c.md:1", "a.md:3")
	if n := embed(t, ix, "m1", of); n != 1 {
		t.Errorf("%d texts embedded again, want the new one only", n)
	}
	w.put(t, "a.md", "# T\n\nabc\n\nxyz\n\nmmm\n")
	w.sync(t, ix)
	near("a.md:5", "b.md:1", "c.md:1")
	if n := embed(t, ix, "m1", of); n != 0 {
		t.Errorf("%d texts embedded again that were known", n)
	}
	checkClean(t, ix)
}

func TestSwitchingModels(t *testing.T) {
	ctx := context.Background()
	w := newWorkspace(t, map[string]string{"a.md": "abc\n\nxyz\n"})
	ix := openNew(t)
	w.sync(t, ix)
	two := func(m Missing) []float32 { return []float32{float32(m.Text[0]), 1} }
	embed(t, ix, "m2", two) // kept, though no model is in use
	for _, m := range []struct {
		name string
		dim  int
	}{{"m2", 2}, {"m1", 26}, {"m2", 2}, {"", 0}, {"m2", 2}} {
		if err := ix.UseModel(ctx, m.name, m.dim); err != nil {
			t.Fatal(err)
		}
		if name, dim, err := ix.Model(ctx); err != nil || name != m.name || dim != m.dim {
			t.Errorf("model is %q of %d, %v", name, dim, err)
		}
		checkClean(t, ix)
	}
	if hits, err := ix.Vector(ctx, "m2", []float32{'x', 1}, 5, nil); err != nil || len(hits) != 2 {
		t.Errorf("%v, %v", places(hits), err)
	}
	for _, c := range []struct {
		model string
		vec   []float32
	}{{"m1", make([]float32, 26)}, {"m2", []float32{1, 2, 3}}, {"", nil}} {
		if _, err := ix.Vector(ctx, c.model, c.vec, 1, nil); !errors.Is(err, ErrModel) {
			t.Errorf("%q of %d: %v", c.model, len(c.vec), err)
		}
	}
	nan := float32(math.NaN())
	for _, v := range [][]float32{{0, 0}, {nan, 1}, {float32(math.Inf(1)), 0}} {
		if err := ix.PutEmbeddings(ctx, "m2", []Embedding{{Hash{1}, v}}); !strings.Contains(fmt.Sprint(err), "not a usable vector") {
			t.Errorf("%v was stored: %v", v, err)
		}
	}
	if err := ix.PutEmbeddings(ctx, "m2", []Embedding{{Hash{1}, []float32{1, 2, 3}}}); !errors.Is(err, ErrModel) {
		t.Errorf("a vector of another length was stored: %v", err)
	}
	if err := ix.UseModel(ctx, "m3", 0); err == nil {
		t.Error("a model without a length is in use")
	}
}

// The search by vectors is exact, and stays small under churn.
func TestVectorsAreExactUnderChurn(t *testing.T) {
	ctx := context.Background()
	const dim = 48
	rng := rand.New(rand.NewSource(1))
	direction := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	w := newWorkspace(t, nil)
	ix := openNew(t)
	if err := ix.UseModel(ctx, "m", dim); err != nil {
		t.Fatal(err)
	}
	truth := map[Hash][]float32{}
	rounds := suite.Pick(3, 8)
	for round := range rounds {
		for i := range 300 {
			w.put(t, fmt.Sprintf("%d.md", i), fmt.Sprintf("text %d of round %d\n", i, round))
		}
		w.sync(t, ix)
		embed(t, ix, "m", func(m Missing) []float32 { v := direction(); truth[m.Hash] = v; return v })
	}
	w.put(t, "0.md", "the last\n")
	w.sync(t, ix)
	var blocks int
	if err := ix.door.cur.read.QueryRow("SELECT count(*) FROM chunks_vec_chunks").Scan(&blocks); err != nil || blocks > 4 {
		t.Errorf("300 vectors take %d blocks of %d, %v", blocks, vecBlock, err)
	}
	checkClean(t, ix)
	q := direction()
	hits, err := ix.Vector(ctx, "m", q, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []float64
	for _, h := range hits {
		got = append(got, h.Raw)
		if c := cosine(q, truth[h.Hash]); math.Abs(c-h.Raw) > 1e-5 {
			t.Errorf("%s has cosine %v, want %v", h.Path, h.Raw, c)
		}
	}
	for i := 1; i < 300; i++ {
		want = append(want, cosine(q, truth[HashChunk(nil, fmt.Sprintf("text %d of round %d", i, rounds-1))]))
	}
	slices.Sort(want)
	slices.Reverse(want)
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-5 {
			t.Errorf("neighbour %d has cosine %v, want %v", i, got[i], want[i])
		}
	}
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func TestSearchBothSides(t *testing.T) {
	ctx := context.Background()
	w := newWorkspace(t, map[string]string{"a.md": "abc\n\nxyz\n"})
	ix := openNew(t)
	w.sync(t, ix)
	got, err := ix.Search(ctx, Query{Text: "abc", Model: "m", Vector: letters("xyz"), K: 5})
	if err != nil || len(got.Keyword) != 1 || !errors.Is(got.VectorErr, ErrModel) {
		t.Errorf("keywords alone: %+v, %v", got, err)
	}
	if err := ix.UseModel(ctx, "m", 26); err != nil {
		t.Fatal(err)
	}
	embed(t, ix, "m", func(m Missing) []float32 { return letters(m.Text) })
	got, err = ix.Search(ctx, Query{Text: "abc", Model: "m", Vector: letters("xyz"), K: 5})
	if err != nil || got.VectorErr != nil || got.KeywordErr != nil || got.Outdated ||
		!cmp.Equal(places(got.Keyword), []string{"a.md:1"}) || !cmp.Equal(places(got.Vector), []string{"a.md:3", "a.md:1"}) {
		t.Errorf("both: %+v, %v", got, err)
	}
	if got, err := ix.Search(ctx, Query{Model: "m", Vector: letters("xyz"), K: 5}); err != nil || len(got.Terms) != 0 || len(got.Vector) != 2 {
		t.Errorf("vectors alone: %+v, %v", got, err)
	}
}
