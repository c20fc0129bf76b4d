//go:build !amd64

package vec

// product returns the scalar product of v and w. w must be at least as long as v.
func product(v, w []float32) float32 {
	var a, b, c, d, e, f, g, h float32
	for len(v) >= 8 && len(w) >= 8 {
		a += v[0] * w[0]
		b += v[1] * w[1]
		c += v[2] * w[2]
		d += v[3] * w[3]
		e += v[4] * w[4]
		f += v[5] * w[5]
		g += v[6] * w[6]
		h += v[7] * w[7]
		v, w = v[8:], w[8:]
	}
	for i, x := range v {
		a += x * w[i]
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}
