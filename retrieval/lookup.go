package retrieval

import (
	"cmp"
	"math"
	"slices"

	"github.com/memkernel/memkernel/index/analysis"
)

// The constants of BM25, the weight of a heading, and the score that is scaled to one half are
// the same as in the index. A span's label counts as a heading.
const (
	k1          = 1.2
	lengthShare = 0.75
	weightLabel = 3
	halfScore   = 10
	leastIDF    = 1e-6
)

// prior is the number of spans without any of the question's words that are assumed in addition
// to the real spans. Without them a session's first spans could not be found, because BM25 gives
// no weight to a word that one of two documents holds.
const prior = 100

// leastAnalysed is the least number of spans, chosen by their keys, that are analysed. If more
// hits are wanted, half again as many spans as hits are analysed.
const leastAnalysed = 32

// search finds the k spans that match a question best, with its terms. The keys choose the spans
// that are analysed, and these are scored by the terms that they hold.
func (s *Spans) search(a *analysis.Analyzer, text string, k int, want func(*Span) bool) ([]found, []uint32) {
	if s.Len() == 0 {
		return nil, nil
	}
	s.once.Do(func() { s.languages(a) })
	l := s.lookup(a, a.Query(text, s.langs))
	out := l.score(l.best(max(leastAnalysed, k+k/2), want))
	slices.SortFunc(out, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.raw, a.raw), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(k, len(out))], l.hashes
}

// lookup is a question's terms looked up in the keys of all spans.
type lookup struct {
	*Spans
	a      *analysis.Analyzer
	hashes []uint32
	// counts has a row for each span. The row holds the possible number of occurrences of each
	// term.
	counts []uint8
	// holders holds, for each term, the number of spans that may hold the term.
	holders []float64
	// norms are the terms that BM25 adds to the counts in the denominator, for the spans'
	// lengths.
	norms []float64
}

func (s *Spans) lookup(a *analysis.Analyzer, terms []string) *lookup {
	l := &lookup{Spans: s, a: a, hashes: hashTerms(terms)}
	n := len(l.hashes)
	l.counts, l.holders = make([]uint8, len(s.spans)*n), make([]float64, n)
	m := newMatcher(a, terms, s.lang)
	for i, sp := range s.spans {
		row := l.row(i)
		l.count(m, sp.text, row, 1)
		l.count(m, sp.label, row, weightLabel)
		for j, c := range row {
			if c > 0 {
				l.holders[j]++
			}
		}
	}
	l.norms = s.norms(a)
	return l
}

func (l *lookup) row(i int) []uint8 { return l.counts[i*len(l.hashes) : (i+1)*len(l.hashes)] }

// count looks into one body.
func (l *lookup) count(m *matcher, b *body, row []uint8, weight uint8) {
	if b.ascii {
		m.count(b.keys, row, weight)
		return
	}
	d := b.digest(l.a, "")
	for j, h := range l.hashes {
		row[j] = uint8(min(uint32(row[j])+d.count(h)*uint32(weight), 255))
	}
}

func (s *Spans) norms(a *analysis.Analyzer) []float64 {
	out, sum := make([]float64, len(s.spans)), 0.0
	for i, sp := range s.spans {
		out[i] = float64(sp.text.size(a) + sp.label.size(a))
		sum += out[i]
	}
	mean := max(sum, 1) / float64(len(out))
	for i := range out {
		out[i] = k1 * (1 - lengthShare + lengthShare*out[i]/mean)
	}
	return out
}

// bm25 returns the share of one term in a score.
func bm25(idf, count, norm float64) float64 { return idf * count * (k1 + 1) / (count + norm) }

// idfs returns the weights of the terms.
func (l *lookup) idfs() []float64 {
	out := make([]float64, len(l.holders))
	for j, n := range l.holders {
		out[j] = max(math.Log((float64(len(l.spans)+prior)-n+0.5)/(n+0.5)), leastIDF)
	}
	return out
}

// best returns the n spans that have the largest scores by their keys.
func (l *lookup) best(n int, want func(*Span) bool) []int {
	idf := l.idfs()
	about := make([]float64, len(l.spans))
	var out []int
	for i := range l.spans {
		for j, c := range l.row(i) {
			if c > 0 {
				about[i] += bm25(idf[j], float64(c), l.norms[i])
			}
		}
		if about[i] > 0 && (want == nil || want(&l.spans[i].Span)) {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(i, j int) int {
		return cmp.Or(cmp.Compare(about[j], about[i]), cmp.Compare(l.spans[i].ID, l.spans[j].ID))
	})
	return out[:min(n, len(out))]
}

// score rates spans by the terms that they hold. Spans whose keys were wrong are subtracted from
// the number of holders, which is exact if every span that may hold a term is among them.
func (l *lookup) score(picked []int) []found {
	n := len(l.hashes)
	freq := make([]float64, len(picked)*n)
	for p, i := range picked {
		text, label, row := l.spans[i].text.digest(l.a, l.lang), l.spans[i].label.digest(l.a, l.lang), l.row(i)
		for j, h := range l.hashes {
			f := float64(text.count(h) + weightLabel*label.count(h))
			freq[p*n+j] = f
			l.holders[j] += min(f, 1) - float64(min(row[j], 1))
		}
	}
	idf := l.idfs()
	var out []found
	for p, i := range picked {
		sp, raw := l.spans[i], 0.0
		for j, f := range freq[p*n : (p+1)*n] {
			if f > 0 {
				raw += bm25(idf[j], f, l.norms[i])
			}
		}
		if raw > 0 {
			out = append(out, found{sp, sp.text.digest(l.a, l.lang), raw})
		}
	}
	return out
}
