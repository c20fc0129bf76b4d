package retrieval

import (
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/index/analysis"
)

// analyzers keeps analysers for reuse, because they cache stems.
var analyzers analysis.Pool

// digest holds the terms of a text as hashes. Two terms share a hash so rarely, once in four
// billion, that scores do not suffer.
type digest struct {
	// set is sorted and without repeats. After its length, within its capacity, the slice holds
	// the number of occurrences of each term.
	set []uint32
	// lang is the language for which the text was stemmed, or "" if the text has no word in Latin
	// letters.
	lang string
	// size is the number of terms, repeats included.
	size int
}

// within reports whether all terms of d are in the digest of.
func (d *digest) within(of *digest) bool {
	return !slices.ContainsFunc(d.set, func(t uint32) bool { return of.count(t) == 0 })
}

// scratch is the room in which a digest is made.
type scratch struct {
	terms  []byte
	tokens []uint32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// digestOf analyses a text in a language. If lang is "", it detects the language.
func digestOf(a *analysis.Analyzer, text, lang string) *digest {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	terms := s.terms[:0]
	if lang != "" {
		terms = a.AppendIndexAs(terms, text, lang)
	} else {
		terms, lang = a.AppendIndex(terms, text)
	}
	tokens := appendHashes(s.tokens[:0], terms)
	s.terms, s.tokens = terms, tokens
	return &digest{tally(tokens), lang, len(tokens)}
}

// tally sorts hashes, in place, and counts the equal ones. The counts are after the set, in its
// capacity.
func tally(tokens []uint32) (set []uint32) {
	both := appendTally(nil, tokens)
	n := len(both) / 2
	return both[: n : 2*n]
}

// appendTally sorts some hashes in place, and appends their set and then the number of
// occurrences of each hash.
func appendTally(dst, tokens []uint32) []uint32 {
	slices.Sort(tokens)
	n := 0
	for i, h := range tokens {
		if i == 0 || h != tokens[i-1] {
			n++
		}
	}
	if dst == nil {
		dst = make([]uint32, 0, 2*n) // kept for long, so no larger than it must be
	}
	at := len(dst)
	dst = slices.Grow(dst, 2*n)[:at+2*n]
	set, freq := dst[at:at+n], dst[at+n:]
	clear(freq)
	n = -1
	for i, h := range tokens {
		if i == 0 || h != tokens[i-1] {
			n++
			set[n] = h
		}
		freq[n]++
	}
	return dst
}

// appendHashes appends the hash of each term. terms are separated by spaces.
func appendHashes(dst []uint32, terms []byte) []uint32 {
	h := newHash
	for _, c := range terms {
		if c != ' ' {
			h = h.add(c)
		} else if h != newHash {
			dst, h = append(dst, h.sum()), newHash
		}
	}
	if h != newHash {
		dst = append(dst, h.sum())
	}
	return dst
}

// hash computes FNV-1a, mixed so that the upper bits are evenly spread too. It is the same in every
// run, so answers are too.
type hash uint64

const newHash hash = 14695981039346656037

func (h hash) add(c byte) hash { return (h ^ hash(c)) * 1099511628211 }

func (h hash) sum() uint32 { return uint32(h * 0x9E3779B97F4A7C15 >> 32) }

// maxTerms is the largest number of a question's words that are looked for in texts: the first
// ones. Each has a bit in a mark.
const maxTerms = 64

// hashTerms hashes the terms of a question.
func hashTerms(terms []string) []uint32 {
	return appendHashes(nil, []byte(strings.Join(terms[:min(len(terms), maxTerms)], " ")))
}

// count returns the number of occurrences of a term. Hashes are spread evenly, so count can
// estimate the term's place in the set.
func (d *digest) count(term uint32) uint32 {
	n := len(d.set)
	if n == 0 {
		return 0
	}
	i := int(uint64(term) * uint64(n) >> 32)
	for i > 0 && d.set[i] > term {
		i--
	}
	for i < n-1 && d.set[i] < term {
		i++
	}
	if d.set[i] != term {
		return 0
	}
	return d.set[:2*n][n+i]
}

// mark returns the terms that a text holds, as bits.
func (d *digest) mark(terms []uint32) (held uint64) {
	for i, t := range terms {
		if d.count(t) > 0 {
			held |= 1 << i
		}
	}
	return held
}

// jaccard returns the number of terms in both sets divided by the number of terms in either. It
// returns 0 for two empty sets.
func jaccard(a, b []uint32) float64 {
	common, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(a)+len(b)-common)
}
