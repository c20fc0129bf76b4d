package vec

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// rotation rotates vectors by a fixed random orthogonal map. The map spreads a vector's information
// evenly over its numbers, so that their signs hold much of it. Each pass flips signs, and applies the
// Walsh-Hadamard transform to the first 2^n numbers and to the last 2^n numbers. 2^n is the largest
// power of two that is not larger than the length. So vectors of any length need no padding.
type rotation struct {
	dim, block int
	// flips holds ±1, dim of them for each pass. scale is the factor with which a transform keeps
	// the length of a vector.
	flips []float32
	scale float32
}

// passes is the number of passes. Three are usual for lengths that are powers of two (Andoni et al.,
// "Practical and optimal LSH for angular distance", 2015). Other lengths need one more.
const passes = 4

// newRotation returns the rotation of vectors of length dim. It must be the same in every version of
// the program, because rotated vectors are stored.
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

// apply rotates v in place.
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
