package vec

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// rotation turns vectors by a fixed random orthogonal map, which spreads a
// vector's information evenly over its numbers: only then do their signs hold
// much of it. Each of its passes flips signs and applies the Walsh-Hadamard
// transform to the first and to the last 2^n numbers, n as large as the length
// allows, which makes a length of any size do without padding.
type rotation struct {
	dim, block int
	// flips are ±1, dim for each pass; scale makes a transform keep lengths.
	flips []float32
	scale float32
}

// passes is how often signs are flipped and transformed. Three are usual for
// lengths that are powers of two (Andoni et al., "Practical and optimal LSH for
// angular distance", 2015); a block less than the whole needs one more to mix.
const passes = 4

// newRotation returns the rotation of vectors of length dim, the same in every program: its
// results are stored.
func newRotation(dim int) *rotation {
	r := &rotation{dim: dim, block: 1 << (bits.Len(uint(dim)) - 1)}
	r.scale = float32(1 / math.Sqrt(float64(r.block)))
	rng := rand.NewPCG(0x6d6b6978, uint64(dim))
	r.flips = make([]float32, passes*dim)
	for i := range r.flips {
		r.flips[i] = 1 - 2*float32(rng.Uint64()>>63)
	}
	return r
}

// apply turns v in place.
func (r *rotation) apply(v []float32) {
	for p := range passes {
		for i, f := range r.flips[p*r.dim : (p+1)*r.dim] {
			v[i] *= f
		}
		r.transform(v[:r.block])
		if r.block < r.dim {
			r.transform(v[r.dim-r.block:])
		}
	}
}

// transform is the fast Walsh-Hadamard transform.
func (r *rotation) transform(v []float32) {
	for h := 1; h < len(v); h *= 2 {
		for i := 0; i < len(v); i += 2 * h {
			a, b := v[i:i+h], v[i+h:i+2*h]
			for j, x := range a {
				y := b[j]
				a[j], b[j] = x+y, x-y
			}
		}
	}
	for i := range v {
		v[i] *= r.scale
	}
}
