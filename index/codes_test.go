package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index/internal/vec"
	"github.com/memkernel/memkernel/internal/suite"
)

// ball makes vectors round a few directions, or in all directions for 0.
func ball(rng *rand.Rand, dim, clusters int) func() []float32 {
	var bases [][]float32
	for range clusters {
		bases = append(bases, gauss(rng, dim))
	}
	return func() []float32 {
		v := gauss(rng, dim)
		if clusters > 0 {
			for i, x := range bases[rng.Intn(clusters)] {
				v[i] = 0.6*v[i] + x
			}
		}
		return v
	}
}

func gauss(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// coded is an index of n vectors that compares all only up to 200, and the vectors.
func coded(t testing.TB, n int, next func() []float32) (*workspace, *Index, map[Hash][]float32) {
	t.Helper()
	w := newWorkspace(t, nil)
	for i := range (n + 9) / 10 {
		w.put(t, fmt.Sprintf("%c/%d.md", 'a'+i%3, i), manyNotes(i))
	}
	ix := openAt(t, filepath.Join(t.TempDir(), "i.sqlite"), &Options{ExactVectors: 200})
	w.sync(t, ix)
	truth := map[Hash][]float32{}
	if err := ix.UseModel(context.Background(), "m", len(next())); err != nil {
		t.Fatal(err)
	}
	embed(t, ix, "m", func(m Missing) []float32 { v := next(); truth[m.Hash] = v; return v })
	return w, ix, truth
}

// manyNotes is a file of ten chunks.
func manyNotes(i int) string {
	var b strings.Builder
	for j := range 10 {
		fmt.Fprintf(&b, "note %d of file %d\n\n", j, i)
	}
	return b.String()
}

// found asks the index and by comparing all, among the files wanted, and returns the
// share of the nearest k that the index has.
func found(t testing.TB, ix *Index, truth map[Hash][]float32, q []float32, k int, want func(string) bool) float64 {
	t.Helper()
	ctx := context.Background()
	got, err := ix.Vector(ctx, "m", q, k, want)
	if err != nil {
		t.Fatal(err)
	}
	h, done, err := ix.door.use(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	all, err := readHits(ctx, h.read, "SELECT "+hitColumns+" FROM chunks AS c JOIN files AS f ON f.id=c.file")
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(h Hit) bool { return want != nil && !want(h.Path) })
	for i := range all {
		all[i].Raw = cosine(q, truth[all[i].Hash])
	}
	slices.SortFunc(all, func(a, b Hit) int { return cmp.Compare(b.Raw, a.Raw) })
	all = all[:min(k, len(all))]
	if len(got) != len(all) {
		t.Fatalf("%d hits, want %d", len(got), len(all))
	}
	have := map[string]float64{}
	for i, g := range got {
		have[g.ID] = g.Raw
		if g.Rank != i+1 || want != nil && !want(g.Path) {
			t.Fatalf("hit %d: rank %d of %s", i, g.Rank, g.Path)
		}
	}
	if len(all) == 0 {
		return 1
	}
	hits := 0
	for _, w := range all {
		if raw, ok := have[w.ID]; ok {
			hits++
			if math.Abs(raw-w.Raw) > 1e-5 {
				t.Errorf("%s has cosine %v, want %v", w.ID, raw, w.Raw)
			}
		}
	}
	return float64(hits) / float64(len(all))
}

func codesOf(t testing.TB, ix *Index) vec.Meta {
	t.Helper()
	m, err := loadMeta(context.Background(), ix.door.cur.read)
	if err != nil {
		t.Fatal(err)
	}
	return m.codes
}

// Searches by codes find what comparing every vector finds, whatever the vectors
// are like and whichever files are wanted, also while files come and go.
func TestCodesFindTheNearest(t *testing.T) {
	type space struct {
		name          string
		dim, clusters int
	}
	for _, tc := range suite.Some([]space{{"clusters", 64, 12}, {"uniform", 100, 0}, {"odd length", 37, 5}}, 1) {
		t.Run(tc.name, func(t *testing.T) {
			rng := rand.New(rand.NewSource(3))
			next := ball(rng, tc.dim, tc.clusters)
			w, ix, truth := coded(t, 900, next)
			m := codesOf(t, ix)
			if !m.Coded() || m.Now != 900 || m.Of != 900 {
				t.Fatalf("%s", m)
			}
			checkClean(t, ix)
			wants := map[string]func(string) bool{
				"all": nil, "third": func(p string) bool { return p[0] == 'b' },
				"few": func(p string) bool { return strings.HasSuffix(p, "17.md") }, "none": func(string) bool { return false },
			}
			judge := func() {
				t.Helper()
				for name, want := range wants {
					sum := 0.0
					for range 5 {
						sum += found(t, ix, truth, next(), 24, want)
					}
					if sum/5 < 0.985 {
						t.Errorf("%s: recall %.3f", name, sum/5)
					}
				}
			}
			judge()
			for i := range 40 {
				w.remove(t, fmt.Sprintf("%c/%d.md", 'a'+i%3, i))
				w.put(t, fmt.Sprintf("b/new-%d.md", i), manyNotes(1000+i))
			}
			w.sync(t, ix)
			embed(t, ix, "m", func(m Missing) []float32 { v := next(); truth[m.Hash] = v; return v })
			if m := codesOf(t, ix); m.Now != 900 || m.Of != 900 {
				t.Errorf("%s", m)
			}
			checkClean(t, ix)
			judge()
		})
	}
}

// Codes follow a vector that is put anew, another model, a compaction and a rebuild;
// a handle that was open all the time sees each.
func TestCodesFollow(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewSource(5))
	next := ball(rng, 48, 8)
	_, ix, truth := coded(t, 600, next)
	other := openAt(t, ix.Path(), &Options{ReadOnly: true})
	same := func() {
		t.Helper()
		checkClean(t, ix)
		for range 5 {
			q := next()
			if a, b := found(t, ix, truth, q, 10, nil), found(t, other, truth, q, 10, nil); a < 0.9 || a != b {
				t.Errorf("recall %v, by the other handle %v", a, b)
			}
		}
	}
	same()
	var again []Embedding
	for h := range truth {
		if len(again) == 50 {
			break
		}
		truth[h] = next()
		again = append(again, Embedding{h, truth[h]})
	}
	if err := ix.PutEmbeddings(ctx, "m", again); err != nil {
		t.Fatal(err)
	}
	same()
	before := codesOf(t, ix)
	if err := ix.UseModel(ctx, "n", 3); err != nil {
		t.Fatal(err)
	}
	if m := codesOf(t, ix); m.Coded() || m.Stamp <= before.Stamp {
		t.Errorf("another model: %s", m)
	}
	checkClean(t, ix)
	if err := ix.UseModel(ctx, "m", 48); err != nil {
		t.Fatal(err)
	}
	same()
}

// Where codes don't find enough, every vector is compared.
func TestCodesGiveWay(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewSource(7))
	next := ball(rng, 32, 0)
	_, ix, truth := coded(t, 400, next)
	h, done, err := ix.door.use(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for _, q := range []string{
		"UPDATE chunk_codes SET codes=substr(codes, 1, 100) WHERE slab=0",
		"UPDATE chunk_codes SET codes=x'00' WHERE slab=-1",
		"DELETE FROM chunk_codes WHERE slab=0", "DELETE FROM chunk_codes",
	} {
		m := codesOf(t, ix)
		m.Stamp++
		if _, err := h.write.Exec(q); err != nil {
			t.Fatal(err)
		}
		if _, err := h.write.Exec("UPDATE meta SET value=? WHERE key='codes'", m.String()); err != nil {
			t.Fatal(err)
		}
		if r := found(t, ix, truth, next(), 20, nil); r != 1 {
			t.Errorf("%s: recall %v", q, r)
		}
		bad := 0
		for err := range ix.Check(ctx) {
			if bad++; strings.Contains(err.Error(), "compact") { // no command does that to an index
				t.Errorf("%s: check says %v", q, err)
			}
		}
		if bad == 0 {
			t.Errorf("%s: check finds nothing", q)
		}
		if err := errors.Join(ix.UseModel(ctx, "", 0), ix.UseModel(ctx, "m", 32)); err != nil { // which measures anew
			t.Fatal(err)
		}
		checkClean(t, ix)
	}
}

// A vector that equals thousands of others is found by its file: the filter
// comes before the choice.
func TestWantedAmongMany(t *testing.T) {
	same := gauss(rand.New(rand.NewSource(1)), 16)
	far := slices.Clone(same)
	far[0] += 2
	for _, exact := range suite.Pick([]int{200}, []int{-1, 200}) {
		w := newWorkspace(t, map[string]string{"only.md": "the one\n"})
		for i := range 430 {
			w.put(t, fmt.Sprintf("%d.md", i), manyNotes(i))
		}
		ix := openAt(t, filepath.Join(t.TempDir(), "i.sqlite"), &Options{ExactVectors: exact})
		w.sync(t, ix)
		if err := ix.UseModel(context.Background(), "m", 16); err != nil {
			t.Fatal(err)
		}
		embed(t, ix, "m", func(m Missing) []float32 {
			if m.Path == "only.md" {
				return far
			}
			return same
		})
		hits, err := ix.Vector(context.Background(), "m", same, 5, func(p string) bool { return p == "only.md" })
		if err != nil || len(hits) != 1 || hits[0].Path != "only.md" {
			t.Errorf("ExactVectors %d: %v, %v", exact, places(hits), err)
		}
	}
}
