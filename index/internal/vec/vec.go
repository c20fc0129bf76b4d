// Package vec stores and searches the vectors of an index. Vectors have length 1 and are stored as
// bytes. For many vectors it also keeps codes in the table chunk_codes, which have a few bits for each
// number of a vector. A search compares only the vectors that the codes select. The package measures
// how many of the nearest vectors the codes select. It uses no other table. The caller passes the
// vectors.
package vec

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Unit returns v scaled to length 1 in the stored form: float32, little-endian. Distances between unit
// vectors have the same order as the angles between them, and are cheaper to compute.
func Unit(v []float32) ([]byte, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("not a usable vector: its length is %v", math.Sqrt(sum))
	}
	scale := 1 / math.Sqrt(sum)
	out := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(float32(float64(x)*scale)))
	}
	return out, nil
}

// Decode reads a stored vector. ok is false if b is not a vector of length 1 with dim numbers.
func Decode(b []byte, dim int) (v []float32, ok bool) {
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

// Floats reads float32 numbers, little-endian.
func Floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func floatBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Product returns the scalar product of a vector and a stored vector.
func Product(q []float32, stored []byte) float64 {
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
