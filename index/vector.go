package index

import (
	"context"
	"fmt"

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
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := h.reader(ctx)
	if err == nil {
		defer r.tx.Rollback()
		var out []Hit
		if out, err = r.nearestHits(ctx, ix.door.path, model, question, k, want); err == nil {
			return out, nil
		}
	}
	return nil, explain("search vectors", ix.door.path, err)
}

// nearestHits ranks the nearest chunks.
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
