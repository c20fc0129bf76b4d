package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// maxNeighbours is the most that sqlite-vec returns for one question.
const maxNeighbours = 4096

// errVector is wrapped by complaints about a vector's numbers.
var errVector = errors.New("not a usable vector")

// unit is v scaled to length 1, as it is stored: float32, little-endian.
// Distances between unit vectors sort as angles do, and are cheaper.
func unit(v []float32) ([]byte, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("%w: its length is %v", errVector, math.Sqrt(sum))
	}
	scale := 1 / math.Sqrt(sum)
	out := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(float32(float64(x)*scale)))
	}
	return out, nil
}

// decodeVector reads a stored vector; ok is false if it is no unit vector.
func decodeVector(b []byte, dim int) (v []float32, ok bool) {
	if len(b) != 4*dim || dim == 0 {
		return nil, false
	}
	v = make([]float32, dim)
	var sum float64
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		sum += float64(v[i]) * float64(v[i])
	}
	return v, math.Abs(sum-1) < 1e-3
}

// Vector finds the k chunks whose vectors are nearest to vec. Up to
// Options.ExactVectors, and wherever codes were found not to do, every vector is
// compared; otherwise those that the codes leave. vec must come from the model in use
// (UseModel) and need not have length 1. want, if not nil, says which files may be
// among the hits; the others take nobody's place.
// A hit's Raw is the cosine, its Score the cosine where positive, else 0.
// Without a model in use the error is ErrModel.
func (ix *Index) Vector(ctx context.Context, model string, vec []float32, k int, want func(path string) bool) ([]Hit, error) {
	h, done, err := ix.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := h.look(ctx)
	if err == nil {
		var out []Hit
		if out, err = ix.nearest(ctx, h, v, model, vec, k, want); err == nil {
			return out, nil
		}
	}
	return nil, explain("search vectors", ix.path, err)
}

func (ix *Index) nearest(ctx context.Context, h *handles, v *view, model string, vec []float32, k int, want func(string) bool) ([]Hit, error) {
	if v.model != model || model == "" || v.dim != len(vec) {
		return nil, problem("search vectors", ix.path, ErrModel,
			fmt.Errorf("the index has %q of %d, the question %q of %d", v.model, v.dim, model, len(vec)))
	}
	q, err := unit(vec)
	if err != nil || k <= 0 {
		return nil, err
	}
	hits, err := h.nearest(ctx, v, q, k, want)
	if err != nil {
		return nil, err
	}
	hits = rank(hits, k)
	for i := range hits {
		hits[i].Score = min(1, max(0, hits[i].Raw))
	}
	return hits, nil
}
