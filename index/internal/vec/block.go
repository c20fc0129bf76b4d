package vec

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Block holds vectors of length 1 in memory. Nearest compares them one by one.
type Block struct {
	dim         int
	rows, files []int64
	numbers     []float32
	// room is a pool of slices for candidates.
	room sync.Pool
}

// maxBlock bounds the size of a block, in bytes.
const maxBlock = 16 << 20 // 16 MiB

// NewBlock makes a block for about n vectors of length dim. It returns nil if they are too long or
// too many.
func NewBlock(dim int, n int64) *Block {
	if dim == 0 || dim > maxBlockDim || 4*int64(dim)*n > maxBlock {
		return nil
	}
	return &Block{dim: dim, rows: make([]int64, 0, n), files: make([]int64, 0, n), numbers: make([]float32, 0, n*int64(dim))}
}

// Add appends the vector of a row, as it is stored.
func (b *Block) Add(row, file int64, stored []byte) {
	b.rows, b.files = append(b.rows, row), append(b.files, file)
	b.numbers = append(b.numbers, Floats(stored)...)
}

// neighbour is a row and the Euclidean distance of its vector from the question.
type neighbour struct {
	Row int64
	Far float32
}

// candidate is the index of a vector in a block, and its approximate product with the question.
type candidate struct {
	at      int32
	product float32
}

// slack is larger than the rounding error in the product of two vectors of length 1 with at most
// maxBlockDim numbers.
const slack = 1e-3

// maxBlockDim is the greatest length of the vectors of a block.
const maxBlockDim = 4096

// Nearest returns the k vectors that are nearest to v, and those that are as near as the last of them.
// v must have length 1. allowed, if not nil, reports whether the vectors of a file may be returned. It
// is called only for vectors that are near. A fast product selects the vectors that may be among the
// nearest. distance then decides, because it is rounded as sqlite-vec rounds it.
func (b *Block) Nearest(v []float32, k int, allowed func(file int64) bool) []neighbour {
	if k <= 0 || len(v) != b.dim {
		return nil
	}
	room, _ := b.room.Get().(*[]candidate)
	if room == nil {
		room = new([]candidate)
	}
	near, floor, most := (*room)[:0], float32(math.Inf(-1)), 4*k
	for i := range b.rows {
		p := product(v, b.numbers[i*b.dim:][:b.dim])
		if p < floor || allowed != nil && !allowed(b.files[i]) {
			continue
		}
		if near = append(near, candidate{int32(i), p}); len(near) >= most {
			near, floor = closest(near, k)
			most = max(4*k, 2*len(near))
		}
	}
	near, _ = closest(near, k)
	out := make([]neighbour, len(near))
	for i, c := range near {
		out[i] = neighbour{b.rows[c.at], distance(v, b.numbers[int(c.at)*b.dim:][:b.dim])}
	}
	*room = near
	b.room.Put(room)
	slices.SortFunc(out, func(x, y neighbour) int { return cmp.Or(cmp.Compare(x.Far, y.Far), cmp.Compare(x.Row, y.Row)) })
	n := min(k, len(out))
	for n < len(out) && out[n].Far == out[n-1].Far {
		n++
	}
	return out[:n]
}

// closest keeps the k candidates with the largest products, and the others that may be as near. floor
// is the least product of a candidate that may still be among the nearest.
func closest(near []candidate, k int) (left []candidate, floor float32) {
	slices.SortFunc(near, func(x, y candidate) int { return cmp.Compare(y.product, x.product) })
	if len(near) <= k {
		return near, float32(math.Inf(-1))
	}
	floor = near[k-1].product - slack
	n := k
	for n < len(near) && near[n].product >= floor {
		n++
	}
	return near[:n], floor
}

// distance returns the Euclidean distance of two vectors, rounded as sqlite-vec rounds it.
func distance(v, w []float32) float32 {
	var sum float32
	for i, x := range v {
		t := x - w[i]
		sum += float32(t * t)
	}
	return float32(math.Sqrt(float64(sum)))
}
