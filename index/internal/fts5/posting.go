package fts5

// termMark begins the terms of the main index in the word lists; the table has
// no other.
const termMark = '0'

// decoder reads the rows of one term from one segment, page by page.
type decoder struct {
	// yield gets each row, how often the term is in it, weighted by column, and whether it is in
	// the names of the row's file.
	yield func(row int64, freq float64, named bool)
	row   int64
	// places collects those of the row in hand; need is how many bytes of
	// them are on the pages to come.
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

// columnWeights are those of chunks_fts, in the order of its columns.
var columnWeights = [...]float64{WeightBody, WeightTrail, WeightFile, WeightNames}

// emit weighs the places of a row: a place each varint, except that a 1 means
// that the column follows.
func (d *decoder) emit(places []byte) {
	freq, weight, named := 0.0, columnWeights[0], false
	for i := 0; i < len(places); i++ {
		if places[i] == 1 && i+1 < len(places) {
			i++
			if c := int(places[i]); c < len(columnWeights) {
				weight, named = columnWeights[c], named || c == len(columnWeights)-1
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
