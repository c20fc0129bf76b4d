package analysis

import (
	"strings"
	"unicode"
)

// sieve quickly finds the lines that may name a time: those with a word that some rule requires.
// Most have none.
type sieve [1 << 16]bool

const sieveMask = 1<<16 - 1

// put adds a word, in small letters, with a capital and in capitals.
func (s *sieve) put(word string) {
	r := []rune(word)
	for _, w := range []string{word, string(unicode.ToUpper(r[0])) + string(r[1:]), strings.ToUpper(word)} {
		h := uint32(0)
		for i := range len(w) {
			h = h*16777619 ^ uint32(fold[w[i]])
		}
		s[(h^h>>16)&sieveMask] = true
	}
}

// fold gives bytes of words a value, in ASCII that of the small letter, and 0 to those
// between words. Characters of two bytes are letters from U+00C0 on.
var fold = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c | 0x20)
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', 0x80 <= c && c < 0xC2, 0xC3 <= c && c < 0xE2:
			t[c] = byte(c)
		}
	}
	return t
}()

// width is how many bytes a character has that is between words.
func width(c byte) int {
	switch {
	case c >= 0xF0:
		return 4
	case c >= 0xE2:
		return 3
	case c >= 0xC2:
		return 2
	}
	return 1
}

// pass reports whether a line may name a time.
func (s *sieve) pass(line string) bool {
	h := uint32(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		if v := fold[c]; v != 0 {
			h = h*16777619 ^ uint32(v)
			continue
		}
		if h != 0 && s[(h^h>>16)&sieveMask] {
			return true
		}
		h = 0
		i += width(c) - 1
	}
	return h != 0 && s[(h^h>>16)&sieveMask]
}

// rarity is that of classes, measured in the letters of a word that is as rare. The letters of
// the others are in too many lines.
var rarity = map[byte]int{'U': 5, '1': 5, 'T': 90, 'M': 91}

// needs are the words of which a line holds one if the rule matches in it: of its
// symbols, those that are the rarest words.
func (r *rule) needs() (out []string) {
	best := -1
	for _, s := range r.symbols {
		var words []string
		rare := 100
		for w := range s.words {
			words, rare = append(words, w), min(rare, len(w))
		}
		if s.class != 0 {
			rare = rarity[s.class]
			for w := range r.classes[s.class] {
				words = append(words, w)
			}
		}
		if !s.optional && rare >= best {
			best, out = rare, words
		}
	}
	return out
}
