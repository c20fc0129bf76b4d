package vec

import (
	"math"
	"math/bits"
)

// A vector's code is a few bits for each of its numbers, from which its distance
// to any question can be estimated. It is made as RaBitQ makes it (Gao and Long,
// SIGMOD 2024): the vector less the centre of all is rotated, and each number
// becomes one of 2^planes levels. Bit i of the levels of all numbers is a plane of
// bits, so that estimates are made by counting bits. The highest plane is the signs.

// coder makes codes of vectors of one model. Several goroutines may use one.
type coder struct {
	rot    *rotation
	centre []float32
	// planes is the number of bits that a number has in a code. words is the number of uint64
	// that a plane takes.
	planes, words int
}

func newCoder(planes int, centre []float32) *coder {
	n := len(centre)
	return &coder{newRotation(n), centre, planes, (n + 63) / 64}
}

// code is a vector as it is searched.
type code struct {
	// planes are those of the levels, the highest first, words each.
	planes []uint64
	// square is the squared distance from the centre. scale makes of the product
	// with the levels one with the vector; sum is that of all levels.
	square, scale, sum float32
}

// turned is v less the centre, rotated.
func (c *coder) turned(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = x - c.centre[i]
	}
	c.rot.apply(out)
	return out
}

// step is the distance of levels that loses least of numbers of a normal
// distribution, in its standard deviations, by the number of planes (Max,
// "Quantizing for minimum distortion", 1960).
var step = [...]float64{1: 1.596, 2: 0.9957, 3: 0.5860, 4: 0.3352}

// encode makes the code of a vector.
func (c *coder) encode(v []float32) code { return c.quantise(c.turned(v)) }

// quantise makes the code of a vector that is rotated already.
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

// queryPlanes is how many bits the numbers of a question have in estimates: as many
// as codes have at most, so that neither spoils the other.
const queryPlanes = 4

// asked is a query vector in the form in which it is compared with codes.
type asked struct {
	signs []uint64
	// planes are the planes of the levels, word by word, the lowest first.
	planes [][queryPlanes]uint64
	// A number is low + width·level; sum is that of all numbers.
	low, width, sum float32
}

// ask prepares a query vector of length 1.
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

// differ counts the numbers whose signs differ.
func (q *asked) differ(signs []uint64) (n int) {
	for i, w := range q.signs[:len(signs)] {
		n += bits.OnesCount64(w ^ signs[i])
	}
	return n
}

// product is that of the question's levels with a plane.
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

// bySigns returns the estimated distance by the signs alone, in steps: 0 to farSteps−1 between
// farLow and farHigh; values beyond become 0 or farSteps−1. A sign counts as the mean of its half
// of the levels.
func (q *asked) bySigns(signs []uint64, planes int, n []float32) uint16 {
	far := n[0] - 2*n[1]*halfMean[planes]*(2*(q.low*float32(bitCount(signs))+q.width*float32(q.product(signs)))-q.sum)
	return uint16(min(max((far-farLow)*(farSteps/(farHigh-farLow)), 0), farSteps-1))
}

// farLow to farHigh is the range of the estimate for vectors of length 1, and
// farSteps is into how many steps it is divided for sorting.
const (
	farLow, farHigh = -2, 4
	farSteps        = 1 << 12
)

// halfMean is the mean distance of a number from 0 in levels, by planes: √(2/π) of
// a normal distribution over the step.
var halfMean = [...]float32{1: 0.5, 2: 0.801, 3: 1.362, 4: 2.380}

func bitCount(plane []uint64) (n int) {
	for _, w := range plane {
		n += bits.OnesCount64(w)
	}
	return n
}

// far estimates the squared distance of a vector from the question, less that of
// the question from the centre: ‖x‖² − 2⟨q,x⟩.
func (q *asked) far(planes [][]uint64, square, scale, sum float32) float32 {
	product := 0
	for _, plane := range planes {
		product = 2*product + q.product(plane)
	}
	middle := (float32(int(1)<<len(planes)) - 1) / 2
	return square - 2*scale*(q.low*sum+q.width*float32(product)-middle*q.sum)
}
