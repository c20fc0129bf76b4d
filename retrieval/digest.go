package retrieval

import (
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/index/analysis"
)

// analyzers are kept for the stems that they remember.
var analyzers sync.Pool

func analyzer() (*analysis.Analyzer, error) {
	if a, ok := analyzers.Get().(*analysis.Analyzer); ok {
		return a, nil
	}
	return analysis.New()
}

// digest is the terms of a text, as hashes. Two terms in four billion share
// one, which no score can tell.
type digest struct {
	// set is sorted and without repeats; freq says how often each occurs.
	set, freq []uint32
	// tokens are in the text's order; ends[i] is where those of line i end.
	tokens, ends []uint32
}

// languageSample is how much of a text its language is told by, in bytes.
const languageSample = 1 << 10 // 1 KiB

// digestOf analyses a text line by line, so that lines can be marked, in the
// one language of the whole.
func digestOf(a *analysis.Analyzer, text string) (digest, string) {
	buf, lang := a.AppendIndex(nil, text[:min(len(text), languageSample)])
	d := digest{tokens: make([]uint32, 0, len(text)/6)}
	for _, line := range splitLines(text) {
		buf = a.AppendIndexAs(buf[:0], line, lang)
		d.tokens = appendHashes(d.tokens, buf)
		d.ends = append(d.ends, uint32(len(d.tokens)))
	}
	d.tokens = slices.Clip(d.tokens)
	d.set, d.freq = tally(d.tokens)
	return d, lang
}

// tally sorts hashes and counts the equal ones.
func tally(tokens []uint32) (set, freq []uint32) {
	sorted := slices.Clone(tokens)
	slices.Sort(sorted)
	for i, h := range sorted {
		if i == 0 || h != sorted[i-1] {
			set, freq = append(set, h), append(freq, 0)
		}
		freq[len(freq)-1]++
	}
	return set, freq
}

// appendHashes appends the hashes of terms that stand between spaces.
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

// hash is FNV-1a, whose sum spreads over the upper bits too; the same in every
// run, so that answers are.
type hash uint64

const newHash hash = 14695981039346656037

func (h hash) add(c byte) hash { return (h ^ hash(c)) * 1099511628211 }

func (h hash) sum() uint32 { return uint32(h * 0x9E3779B97F4A7C15 >> 32) }

// maxTerms is how many words of a question are looked for in texts; the first
// ones. They are marked with a bit each.
const maxTerms = 64

// hashTerms hashes the terms of a question.
func hashTerms(terms []string) []uint32 {
	return appendHashes(nil, []byte(strings.Join(terms[:min(len(terms), maxTerms)], " ")))
}

// marks says of each line which of the terms it holds.
func (d digest) marks(terms []uint32) []uint64 {
	bit := make(map[uint32]uint64, len(terms))
	for i, t := range terms {
		bit[t] |= 1 << i
	}
	out := make([]uint64, len(d.ends))
	at := uint32(0)
	for i, end := range d.ends {
		for ; at < end; at++ {
			out[i] |= bit[d.tokens[at]]
		}
	}
	return out
}

// count is how often a term occurs. Hashes are spread evenly, so its place in
// the set is nearly known.
func (d digest) count(term uint32) uint32 {
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
	return d.freq[i]
}

// jaccard is the share of the terms of both sets that they have in common. Two
// texts without terms have nothing in common.
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
