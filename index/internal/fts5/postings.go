package fts5

// postings are the rows of one word, packed. Each row begins with its distance to the previous row,
// in bytes of seven bits, the lowest first. One byte follows with four times the frequency, plus
// one if the word is in the names of the row's file. If that number does not fit into the byte, the
// byte is 0 and the number follows in bytes of seven bits. A row of a frequent word takes about two
// bytes, a fourth of its size in the file.
type postings struct {
	n      int
	packed []byte
	// last is the index of the last row.
	last int32
}

// add appends a row by its index in wordLists.lengths. ok is false if the index is not larger than
// the last one.
func (p *postings) add(at int32, freq float64, named bool) (ok bool) {
	gap := at - p.last
	if p.n == 0 {
		gap = at + 1
	}
	if gap <= 0 {
		return false
	}
	p.packed = appendSevens(p.packed, uint32(gap))
	count := uint32(4 * freq)
	if named {
		count++
	}
	if count > 0 && count < 256 {
		p.packed = append(p.packed, byte(count))
	} else {
		p.packed = appendSevens(append(p.packed, 0), count)
	}
	p.last = at
	p.n++
	return true
}

func appendSevens(b []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// sevens reads a number that appendSevens wrote at b[i:], and returns its end.
func sevens(b []byte, i int) (v uint32, end int) {
	for shift := 0; ; shift += 7 {
		c := b[i]
		i++
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
}

// cursor iterates over the rows of a list.
type cursor struct {
	packed []byte
	at     int32
	freq   float64
	named  bool
}

func (p *postings) start() cursor { return cursor{packed: p.packed, at: -1} }

// next moves the cursor to the next row. It returns false at the end.
func (c *cursor) next() bool {
	b := c.packed
	if len(b) < 2 {
		return false
	}
	gap, i := uint32(b[0]), 1
	if gap >= 0x80 {
		gap, i = sevens(b, 0)
	}
	count := uint32(b[i])
	if i++; count == 0 {
		count, i = sevens(b, i)
	}
	c.at += int32(gap)
	c.freq, c.named, c.packed = float64(count&^1)/4, count&1 != 0, b[i:]
	return true
}

// keptPostings bounds the lists that are kept in memory, in bytes. The lists used last are kept,
// because questions often have the same words.
const keptPostings = 8 << 20

// cost returns the bytes of memory that the kept list of a term takes.
func (p *postings) cost(term string) int {
	const entry = 100 // of the maps, roughly
	return len(p.packed) + len(term) + entry
}

// termMark is the first byte of every term in the word lists. FTS5 uses other bytes for prefix
// indexes, which this table does not have.
const termMark = '0'

// decoder reads the rows of one term from one segment, page by page.
type decoder struct {
	// yield is called with each row. freq is how often the row holds the term, weighted by column.
	// named reports whether the term is in the names of the row's file.
	yield func(row int64, freq float64, named bool)
	row   int64
	// places collects the places of the current row. need is the number of their bytes that are
	// still to be read from later pages.
	places []byte
	need   int
}

// rows decodes the rows of a term in a segment.
func (d *decoder) rows(s *segment, key []byte, pages map[int64][]byte) error {
	from, to := s.span(key)
	d.need = 0
	for page := from; page <= to; page++ {
		l, err := parseLeaf(pages[s.pageID(page)])
		if err != nil {
			return err
		}
		read := l.carried
		if page == from {
			read = func() ([]byte, bool, error) { return l.find(key) }
		}
		part, more, err := read()
		if err == nil {
			err = d.part(part)
		}
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if d.need > 0 {
		return errUnknownForm
	}
	return nil
}

// part decodes the content of one page.
func (d *decoder) part(b []byte) error {
	if d.need > 0 {
		n := min(d.need, len(b))
		d.places = append(d.places, b[:n]...)
		b, d.need = b[n:], d.need-n
		if d.need > 0 {
			return nil
		}
		d.emit(d.places)
	}
	for full := true; len(b) > 0; full = false {
		delta, n := varint(b)
		size, m := varint(b[n:])
		if n == 0 || m == 0 || !full && delta == 0 {
			return errUnknownForm
		}
		if b = b[n+m:]; full {
			d.row = 0 // each page, and each term, begins with a whole number
		}
		d.row += int64(delta)
		if size&1 != 0 {
			return errUnknownForm // a mark of deletion, which this kind of table doesn't have
		}
		want := int(size / 2)
		if want > len(b) {
			d.places, d.need = append(d.places[:0], b...), want-len(b)
			return nil
		}
		d.emit(b[:want])
		b = b[want:]
	}
	return nil
}

// emit computes the weighted frequency of a row from its places, and yields the row. Each varint is a
// place, except that after a 1 the number of the next column follows.
func (d *decoder) emit(places []byte) {
	freq, weight, named := 0.0, BM25.Weights[0], false
	for i := 0; i < len(places); i++ {
		if places[i] == 1 && i+1 < len(places) {
			i++
			if c := int(places[i]); c < len(BM25.Weights) {
				weight, named = BM25.Weights[c], named || c == len(BM25.Weights)-1
			}
			continue
		}
		for places[i] >= 0x80 && i+1 < len(places) {
			i++
		}
		freq += weight
	}
	d.yield(d.row, freq, named)
}
