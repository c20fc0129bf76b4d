package fts5

// postings is the rows of one word, packed: a byte or more for the distance to the row before,
// seven bits each, the lowest first, and one for four times the frequency, plus one if the word is
// in the names of the row's file, or a zero and that number in seven-bit bytes. That is about two
// bytes to a row of a frequent word, a fourth of their size in the file.
type postings struct {
	n      int
	packed []byte
	// last is the place packed last.
	last int32
}

// add appends a place in wordLists.lengths; places come in order. ok is false for one
// that doesn't.
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

// cursor goes through a list.
type cursor struct {
	packed []byte
	at     int32
	freq   float64
	named  bool
}

func (p *postings) start() cursor { return cursor{packed: p.packed, at: -1} }

// next takes the cursor to the next place; false at the end.
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

// keptPostings bounds the lists of words that are kept, in bytes: those asked for
// last. Questions are made of the same words again and again.
const keptPostings = 8 << 20

// cost is the size of the list of a term that is kept, in bytes.
func (p *postings) cost(term string) int {
	const entry = 100 // of the maps, roughly
	return len(p.packed) + len(term) + entry
}
