package index

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"slices"
)

// defaultExact is how many vectors are compared one by one if Options does not say:
// about where that begins to take longer than a search by words.
const defaultExact = 10_000

// goodRecall is the share of the nearest tunedK that codes must leave in: a little more
// than the .99 that is promised, since questions differ from those of the measurement.
const goodRecall = 0.995

// trials are the ways to search by codes, the cheapest first: planes, and how many
// entries the signs leave, and how many of these all planes leave.
var trials = []codesMeta{
	{planes: 1, among: 768, rescore: 96}, {planes: 1, among: 1536, rescore: 192},
	{planes: 4, among: 1024, rescore: 96}, {planes: 4, among: 2048, rescore: 96}, {planes: 4, among: 4096, rescore: 96},
	{planes: 4, among: 8192, rescore: 96, exactly: true}, {planes: 4, among: 16384, rescore: 120, exactly: true},
}

// tune makes the codes of vectors where these are many, and measures which way to
// search them finds what comparing every vector finds; anew whenever there are twice
// as many. All is read in one transaction and written in another: if vectors came in
// between, the next call does it.
func (ix *Index) tune(ctx context.Context, h *handles, again bool) error {
	m, n, err := ix.due(ctx, h, again)
	if err != nil || n == 0 {
		return err
	}
	t := &tuner{h: h, was: m.codes, generation: m.generation}
	if err := t.measure(ctx, m); err != nil {
		return err
	}
	return h.transact(ctx, func(tx *sql.Tx) error {
		old, err := loadMeta(ctx, tx)
		if err != nil || old.generation != t.generation || old.codes != t.was {
			return err
		}
		now := old.clone()
		if err := t.write(ctx, tx, now); err != nil {
			return err
		}
		return now.save(ctx, tx, old)
	})
}

// due tells how many vectors there are if they are to be measured, else 0.
func (ix *Index) due(ctx context.Context, h *handles, again bool) (*meta, int64, error) {
	m, err := loadMeta(ctx, h.read)
	most := int64(ix.opts.ExactVectors)
	if err != nil || m.model == "" || m.dim > maxCoded || most < 0 || m.nextRow <= most {
		return m, 0, err
	}
	n := m.codes.now
	if m.codes.planes == 0 {
		if err := h.read.QueryRowContext(ctx, "SELECT count(*) FROM chunks_vec_rowids").Scan(&n); err != nil {
			return m, 0, err
		}
	}
	if n <= most || !again && m.codes.of > 0 && n < 2*m.codes.of {
		return m, 0, nil
	}
	return m, n, nil
}

// maxCoded is the longest vector that has a code: its differing signs are counted in
// 16 bits.
const maxCoded = 1 << 15

// tuner is one measurement.
type tuner struct {
	h          *handles
	was        codesMeta
	generation int64
	centre     []float32
	// coarse has codes of one plane, fine of all; best is the one to be kept.
	coarse, fine, best *codeTable
	found              codesMeta
	probes             []*probeVector
	n                  int
}

// probeVector is a question of the measurement, and what is nearest to it.
type probeVector struct {
	v []float32
	// self is the vector that it was taken from, which does not count.
	self int64
	near []scoredRow
}

// How many stored vectors are asked for as they are, and how many middles of two:
// a question is further from what answers it than notes are from each other. The
// worse of the two halves counts.
const probeHalf = 32

// centreOf bounds the vectors that the centre is the mean of.
const centreOf = 2048

func (t *tuner) measure(ctx context.Context, m *meta) error {
	tx, err := t.h.read.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := t.sample(ctx, tx, m); err != nil || len(t.probes) == 0 {
		return err
	}
	t.coarse = &codeTable{codesMeta: codesMeta{planes: 1}, coder: newCoder(1, t.centre)}
	t.fine = &codeTable{codesMeta: codesMeta{planes: 4}, coder: newCoder(4, t.centre)}
	if err := t.encode(ctx, tx, m); err != nil {
		return err
	}
	t.try()
	return nil
}

// eachVector reads vectors in the order of their rows: all, or those of some rows.
func eachVector(ctx context.Context, db execer, m *meta, rows []int64, f func(row, file, id int64, v []byte) error) error {
	query := `SELECT c.row, c.file, e.id, e.vector FROM chunks AS c
		JOIN embedding_cache AS e ON e.hash=c.hash AND e.model=? AND e.dim=?`
	args := []any{m.model, m.dim}
	if rows != nil {
		query += " WHERE c.row IN (SELECT value FROM json_each(?))"
		args = append(args, jsonList(rows))
	}
	found, err := db.QueryContext(ctx, query+" ORDER BY c.row", args...)
	if err != nil {
		return err
	}
	defer found.Close()
	var v sql.RawBytes
	for found.Next() {
		var row, file, id int64
		if err := found.Scan(&row, &file, &id, &v); err != nil {
			return err
		}
		if len(v) != 4*m.dim {
			continue
		}
		if err := f(row, file, id, v); err != nil {
			return err
		}
	}
	return found.Err()
}

// sample picks the centre and the questions.
func (t *tuner) sample(ctx context.Context, db execer, m *meta) error {
	all, err := numbersOf(ctx, db, "SELECT rowid FROM chunks_vec_rowids")
	if err != nil || len(all) == 0 {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(len(all)), 1))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	t.centre = make([]float32, m.dim)
	var first []*probeVector
	n := 0
	err = eachVector(ctx, db, m, all[:min(len(all), centreOf)], func(row, file, id int64, b []byte) error {
		v := floats(b)
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

// middle is the direction between two; nil between opposites.
func middle(a, b []float32) []float32 {
	sum := make([]float32, len(a))
	for i := range a {
		sum[i] = a[i] + b[i]
	}
	u, err := unit(sum)
	if err != nil {
		return nil
	}
	return floats(u)
}

func numbersOf(ctx context.Context, db execer, query string) ([]int64, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

// encode makes all codes, and finds what is nearest to the questions by comparing
// every vector.
func (t *tuner) encode(ctx context.Context, db execer, m *meta) error {
	seen := map[int64]bool{}
	return eachVector(ctx, db, m, nil, func(row, file, id int64, b []byte) error {
		v := floats(b)
		turned := t.coarse.coder.turned(v)
		for _, table := range []*codeTable{t.coarse, t.fine} {
			table.add(slabEntry{row, file, id, table.coder.quantise(turned)})
		}
		t.n++
		if seen[id] {
			return nil
		}
		seen[id] = true
		for _, p := range t.probes {
			if id != p.self {
				p.take(id, product(p.v, b))
			}
		}
		return nil
	})
}

// add appends an entry; rows come in order.
func (t *codeTable) add(e slabEntry) {
	n := e.row / slabRows
	if len(t.slabs) == 0 || t.slabs[len(t.slabs)-1].number != n {
		t.slabs = append(t.slabs, &slab{number: n})
	}
	t.slabs[len(t.slabs)-1].put(e, t.coder.words)
	t.n++
}

// take keeps the nearest tunedK.
func (p *probeVector) take(id int64, cosine float64) {
	if len(p.near) == tunedK && cosine <= p.near[tunedK-1].score {
		return
	}
	i, _ := slices.BinarySearchFunc(p.near, cosine, func(r scoredRow, c float64) int {
		if r.score >= c {
			return -1
		}
		return 1
	})
	p.near = slices.Insert(p.near, i, scoredRow{id, cosine})
	p.near = p.near[:min(len(p.near), tunedK)]
}

// try finds the cheapest way that does.
func (t *tuner) try() {
	t.found = codesMeta{of: int64(t.n)}
	dists := make([]uint16, 0, t.n)
	for _, way := range trials {
		table := t.coarse
		if way.planes > 1 {
			table = t.fine
		}
		table.codesMeta = way
		recall := t.recall(table, dists)
		if t.found.recall = max(t.found.recall, recall); recall >= goodRecall {
			way.of, way.now, way.recall = int64(t.n), int64(t.n), recall
			t.found, t.best = way, table
			return
		}
	}
}

// recall is the share of the nearest that a table leaves in, in the worse half of
// the questions.
func (t *tuner) recall(table *codeTable, dists []uint16) float64 {
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
			if left[r.row] {
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

// write stores what was found.
func (t *tuner) write(ctx context.Context, tx execer, m *meta) error {
	for _, q := range []string{createCodes, "DELETE FROM chunk_codes"} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	t.found.stamp = m.codes.stamp + 1
	m.codes = t.found
	if t.best == nil {
		return nil
	}
	if err := writeSlab(ctx, tx, centreSlab, m.codes.stamp, floatBytes(t.centre)); err != nil {
		return err
	}
	for _, s := range t.best.slabs {
		if err := writeSlab(ctx, tx, s.number, m.codes.stamp, s.encode()); err != nil {
			return err
		}
	}
	return nil
}
