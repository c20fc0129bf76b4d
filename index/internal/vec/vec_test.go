package vec

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func gauss(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func cosine(a, b []float32) float64 {
	x, err := Unit(b)
	if err != nil {
		return 0
	}
	y, err := Unit(a)
	if err != nil {
		return 0
	}
	return Product(Floats(y), x)
}

// What is measured holds the promise, counts what it measured, and its table leaves in
// what is nearest, also among some files only.
func TestMeasure(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	const dim, n = 48, 700
	var all [][]byte
	var rows []int64
	for i := range n {
		b, err := Unit(gauss(rng, dim))
		if err != nil {
			t.Fatal(err)
		}
		all, rows = append(all, b), append(rows, int64(i))
	}
	each := func(of []int64, f func(row, file, id int64, v []byte) error) error {
		for i, v := range all {
			if of == nil || slices.Contains(of, int64(i)) {
				if err := f(int64(i), int64(i%3), int64(1000+i), v); err != nil {
					return err
				}
			}
		}
		return nil
	}
	m, err := Measure(dim, rows, each)
	if err != nil || !m.found.Coded() || m.found.recall < goodRecall || m.found.Of != n || m.found.Now != n {
		t.Fatalf("%v: %s", err, m.found)
	}
	q := Floats(all[5])
	for _, allowed := range []func(int64) bool{nil, func(file int64) bool { return file == 2 }} {
		picks := m.best.nearest(q, 3, allowed)
		if !slices.Contains(picks, Pick{5, 1005}) {
			t.Errorf("%v: the vector itself is not among those that are near it", picks)
		}
		for _, p := range picks {
			if allowed != nil && p.Row%3 != 2 {
				t.Errorf("row %d is of a file that is not wanted", p.Row)
			}
		}
	}
	if m, err := Measure(dim, nil, each); err != nil || m.found.Coded() {
		t.Errorf("of no vectors: %s, %v", m.found, err)
	}
}

// Rotating keeps lengths and angles, for lengths of any kind.
func TestRotation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 300).Draw(t, "dim")
		rng := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		a, b := gauss(rng, dim), gauss(rng, dim)
		x, y := slices.Clone(a), slices.Clone(b)
		r := newRotation(dim)
		r.apply(x)
		r.apply(y)
		if c, d := cosine(a, b), cosine(x, y); math.Abs(c-d) > 1e-4 {
			t.Fatalf("cosine %v, rotated %v", c, d)
		}
	})
}

// A slab comes back as it was written, whatever was put and dropped.
func TestSlab(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		planes := rapid.SampledFrom([]int{1, 4}).Draw(t, "planes")
		const words = 2
		s, want := &slab{number: 7}, map[int64]slabEntry{}
		for range rapid.IntRange(0, 30).Draw(t, "edits") {
			row := 7*slabRows + rapid.Int64Range(0, 20).Draw(t, "row")
			if rapid.Bool().Draw(t, "drop") {
				s.drop(row, words)
				delete(want, row)
				continue
			}
			e := slabEntry{row, row + 1, row + 2, code{square: float32(row), scale: 2, sum: 3}}
			for range planes * words {
				e.planes = append(e.planes, rapid.Uint64().Draw(t, "word"))
			}
			s.put(e, words)
			want[row] = e
		}
		got, err := decodeSlab(7, 1, s.encode(), planes, words)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.rows) != len(want) {
			t.Fatalf("%d rows, want %d", len(got.rows), len(want))
		}
		for i := range got.rows {
			if w, ok := want[got.row(i)]; !ok || !got.same(i, w, words) {
				t.Fatalf("row %d differs", got.row(i))
			}
		}
	})
}
