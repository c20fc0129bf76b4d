package vec

import (
	"math"
	"math/bits"
)

// A vector's code has a few bits for each number of the vector. The distance of the vector from a
// question can be estimated from it. Codes are made as in RaBitQ (Gao and Long, SIGMOD 2024): the mean
// of all vectors, the centre, is subtracted from the vector, the result is rotated, and each number
// becomes one of 2^planes levels. A plane holds one bit of the level of each number, so that counting
// bits gives estimates. The highest plane holds the signs of the numbers.

// coder makes codes of vectors of one model. Several goroutines may use it at once.
type coder struct {
	rot    *rotation
	centre []float32
	// planes is the number of bits in a code for each number. words is the number of uint64 of a
	// plane.
	planes, words int
}

func newCoder(planes int, centre []float32) *coder {
	n := len(centre)
	return &coder{newRotation(n), centre, planes, (n + 63) / 64}
}

// code is the code of a vector.
type code struct {
	// planes are the planes of the levels, the highest first.
	planes []uint64
	// square is the squared distance of the vector from the centre. A product with the levels,
	// multiplied by scale, estimates the product with the vector. sum is the sum of all levels.
	square, scale, sum float32
}

// turned returns v minus the centre, rotated.
func (c *coder) turned(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = x - c.centre[i]
	}
	c.rot.apply(out)
	return out
}

// step holds, by the number of planes, the distance between two levels in standard deviations. It is
// the distance with the least error for normally distributed numbers (Max, "Quantizing for minimum
// distortion", 1960).
var step = [...]float64{1: 1.596, 2: 0.9957, 3: 0.5860, 4: 0.3352}

// encode makes the code of a vector.
func (c *coder) encode(v []float32) code { return c.quantise(c.turned(v)) }

// quantise makes the code of a vector that turned has returned.
func (c *coder) quantise(t []float32) code {
	var square float64
	for _, x := range t {
		square += float64(x) * float64(x)
	}
	out := code{planes: make([]uint64, c.planes*c.words), square: float32(square)}
	half := float64(int(1) << (c.planes - 1))
	width := step[c.planes] * math.Sqrt(square/float64(len(t)))
	if !(width > 0) {
		width = 1 // the centre itself
	}
	var product, sum float64
	for i, x := range t {
		level := min(max(math.Floor(float64(x)/width)+half, 0), 2*half-1)
		sum += level
		product += float64(x) * (level - half + 0.5)
		for p := range c.planes {
			bit := uint64(level) >> (c.planes - 1 - p) & 1
			out.planes[p*c.words+i/64] |= bit << (i % 64)
		}
	}
	out.sum = float32(sum)
	if product > 0 {
		out.scale = float32(square / product)
	}
	return out
}

// queryPlanes is the number of bits of a question's numbers in estimates. Codes have at most as many.
const queryPlanes = 4

// asked is a question's vector, prepared for the comparison with codes.
type asked struct {
	signs []uint64
	// planes has, for each word of 64 numbers, the planes of their levels, the lowest first.
	planes [][queryPlanes]uint64
	// The value of a number is low + width·level. sum is the sum of all numbers.
	low, width, sum float32
}

// ask prepares a question's vector, which must have length 1.
func (c *coder) ask(v []float32) *asked {
	t := c.turned(v)
	q := &asked{signs: make([]uint64, c.words), planes: make([][queryPlanes]uint64, c.words)}
	low, high := t[0], t[0]
	for i, x := range t {
		low, high = min(low, x), max(high, x)
		q.sum += x
		if x >= 0 {
			q.signs[i/64] |= 1 << (i % 64)
		}
	}
	q.low, q.width = low, max((high-low)/(1<<queryPlanes-1), math.SmallestNonzeroFloat32)
	for i, x := range t {
		level := uint64(math.Round(float64((x - low) / q.width)))
		for p := range queryPlanes {
			q.planes[i/64][p] |= level >> p & 1 << (i % 64)
		}
	}
	return q
}

// differ counts the numbers whose signs differ between the question and a code.
func (q *asked) differ(signs []uint64) (n int) {
	for i, w := range q.signs[:len(signs)] {
		n += bits.OnesCount64(w ^ signs[i])
	}
	return n
}

// product returns the product of the question's levels and a plane.
func (q *asked) product(plane []uint64) int {
	var a, b, c, d int
	for i := range q.planes[:len(plane)] {
		w, p := plane[i], &q.planes[i]
		a += bits.OnesCount64(w & p[0])
		b += bits.OnesCount64(w & p[1])
		c += bits.OnesCount64(w & p[2])
		d += bits.OnesCount64(w & p[3])
	}
	return a + 2*b + 4*c + 8*d
}

// bySigns estimates the distance of a vector from its signs alone. The result is a step from 0 to
// farSteps−1, where farLow is 0 and farHigh is farSteps. Estimates out of this range become the first
// or the last step. A sign counts as the mean of the levels with that sign.
func (q *asked) bySigns(signs []uint64, planes int, n []float32) uint16 {
	far := n[0] - 2*n[1]*halfMean[planes]*(2*(q.low*float32(bitCount(signs))+q.width*float32(q.product(signs)))-q.sum)
	return uint16(min(max((far-farLow)*(farSteps/(farHigh-farLow)), 0), farSteps-1))
}

// farLow to farHigh is the range of the estimates for vectors of length 1. farSteps is the number of
// steps into which the range is divided.
const (
	farLow, farHigh = -2, 4
	farSteps        = 1 << 12
)

// halfMean holds, by the number of planes, the mean absolute value of a number in units of the step:
// √(2/π) for a normal distribution, divided by the step.
var halfMean = [...]float32{1: 0.5, 2: 0.801, 3: 1.362, 4: 2.380}

func bitCount(plane []uint64) (n int) {
	for _, w := range plane {
		n += bits.OnesCount64(w)
	}
	return n
}

// far estimates ‖x‖² − 2⟨q,x⟩ for a vector x and the question q, both relative to the centre. This is
// the squared distance of the two minus ‖q‖², which is the same for all vectors.
func (q *asked) far(planes [][]uint64, square, scale, sum float32) float32 {
	product := 0
	for _, plane := range planes {
		product = 2*product + q.product(plane)
	}
	middle := (float32(int(1)<<len(planes)) - 1) / 2
	return square - 2*scale*(q.low*sum+q.width*float32(product)-middle*q.sum)
}
