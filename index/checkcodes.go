package index

import (
	"errors"
	"slices"
)

// codes checks that chunk_codes holds, for every vector in use, what is made of it.
func (c *checker) codes() error {
	m := c.m.codes
	if m.planes == 0 {
		return nil
	}
	t, err := loadCodes(c.ctx, c.tx, m, nil)
	if err == nil && len(t.coder.centre) != c.m.dim {
		err = errCodes
	}
	if errors.Is(err, errCodes) {
		c.found("%v: compact makes them anew", err)
		return nil
	}
	if err != nil {
		return err
	}
	want := map[int64]slabEntry{}
	err = eachVector(c.ctx, c.tx, c.m, nil, func(row, file, id int64, v []byte) error {
		want[row] = slabEntry{row, file, id, t.coder.encode(floats(v))}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range t.slabs {
		for i := range s.rows {
			row := s.row(i)
			if w, ok := want[row]; !ok || !s.same(i, w, t.coder.words) {
				c.found("the code of row %d is not that of its vector: compact makes it anew", row)
			}
			delete(want, row)
		}
	}
	for row := range want {
		c.found("the vector of row %d has no code: compact makes it", row)
		break
	}
	return nil
}

// same tells whether an entry is as it should be.
func (s *slab) same(i int, w slabEntry, words int) bool {
	low := len(w.planes) - words
	return s.files[i] == w.file && s.ids[i] == w.id && slices.Equal(s.signs[i*words:(i+1)*words], w.planes[:words]) &&
		slices.Equal(s.fine[i*low:(i+1)*low], w.planes[words:]) &&
		slices.Equal(s.numbers[3*i:3*i+3], []float32{w.square, w.scale, w.sum})
}
