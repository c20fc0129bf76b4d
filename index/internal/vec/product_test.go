package vec

import (
	"math"
	"math/rand"
	"testing"
)

// The product that chooses candidates is off by less than slack, whatever the vectors'
// lengths and wherever they lie in memory, and reads nothing behind their ends.
func TestProduct(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	dims := []int{384, 768, 1000, 1536, maxBlockDim}
	for n := range 70 {
		dims = append(dims, n)
	}
	for _, n := range dims {
		for off := range 4 {
			v, w := make([]float32, n+off), make([]float32, n+off+3)
			for i := range w {
				w[i] = float32(math.NaN())
			}
			for i := range v {
				v[i] = float32(math.NaN())
			}
			want, length := 0.0, math.Sqrt(float64(max(n, 1)))
			for i := range n {
				v[off+i], w[off+i] = float32(rng.NormFloat64()/length), float32(rng.NormFloat64()/length)
				want += float64(v[off+i]) * float64(w[off+i])
			}
			if got := product(v[off:], w[off:off+n]); !(math.Abs(float64(got)-want) < slack) {
				t.Fatalf("%d numbers from %d: %v, not %v", n, off, got, want)
			}
		}
	}
}
