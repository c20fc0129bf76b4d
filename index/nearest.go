package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// asking is one search by vectors, in one transaction.
type asking struct {
	h  *handles
	tx *sql.Tx
	v  *view
	// q is the question as it is stored, unit the same in numbers.
	q    []byte
	unit []float32
	k    int
	want func(path string) bool
}

// nearest finds the hits among which the k nearest are, with their cosines.
func (h *handles) nearest(ctx context.Context, v *view, q []byte, k int, want func(string) bool) ([]Hit, error) {
	tx, err := h.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	a := &asking{h, tx, v, q, floats(q), k, want}
	codes, err := a.codes(ctx)
	if err != nil {
		return nil, err
	}
	if codes != nil {
		return a.byCodes(ctx, codes)
	}
	return a.exact(ctx)
}

// codes is the table of codes, nil if every vector is to be compared: also if the
// table is damaged, of which Check tells.
func (a *asking) codes(ctx context.Context) (*codeTable, error) {
	if a.v.codes.planes == 0 {
		return nil, nil
	}
	var now string
	if err := a.tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE key='codes'").Scan(&now); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		return nil, err
	}
	m, err := parseCodes(now)
	if err != nil {
		return nil, err
	}
	t, err := a.h.codes.get(ctx, a.tx, m)
	if errors.Is(err, errCodes) || t != nil && len(t.coder.centre) != a.v.dim {
		return nil, nil
	}
	return t, err
}

// byCodes compares the vectors that codes leave.
func (a *asking) byCodes(ctx context.Context, t *codeTable) ([]Hit, error) {
	allowed, err := a.filter(ctx)
	if err != nil {
		return nil, err
	}
	dists, _ := a.h.codes.dists.Get().([]uint16)
	if cap(dists) < t.n {
		dists = make([]uint16, 0, t.n+t.n/8)
	}
	picks := t.preselect(a.unit, a.k, allowed, dists)
	a.h.codes.dists.Put(dists)
	cosines, err := a.cosines(ctx, picks)
	if err != nil {
		return nil, err
	}
	var near []scoredRow
	for _, p := range picks {
		if c, ok := cosines[p.ids[p.at]]; ok {
			near = append(near, scoredRow{p.row(p.at), c})
		}
	}
	return a.hits(ctx, near)
}

// filter tells of entries whether their files are wanted, nil if all are. Each file
// is asked about once, and only if one of its chunks comes near.
func (a *asking) filter(ctx context.Context) (func(*slab, int) bool, error) {
	if a.want == nil {
		return nil, nil
	}
	paths, err := a.h.paths(ctx, a.tx)
	if err != nil {
		return nil, err
	}
	asked := map[int64]bool{}
	return func(s *slab, at int) bool {
		file := s.files[at]
		ok, known := asked[file]
		if !known {
			path, there := paths[file]
			ok = there && a.want(path)
			asked[file] = ok
		}
		return ok
	}, nil
}

// cosines compares the question with vectors of the cache.
func (a *asking) cosines(ctx context.Context, picks []pick) (map[int64]float64, error) {
	ids := make([]int64, len(picks))
	for i, p := range picks {
		ids[i] = p.ids[p.at]
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rows, err := a.tx.QueryContext(ctx, "SELECT id, vector FROM embedding_cache WHERE id IN (SELECT value FROM json_each(?))", jsonList(ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[int64]float64, len(ids))
	var vector sql.RawBytes
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id, &vector); err != nil {
			return nil, err
		}
		if len(vector) == 4*len(a.unit) {
			out[id] = product(a.unit, vector)
		}
	}
	return out, rows.Err()
}

// product is that of a vector with one as it is stored.
func product(q []float32, stored []byte) float64 {
	var a, b, c, d float32
	for len(q) >= 4 && len(stored) >= 16 {
		a += q[0] * math.Float32frombits(binary.LittleEndian.Uint32(stored))
		b += q[1] * math.Float32frombits(binary.LittleEndian.Uint32(stored[4:]))
		c += q[2] * math.Float32frombits(binary.LittleEndian.Uint32(stored[8:]))
		d += q[3] * math.Float32frombits(binary.LittleEndian.Uint32(stored[12:]))
		q, stored = q[4:], stored[16:]
	}
	for i, x := range q {
		a += x * math.Float32frombits(binary.LittleEndian.Uint32(stored[4*i:]))
	}
	return float64(a+b) + float64(c+d)
}

// hits reads the k nearest rows, and those that are as near as the last: among
// these their place decides.
func (a *asking) hits(ctx context.Context, near []scoredRow) ([]Hit, error) {
	slices.SortFunc(near, func(x, y scoredRow) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.row, y.row)) })
	n := min(a.k, len(near))
	for n < len(near) && n < a.k+maxNeighbours && near[n].score == near[n-1].score {
		n++
	}
	return rowHits(ctx, a.tx, near[:n])
}

// exact compares every vector.
func (a *asking) exact(ctx context.Context) ([]Hit, error) {
	for limit := min(min(a.k, maxNeighbours)+ties, maxNeighbours); ; limit = min(limit*4, maxNeighbours) {
		hits, err := readHits(ctx, a.tx, nearestQuery, a.q, limit)
		if err != nil {
			return nil, err
		}
		found := len(hits)
		hits = keep(hits, a.want)
		switch {
		case found < limit || len(hits) >= a.k || limit == maxNeighbours && a.want == nil:
			return hits, nil
		case limit == maxNeighbours:
			return a.among(ctx)
		}
	}
}

// nearestQuery keeps the search apart from the join: sqlite-vec takes part in
// no other kind of query. For unit vectors the cosine is 1 − d²/2.
const nearestQuery = `
WITH n AS MATERIALIZED (
	SELECT rowid AS row, distance AS d FROM chunks_vec WHERE embedding MATCH ? AND k = ?)
SELECT ` + hitColumns + `, 1.0 - n.d*n.d/2.0
FROM n JOIN chunks AS c ON c.row=n.row JOIN files AS f ON f.id=c.file`

// among compares the vectors of the wanted files, one by one.
func (a *asking) among(ctx context.Context) ([]Hit, error) {
	paths, err := a.h.paths(ctx, a.tx)
	if err != nil {
		return nil, err
	}
	var files []int64
	for id, path := range paths {
		if a.want(path) {
			files = append(files, id)
		}
	}
	rows, err := a.tx.QueryContext(ctx, `SELECT c.row, e.vector FROM chunks AS c
		JOIN embedding_cache AS e ON e.hash=c.hash AND e.model=? AND e.dim=?
		WHERE c.file IN (SELECT value FROM json_each(?))`, a.v.model, a.v.dim, jsonList(files))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var near []scoredRow
	var vector sql.RawBytes
	for rows.Next() {
		var row int64
		if err := rows.Scan(&row, &vector); err != nil {
			return nil, err
		}
		if len(vector) == 4*len(a.unit) {
			near = append(near, scoredRow{row, product(a.unit, vector)})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return a.hits(ctx, near)
}

// paths are those of all files, by their numbers, as db sees them.
func (h *handles) paths(ctx context.Context, db execer) (map[int64]string, error) {
	var gen string
	if err := db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key='generation'").Scan(&gen); err != nil {
		return nil, err
	}
	h.seenMu.Lock()
	defer h.seenMu.Unlock()
	if h.pathsOf == gen && h.pathByID != nil {
		return h.pathByID, nil
	}
	rows, err := db.QueryContext(ctx, "SELECT id, path FROM files")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]string{}
	for rows.Next() {
		var id int64
		var path string
		if err := rows.Scan(&id, &path); err != nil {
			return nil, err
		}
		out[id] = path
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	h.pathsOf, h.pathByID = gen, out
	return out, nil
}
