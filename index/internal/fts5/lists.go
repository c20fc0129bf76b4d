package fts5

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/internal/textutil"
)

// wordLists holds the data of the word lists that searches keep in memory: the segments, the length of
// each chunk, and the lists of the words that were searched last. It is valid as long as the structure
// record is unchanged, because every added or removed word changes that record.
type wordLists struct {
	segments []segment
	// lengths holds the number of words of each chunk, by its row number minus base. It is 0 for a
	// deleted row.
	lengths []uint32
	base    int64
	// rows and mean are the number of chunks and their mean length.
	rows, mean float64
	// norms holds the results of norm for the lengths from 0.
	norms []float64
	// kept are the lists of words that were searched for.
	kept textutil.Recent[string, *postings]
	// sums is a pool of slices for the sums of a search.
	sums sync.Pool
}

// loadLists reads a wordLists. It takes rows and mean from the totals that bm25 uses.
func loadLists(ctx context.Context, db drv.Conn, structure []byte) (*wordLists, error) {
	var version string
	var totals []byte
	err := db.QueryRowContext(ctx, `SELECT ifnull((SELECT v FROM chunks_fts_config WHERE k='version'), ''),
		(SELECT block FROM chunks_fts_data WHERE id=1)`).Scan(&version, &totals)
	if err != nil {
		return nil, err
	}
	r := numbers{b: totals}
	n, words := r.next(), r.next()+r.next()+r.next()+r.next()
	if version != strconv.Itoa(listVersion) || r.bad || n == 0 {
		return nil, errUnknownForm
	}
	l := &wordLists{rows: float64(n), mean: float64(words) / float64(n)}
	if l.segments, err = readSegments(ctx, db, structure); err != nil {
		return nil, err
	}
	if err := l.readLengths(ctx, db); err != nil {
		return nil, err
	}
	if len(l.lengths) == 0 {
		return nil, errUnknownForm
	}
	l.makeNorms()
	return l, nil
}

func (l *wordLists) readLengths(ctx context.Context, db drv.Conn) error {
	var row int64
	var sz sql.RawBytes
	return drv.Each(ctx, db, []any{&row, &sz}, func() error {
		if len(l.lengths) == 0 {
			l.base = row
		}
		r := numbers{b: sz}
		n := r.next() + r.next() + r.next() + r.next()
		if r.bad || row-l.base > maxSparse(int64(l.rows)) {
			return errUnknownForm
		}
		for int64(len(l.lengths)) < row-l.base {
			l.lengths = append(l.lengths, 0)
		}
		l.lengths = append(l.lengths, uint32(n))
		return nil
	}, "SELECT id, sz FROM chunks_fts_docsize ORDER BY id")
}

// maxSparse bounds the range of row numbers that n chunks may have. Row numbers of deleted chunks are
// never used again, but take memory in lengths.
func maxSparse(n int64) int64 { return 64*n + 1<<20 }

// top returns the n best rows for the words, best first. Rows with equal scores are in the order of
// their numbers, as with SQLite's bm25.
func (l *wordLists) top(ctx context.Context, db drv.Conn, terms []string, n int) ([]Row, error) {
	lists, err := l.find(ctx, db, terms)
	if err != nil {
		return nil, err
	}
	s, _ := l.sums.Get().(*sums)
	if s == nil {
		s = &sums{at: make([]float64, len(l.lengths))}
	}
	for _, found := range lists {
		s.touched = l.add(s.at, s.touched, found)
	}
	out := l.best(s.at, s.touched, n)
	for _, i := range s.touched {
		s.at[i] = 0
	}
	s.touched = s.touched[:0]
	l.sums.Put(s)
	return out, nil
}

// sums holds the scores of a search. at has one for each of wordLists.lengths. touched lists the
// indexes whose score is not 0.
type sums struct {
	at      []float64
	touched []int32
}

// find returns the lists of words. It reads those that are not kept in memory from the file.
func (l *wordLists) find(ctx context.Context, db drv.Conn, terms []string) ([]*postings, error) {
	out := make([]*postings, len(terms))
	var missing []string
	for i, t := range terms {
		var ok bool
		if out[i], ok = l.kept.Get(t); !ok {
			missing = append(missing, t)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	pages, err := l.fetch(ctx, db, missing)
	if err != nil {
		return nil, err
	}
	for i, t := range terms {
		if out[i] != nil {
			continue
		}
		if out[i], err = l.postings(append([]byte{termMark}, t...), pages); err != nil {
			return nil, err
		}
		l.kept.Put(t, out[i], out[i].cost(t), keptPostings/2)
	}
	return out, nil
}

// maxPages bounds the pages that one search reads, because a damaged record may request any number.
const maxPages = 1 << 18

// fetch reads all pages that hold the words' rows. It first reads the pages on which the words may
// begin, and then the later pages of words whose rows continue there.
func (l *wordLists) fetch(ctx context.Context, db drv.Conn, terms []string) (map[int64][]byte, error) {
	var ids []int64
	behind := map[*segment][][]byte{}
	for _, t := range terms {
		key := append([]byte{termMark}, t...)
		for i := range l.segments {
			s := &l.segments[i]
			from, to := s.span(key)
			if from > to {
				continue
			}
			if ids = append(ids, s.pageID(from)); to > from {
				behind[s] = append(behind[s], key)
			}
		}
	}
	pages, err := readPages(ctx, db, ids, nil)
	if err != nil {
		return nil, err
	}
	ids = ids[:0]
	for s, keys := range behind {
		for _, key := range keys {
			from, to := s.span(key)
			page, err := parseLeaf(pages[s.pageID(from)])
			if err != nil {
				return nil, err
			}
			if _, more, err := page.find(key); err != nil {
				return nil, err
			} else if !more {
				continue
			}
			if to-from > maxPages-int64(len(ids)) {
				return nil, errUnknownForm
			}
			for from++; from <= to; from++ {
				ids = append(ids, s.pageID(from))
			}
		}
	}
	if len(ids) == 0 {
		return pages, nil
	}
	return readPages(ctx, db, ids, pages)
}

// add adds a word's share to the scores of its rows. It uses the formula of SQLite's fts5_aux.c, with
// the same order of operations.
func (l *wordLists) add(sums []float64, touched []int32, found *postings) []int32 {
	idf := l.idf(found)
	for c := found.start(); c.next(); {
		if sums[c.at] == 0 {
			touched = append(touched, c.at)
		}
		sums[c.at] += l.share(idf, c.freq, c.at)
	}
	return touched
}

// idf returns the weight of a word.
func (l *wordLists) idf(of *postings) float64 {
	hits := float64(of.n)
	if idf := math.Log((l.rows - hits + 0.5) / (hits + 0.5)); idf > 0 {
		return idf
	}
	return least
}

// share returns what a word adds to the score of a row.
func (l *wordLists) share(idf, freq float64, at int32) float64 {
	return idf * ((freq * (k1 + 1)) / (freq + l.norm(l.lengths[at])))
}

// norm returns the term that the length of a chunk adds to a frequency in the denominator.
func (l *wordLists) norm(length uint32) float64 {
	if int(length) < len(l.norms) {
		return l.norms[length]
	}
	return k1 * (1 - b + b*float64(length)/l.mean)
}

// maxNorms bounds the lengths whose norm is kept.
const maxNorms = 4096

// makeNorms computes the norms of the usual lengths.
func (l *wordLists) makeNorms() {
	norms := make([]float64, min(maxNorms, slices.Max(l.lengths)+1))
	for i := range norms {
		norms[i] = l.norm(uint32(i))
	}
	l.norms = norms
}

// postings returns a word's rows from all segments, in order. It skips deleted rows, which remain in
// the lists until the segments are merged.
func (l *wordLists) postings(key []byte, pages map[int64][]byte) (*postings, error) {
	var found []posting
	d := decoder{yield: func(row int64, freq float64, named bool) {
		if at := row - l.base; at >= 0 && at < int64(len(l.lengths)) && l.lengths[at] > 0 {
			found = append(found, posting{int32(at), freq, named})
		}
	}}
	for i := range l.segments {
		if err := d.rows(&l.segments[i], key, pages); err != nil {
			return nil, err
		}
	}
	order := func(a, b posting) int { return cmp.Compare(a.at, b.at) }
	if !slices.IsSortedFunc(found, order) {
		slices.SortFunc(found, order)
	}
	out := &postings{}
	for _, p := range found {
		if !out.add(p.at, p.freq, p.named) {
			return nil, errUnknownForm // a row twice
		}
	}
	out.packed = slices.Clip(out.packed)
	return out, nil
}

// posting is one row of a word: its index in wordLists.lengths, how often it holds the word, and
// whether the word is in the names of the row's file.
type posting struct {
	at    int32
	freq  float64
	named bool
}

// best returns the n rows with the highest sums.
func (l *wordLists) best(sums []float64, touched []int32, n int) []Row {
	n = min(n, len(touched))
	out, floor := make([]Row, 0, 2*n), 0.0
	for _, at := range touched {
		if sums[at] < floor {
			continue
		}
		if len(out) == 2*n {
			slices.SortFunc(out, Row.Compare)
			out, floor = out[:n], out[n-1].Score
		}
		out = append(out, Row{l.base + int64(at), sums[at]})
	}
	return bestRows(out, n)
}
