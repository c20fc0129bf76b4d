package vec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// slabRows is the number of rows that share a slab of chunk_codes. The number of a row's slab is
// row/slabRows.
const slabRows = 1024

// slab holds the codes of neighbouring rows, in order. A loaded slab never changes.
//
//	entry of the head   row u16 │ file u64 │ vector u64 │ square, scale, sum f32
//	slab                n entries │ n·words signs │ n·(planes−1)·words lower planes
//
// All is little-endian. vector is the id in embedding_cache.
type slab struct {
	number int64
	// stamp is the stamp of the transaction that wrote the slab.
	stamp int64
	rows  []uint16
	files []int64
	ids   []int64
	// numbers holds the square, scale and sum of each entry's code.
	numbers []float32
	// signs holds the highest plane of each entry. fine holds the other planes.
	signs, fine []uint64
}

const slabHead = 2 + 8 + 8 + 3*4

// slabEntry is one row of a slab.
type slabEntry struct {
	row, file, id int64
	code
}

// encode returns the stored form of a slab.
func (s *slab) encode() []byte {
	b := make([]byte, 0, len(s.rows)*slabHead+8*(len(s.signs)+len(s.fine)))
	le := binary.LittleEndian
	for i, r := range s.rows {
		b = le.AppendUint16(b, r)
		b = le.AppendUint64(b, uint64(s.files[i]))
		b = le.AppendUint64(b, uint64(s.ids[i]))
		for _, x := range s.numbers[3*i : 3*i+3] {
			b = le.AppendUint32(b, math.Float32bits(x))
		}
	}
	for _, w := range s.signs {
		b = le.AppendUint64(b, w)
	}
	for _, w := range s.fine {
		b = le.AppendUint64(b, w)
	}
	return b
}

// decodeSlab reads a slab that encode wrote.
func decodeSlab(number, stamp int64, b []byte, planes, words int) (*slab, error) {
	size := slabHead + 8*planes*words
	n := len(b) / size
	if len(b)%size != 0 || n > slabRows {
		return nil, fmt.Errorf("%w: slab %d has %d bytes, which is no number of entries of %d", errDamaged, number, len(b), size)
	}
	s := &slab{number: number, stamp: stamp, rows: make([]uint16, n), files: make([]int64, n), ids: make([]int64, n),
		numbers: make([]float32, 3*n), signs: make([]uint64, n*words), fine: make([]uint64, n*words*(planes-1))}
	le := binary.LittleEndian
	for i := range n {
		e := b[i*slabHead:]
		s.rows[i], s.files[i], s.ids[i] = le.Uint16(e), int64(le.Uint64(e[2:])), int64(le.Uint64(e[10:]))
		if s.rows[i] >= slabRows || i > 0 && s.rows[i] <= s.rows[i-1] {
			return nil, fmt.Errorf("%w: slab %d has its rows out of order", errDamaged, number)
		}
		for j := range 3 {
			s.numbers[3*i+j] = math.Float32frombits(le.Uint32(e[18+4*j:]))
		}
	}
	b = b[n*slabHead:]
	for i := range s.signs {
		s.signs[i] = le.Uint64(b[8*i:])
	}
	b = b[8*len(s.signs):]
	for i := range s.fine {
		s.fine[i] = le.Uint64(b[8*i:])
	}
	return s, nil
}

// row returns the row of an entry.
func (s *slab) row(i int) int64 { return s.number*slabRows + int64(s.rows[i]) }

// put adds an entry, or replaces the entry of the same row.
func (s *slab) put(e slabEntry, words int) {
	s.drop(e.row, words)
	low := len(e.planes) - words
	r := uint16(e.row % slabRows)
	i, _ := slices.BinarySearch(s.rows, r)
	s.rows = slices.Insert(s.rows, i, r)
	s.files = slices.Insert(s.files, i, e.file)
	s.ids = slices.Insert(s.ids, i, e.id)
	s.numbers = slices.Insert(s.numbers, 3*i, e.square, e.scale, e.sum)
	s.signs = slices.Insert(s.signs, words*i, e.planes[:words]...)
	s.fine = slices.Insert(s.fine, low*i, e.planes[words:]...)
}

// drop removes the entry of a row if there is one.
func (s *slab) drop(row int64, words int) {
	i, ok := slices.BinarySearch(s.rows, uint16(row%slabRows))
	if !ok {
		return
	}
	low := len(s.fine) / len(s.rows)
	s.rows = slices.Delete(s.rows, i, i+1)
	s.files = slices.Delete(s.files, i, i+1)
	s.ids = slices.Delete(s.ids, i, i+1)
	s.numbers = slices.Delete(s.numbers, 3*i, 3*i+3)
	s.signs = slices.Delete(s.signs, words*i, words*(i+1))
	s.fine = slices.Delete(s.fine, low*i, low*(i+1))
}

// same reports whether entry i equals w.
func (s *slab) same(i int, w slabEntry, words int) bool {
	low := len(w.planes) - words
	return s.files[i] == w.file && s.ids[i] == w.id && slices.Equal(s.signs[i*words:(i+1)*words], w.planes[:words]) &&
		slices.Equal(s.fine[i*low:(i+1)*low], w.planes[words:]) &&
		slices.Equal(s.numbers[3*i:3*i+3], []float32{w.square, w.scale, w.sum})
}
