package consolidation

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// linkTarget matches the target of a link, which is not read.
var linkTarget = textutil.LazyRegexp(`\]\([^)]*\)`)

// words splits a text into words of letters, in lower case, numbers, and single characters of
// scripts without spaces.
func words(s string) []string {
	if strings.Contains(s, "](") {
		s = linkTarget.ReplaceAllString(s, "]")
	}
	out := make([]string, 0, len(s)/6)
	eachWord(s, func(w string, _, _ int) { out = append(out, w) })
	if len(out) == 0 {
		return nil
	}
	return out
}

// eachWord yields the words of a text with their places in it.
func eachWord(s string, yield func(w string, from, to int)) {
	from := -1
	end := func(at int) {
		if from >= 0 {
			yield(strings.ToLower(s[from:at]), from, at)
		}
		from = -1
	}
	for i, r := range s {
		switch {
		case ideograph(r):
			end(i)
			yield(string(r), i, i+len(string(r)))
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end(i)
		case from < 0:
			from = i
		}
	}
	end(len(s))
}

func ideograph(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// weight returns twice the number of words. In scripts without spaces two characters count as one
// word.
func weight(ws []string) int {
	n := 0
	for _, w := range ws {
		if n += 2; len([]rune(w)) == 1 {
			n--
		}
	}
	return n
}

// numbers returns the words that hold a digit, in order.
func numbers(ws []string) []string {
	var out []string
	for _, w := range ws {
		if strings.ContainsFunc(w, unicode.IsDigit) {
			out = append(out, w)
		}
	}
	return out
}

// Key returns the same key for entries with the same words. Nothing else counts.
func Key(text string) string { return strings.Join(words(text), " ") }

// The constants of FNV-1a, 64 bits (Fowler, Noll, Vo).
const fnvOffset, fnvPrime = 14695981039346656037, 1099511628211

// shingles returns the hashes of a text's words in threes, in order, each
// once.
func shingles(ws []string) []uint64 {
	const n = 3
	out := make([]uint64, 0, max(len(ws)-n+1, 1))
	for i := 0; i+n <= len(ws) || i == 0; i++ {
		h := uint64(fnvOffset)
		for _, w := range ws[i:min(i+n, len(ws))] {
			for j := range len(w) {
				h = (h ^ uint64(w[j])) * fnvPrime
			}
			h *= fnvPrime // a zero byte, so that words stay apart
		}
		out = append(out, h)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// similarity returns the number of common elements of two sorted sets as a share of all elements
// (Jaccard).
func similarity(a, b []uint64) float64 {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := cmp.Compare(a[i], b[j]); {
		case c == 0:
			n, i, j = n+1, i+1, j+1
		case c < 0:
			i++
		default:
			j++
		}
	}
	return float64(n) / float64(max(len(a)+len(b)-n, 1))
}
