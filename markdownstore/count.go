package markdownstore

import (
	"fmt"
	"unicode/utf8"
)

const (
	defaultChunkTokens   = 400
	defaultOverlapTokens = 80
	// minChunkTokens keeps chunks large enough to be worth citing.
	minChunkTokens = 16
)

// Chunking is the setting for the size of chunks. The zero value means the defaults.
type Chunking struct {
	// Tokens is the size up to which chunks are filled. A code fence is kept in one piece up to
	// twice that size.
	Tokens int
	// Overlap is the number of tokens at the end of a chunk that the next chunk repeats where a
	// running text was cut. 0 means the default. A negative value means no overlap. Nothing is
	// repeated where a section ends.
	Overlap int
}

// SetDefaults sets the fields that have no value to their defaults.
func (c *Chunking) SetDefaults() {
	if c.Tokens <= 0 {
		c.Tokens = defaultChunkTokens
	}
	c.Tokens = max(c.Tokens, minChunkTokens)
	switch {
	case c.Overlap < 0:
		c.Overlap = -1 // not 0: defaults may be set twice
	case c.Overlap == 0:
		c.Overlap = defaultOverlapTokens
	}
	c.Overlap = min(c.Overlap, c.Tokens/2)
}

// Name identifies the setting. The same bytes give the same chunks under the same name. The
// leading number is the version of the chunker's rules. The word after it names countTokens.
//
//	1: heading-aware packing, overlap by lines
//	2: with front matter
func (c Chunking) Name() string {
	c.SetDefaults()
	return fmt.Sprintf("2/bytes-v1/%d/%d", c.Tokens, max(c.Overlap, 0))
}

// countTokens returns the fixed counter of chunk sizes: two eighths of a token
// for an ASCII byte and three for any other, rounded up. That is a token for
// four letters of English, and nine eighths for a Chinese character. It is no
// model's count and must not be: it must not change when a model does.
func countTokens(s string) int {
	other := 0
	for i := range len(s) {
		other += int(s[i] >> 7)
	}
	return (2*len(s) + other + 7) / 8
}

// splitLine cuts a text that has no place to break into pieces of at most limit tokens: after a
// sentence, else after a space, else between runes. yield gets the end of each piece; the last is
// len(s).
func splitLine(s string, limit int, yield func(end int)) {
	for at := 0; at < len(s); {
		n := fit(s[at:], limit)
		if at+n < len(s) {
			n = breakAt(s[at:], n)
		}
		at += n
		yield(at)
	}
}

// fit returns the length of a prefix of s of at most limit tokens that ends
// between runes; one rune at least.
func fit(s string, limit int) int {
	n := min(len(s), 4*limit)
	for n > 1 {
		t := countTokens(s[:n])
		if t <= limit {
			break
		}
		n = min(n-1, max(1, n*limit/t))
	}
	if n == len(s) {
		return n
	}
	if cut := runeStart(s, n); cut > 0 {
		return cut
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// runeStart moves n back to where a rune begins. Among bytes that are not
// UTF-8 it stays.
func runeStart(s string, n int) int {
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if _, size := utf8.DecodeRuneInString(s[i:]); i+size > n {
				return i
			}
			return n
		}
	}
	return n
}

// breakAt looks for a better place to break in the second half of s[:n].
func breakAt(s string, n int) int {
	space := 0
	for i := n; i > n/2; i-- {
		switch c := s[i-1]; {
		case c == ' ' || c == '\t':
			if i > 1 && (s[i-2] == '.' || s[i-2] == '!' || s[i-2] == '?') {
				return i
			}
			if space == 0 {
				space = i
			}
		case c == 0x82 && i > 2 && s[i-3:i] == "。", c == 0x81 && i > 2 && s[i-3:i] == "！", c == 0x9f && i > 2 && s[i-3:i] == "？":
			return i
		}
	}
	if space > 0 {
		return space
	}
	return n
}
