package vec

import (
	"math/rand/v2"
	"slices"
)

// goodRecall is the share of the tunedK nearest vectors that the codes must select. It is more than
// .99, because real questions differ from those of the measurement.
const goodRecall = 0.995

// trials are the ways to search with codes, the cheapest first. Each has the number of planes, the
// number of entries selected by signs, and the number of these that all planes select.
var trials = []Meta{
	{planes: 1, among: 768, rescore: 96}, {planes: 1, among: 1536, rescore: 192},
	{planes: 4, among: 1024, rescore: 96}, {planes: 4, among: 2048, rescore: 96}, {planes: 4, among: 4096, rescore: 96},
	{planes: 4, among: 8192, rescore: 96, exactly: true}, {planes: 4, among: 16384, rescore: 120, exactly: true},
}

// maxCoded is the largest length of vectors that have codes, because 16 bits count the signs that
// differ.
const maxCoded = 1 << 15

// each calls f with the stored vectors of rows, in the order of the rows. If rows is nil, it calls f
// with all stored vectors. f must not keep v after it returns.
type each func(rows []int64, f func(row, file, id int64, v []byte) error) error

// Measure makes codes of the vectors of the rows in all, and finds the cheapest way of searching them
// that reaches goodRecall. All vectors must have length dim. Measure shuffles all.
func Measure(dim int, all []int64, each each) (*measurement, error) {
	t := &measurement{}
	if len(all) == 0 || dim > maxCoded {
		return t, nil
	}
	if err := t.sample(dim, all, each); err != nil || len(t.probes) == 0 {
		return t, err
	}
	t.coarse = &table{Meta: Meta{planes: 1}, coder: newCoder(1, t.centre)}
	t.fine = &table{Meta: Meta{planes: 4}, coder: newCoder(4, t.centre)}
	if err := t.encode(each); err != nil {
		return t, err
	}
	t.try()
	return t, nil
}

// measurement is the result of Measure, with the codes to be stored.
type measurement struct {
	centre []float32
	// coarse has codes of one plane, and fine has codes of four planes. best is the one to be stored,
	// or nil.
	coarse, fine, best *table
	found              Meta
	probes             []*probeVector
	n                  int
}

// probeVector is a question of the measurement, with the vectors nearest to it.
type probeVector struct {
	v []float32
	// self is the id of the stored vector that is used as the question. It does not count as a hit.
	// self is 0 for a question between two vectors.
	self int64
	near []nearVector
}

// nearVector is a stored vector by its id, and its cosine with a question.
type nearVector struct {
	id     int64
	cosine float64
}

// probeHalf is the number of stored vectors that are used as questions, and the number of questions
// between two stored vectors. The second kind is further from its answers, as real questions are. The
// worse recall of the two kinds counts.
const probeHalf = 32

// centreOf is the largest number of vectors whose mean is the centre.
const centreOf = 2048

// sample computes the centre and chooses the questions.
func (t *measurement) sample(dim int, all []int64, each each) error {
	rng := rand.New(rand.NewPCG(uint64(len(all)), 1))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	t.centre = make([]float32, dim)
	var first []*probeVector
	n := 0
	err := each(all[:min(len(all), centreOf)], func(row, file, id int64, b []byte) error {
		v := Floats(b)
		for i, x := range v {
			t.centre[i] += x
		}
		if n++; len(first) < 3*probeHalf {
			first = append(first, &probeVector{v: v, self: id})
		}
		return nil
	})
	for i := range t.centre {
		t.centre[i] /= float32(max(n, 1))
	}
	rng.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
	t.probes = first[:min(len(first), probeHalf)]
	for rest := first[len(t.probes):]; len(rest) >= 2; rest = rest[2:] {
		if v := middle(rest[0].v, rest[1].v); v != nil {
			t.probes = append(t.probes, &probeVector{v: v})
		}
	}
	return err
}

// middle returns the vector of length 1 in the middle between a and b, or nil if a and b are opposite.
func middle(a, b []float32) []float32 {
	sum := make([]float32, len(a))
	for i := range a {
		sum[i] = a[i] + b[i]
	}
	u, err := Unit(sum)
	if err != nil {
		return nil
	}
	return Floats(u)
}

// encode makes all codes, and finds the vectors nearest to the questions by comparing every
// vector.
func (t *measurement) encode(each each) error {
	seen := map[int64]bool{}
	return each(nil, func(row, file, id int64, b []byte) error {
		v := Floats(b)
		turned := t.coarse.coder.turned(v)
		for _, table := range []*table{t.coarse, t.fine} {
			table.add(slabEntry{row, file, id, table.coder.quantise(turned)})
		}
		t.n++
		if seen[id] {
			return nil
		}
		seen[id] = true
		for _, p := range t.probes {
			if id != p.self {
				p.take(id, Product(p.v, b))
			}
		}
		return nil
	})
}

// take adds a vector to p.near if it is among the tunedK nearest so far.
func (p *probeVector) take(id int64, cosine float64) {
	if len(p.near) == tunedK && cosine <= p.near[tunedK-1].cosine {
		return
	}
	i, _ := slices.BinarySearchFunc(p.near, cosine, func(r nearVector, c float64) int {
		if r.cosine >= c {
			return -1
		}
		return 1
	})
	p.near = slices.Insert(p.near, i, nearVector{id, cosine})
	p.near = p.near[:min(len(p.near), tunedK)]
}

// try sets found and best to the cheapest of trials that reaches goodRecall.
func (t *measurement) try() {
	t.found = Meta{Of: int64(t.n)}
	dists := make([]uint16, 0, t.n)
	for _, way := range trials {
		table := t.coarse
		if way.planes > 1 {
			table = t.fine
		}
		table.Meta = way
		recall := t.recall(table, dists)
		if t.found.recall = max(t.found.recall, recall); recall >= goodRecall {
			way.Of, way.Now, way.recall = int64(t.n), int64(t.n), recall
			t.found, t.best = way, table
			return
		}
	}
}

// recall returns the share of the nearest vectors that a table selects, for the kind of questions for
// which it is lower.
func (t *measurement) recall(table *table, dists []uint16) float64 {
	var held, all [2]float64
	for _, p := range t.probes {
		half := 0
		if p.self == 0 {
			half = 1
		}
		left := map[int64]bool{}
		for _, x := range table.preselect(p.v, tunedK, nil, dists) {
			left[x.ids[x.at]] = true
		}
		for _, r := range p.near {
			all[half]++
			if left[r.id] {
				held[half]++
			}
		}
	}
	worst := 1.0
	for i := range all {
		if all[i] > 0 {
			worst = min(worst, held[i]/all[i])
		}
	}
	return worst
}
