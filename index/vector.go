package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// maxNeighbours is the largest number of rows that sqlite-vec returns for one question.
const maxNeighbours = 4096

// Vector finds the k chunks whose vectors are nearest to question. In an index of at most
// Options.ExactVectors vectors, or if the codes were found not to suffice, it compares every
// vector. Otherwise it compares only the vectors that the codes select. question must come from
// the model in use (UseModel) and need not have length 1. want, if not nil, reports whether a
// file's chunks may be among the hits. Chunks of other files are left out before the k chunks are
// chosen. A hit's Raw is the cosine. Its Score is the cosine if positive, else 0. Without a model
// in use Vector returns ErrModel.
func (ix *Index) Vector(ctx context.Context, model string, question []float32, k int, want func(path string) bool) ([]Hit, error) {
	vector := append([]float32{}, question...) // not nil, which asks for no vectors
	hits, err := ix.Search(ctx, Query{Model: model, Vector: vector, K: k, Want: want})
	return hits.Vector, cmp.Or(hits.VectorErr, err)
}

// nearestHits returns the k nearest chunks, ranked.
func (r *reader) nearestHits(ctx context.Context, path, model string, question []float32, k int, want func(string) bool) ([]Hit, error) {
	if v := r.v; v.model != model || model == "" || v.dim != len(question) {
		return nil, Problem("search vectors", path, ErrModel,
			fmt.Errorf("the index has %q of %d, the question %q of %d", v.model, v.dim, model, len(question)))
	}
	q, err := vec.Unit(question)
	if err != nil || k <= 0 {
		return nil, err
	}
	if err := r.keepVectors(ctx); err != nil {
		return nil, err
	}
	hits, err := r.nearest(ctx, q, k, want)
	if err != nil {
		return nil, err
	}
	return RankVector(hits, k), nil
}

// vectorSearch is one search by vectors.
type vectorSearch struct {
	*reader
	// q is the question's vector in stored form.
	q []byte
	// unit is the question's vector as numbers.
	unit []float32
	k    int
	want func(path string) bool
}

// nearest returns the k nearest chunks, and those as near as the last of these, with their cosines.
func (r *reader) nearest(ctx context.Context, q []byte, k int, want func(string) bool) ([]Hit, error) {
	a := &vectorSearch{r, q, vec.Floats(q), k, want}
	b := r.v.block.Load()
	if b == nil && !r.v.codes.Coded() {
		return a.exact(ctx)
	}
	allowed, err := a.filter(ctx)
	if err != nil {
		return nil, err
	}
	if b != nil {
		var near []fts5.Row
		for _, n := range b.Nearest(a.unit, k, allowed) {
			near = append(near, fts5.Row{Row: n.Row, Score: unitCosine(float64(n.Far))})
		}
		return a.hits(ctx, near)
	}
	// If the codes are damaged, every vector is compared. Check reports damaged codes.
	picks, ok, err := r.codes.Nearest(ctx, r.tx, r.v.codes, a.unit, k, allowed)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return a.exact(ctx)
	}
	return a.picked(ctx, picks)
}

// keepVectors keeps the vectors in memory if every one must be compared and they are few. The
// first search of a state of the index does not keep them, because reading all vectors takes
// longer than one search.
func (r *reader) keepVectors(ctx context.Context) error {
	v := r.v
	if v.codes.Coded() || v.block.Load() != nil || v.compared.Add(1) != 2 {
		return nil
	}
	b := vec.NewBlock(v.dim, v.total)
	if b == nil {
		return nil
	}
	err := v.vectors(ctx, r.tx)(nil, func(row, file, _ int64, stored []byte) error {
		b.Add(row, file, stored)
		return nil
	})
	if err != nil {
		v.compared.Store(0)
		return err
	}
	v.block.Store(b)
	return nil
}

// unitCosine returns the cosine of two vectors of length 1 from their distance.
func unitCosine(far float64) float64 { return 1 - far*far/2 }

// picked returns the nearest of the chunks that the codes selected.
func (a *vectorSearch) picked(ctx context.Context, picks []vec.Pick) ([]Hit, error) {
	cosines, err := a.cosines(ctx, picks)
	if err != nil {
		return nil, err
	}
	var near []fts5.Row
	for _, p := range picks {
		if c, ok := cosines[p.ID]; ok {
			near = append(near, fts5.Row{Row: p.Row, Score: c})
		}
	}
	return a.hits(ctx, near)
}

// filter returns a function that reports whether a file is wanted. The function is nil if all
// files are wanted. The caller's Want is called once for each file, and only if one of its chunks
// comes near.
func (a *vectorSearch) filter(ctx context.Context) (func(file int64) bool, error) {
	if a.want == nil {
		return nil, nil
	}
	paths, err := a.paths(ctx)
	if err != nil {
		return nil, err
	}
	asked := onceEach(a.want)
	return func(file int64) bool { return asked(paths[file]) }, nil
}

// cosines returns the cosines of the question and the picked vectors, by number in embedding_cache.
func (a *vectorSearch) cosines(ctx context.Context, picks []vec.Pick) (map[int64]float64, error) {
	ids := make([]int64, len(picks))
	for i, p := range picks {
		ids[i] = p.ID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := make(map[int64]float64, len(ids))
	var id int64
	var vector sql.RawBytes
	err := drv.Each(ctx, a.tx, []any{&id, &vector}, func() error {
		if len(vector) == 4*len(a.unit) {
			out[id] = vec.Product(a.unit, vector)
		}
		return nil
	}, "SELECT id, vector FROM embedding_cache WHERE id IN (SELECT value FROM json_each(?))", drv.JSONList(ids))
	return out, err
}

// hits reads the k nearest rows, and the rows that are as near as the last of these. The place of
// a row decides between rows that are equally near.
func (a *vectorSearch) hits(ctx context.Context, near []fts5.Row) ([]Hit, error) {
	slices.SortFunc(near, fts5.Row.Compare)
	n := min(a.k, len(near))
	for n < len(near) && n < a.k+maxNeighbours && near[n].Score == near[n-1].Score {
		n++
	}
	return a.rowHits(ctx, near[:n])
}

// exact returns the nearest chunks by comparing every vector in SQLite.
func (a *vectorSearch) exact(ctx context.Context) ([]Hit, error) {
	for limit := min(min(a.k, maxNeighbours)+Ties, maxNeighbours); ; limit = min(limit*4, maxNeighbours) {
		near, err := a.neighbours(ctx, limit)
		if err != nil {
			return nil, err
		}
		found := len(near)
		if near, err = a.wanted(ctx, near, a.want); err != nil {
			return nil, err
		}
		switch {
		case found < limit || len(near) >= a.k || limit == maxNeighbours && a.want == nil:
			return a.hits(ctx, near)
		case limit == maxNeighbours:
			return a.among(ctx)
		}
	}
}

// nearestQuery returns the rows nearest to a vector with their cosines. For unit vectors the cosine is
// 1 − d²/2.
const nearestQuery = `SELECT rowid, 1.0 - distance*distance/2.0 FROM chunks_vec WHERE embedding MATCH ? AND k = ?`

// neighbours returns the nearest rows by sqlite-vec.
func (a *vectorSearch) neighbours(ctx context.Context, limit int) ([]fts5.Row, error) {
	return drv.All(ctx, a.tx, func(n *fts5.Row) []any { return []any{&n.Row, &n.Score} }, nearestQuery, a.q, limit)
}

// among returns the nearest chunks of the wanted files by comparing all vectors of these files.
func (a *vectorSearch) among(ctx context.Context) ([]Hit, error) {
	paths, err := a.paths(ctx)
	if err != nil {
		return nil, err
	}
	var files []int64
	for id, path := range paths {
		if a.want(path) {
			files = append(files, id)
		}
	}
	var near []fts5.Row
	var row int64
	var vector sql.RawBytes
	err = drv.Each(ctx, a.tx, []any{&row, &vector}, func() error {
		if len(vector) == 4*len(a.unit) {
			near = append(near, fts5.Row{Row: row, Score: vec.Product(a.unit, vector)})
		}
		return nil
	}, `SELECT c.row, e.vector FROM chunks AS c JOIN embedding_cache AS e ON e.hash=c.hash AND e.model=? AND e.dim=?
		WHERE c.file IN (SELECT value FROM json_each(?))`, a.v.model, a.v.dim, drv.JSONList(files))
	if err != nil {
		return nil, err
	}
	return a.hits(ctx, near)
}

// paths returns the paths of all files, by file number.
func (r *reader) paths(ctx context.Context) (map[int64]string, error) {
	if paths := r.v.paths.Load(); paths != nil {
		return *paths, nil
	}
	out := map[int64]string{}
	var id int64
	var path string
	err := drv.Each(ctx, r.tx, []any{&id, &path}, func() error {
		out[id] = path
		return nil
	}, "SELECT id, path FROM files")
	if err != nil {
		return nil, err
	}
	r.v.paths.Store(&out)
	return out, nil
}
