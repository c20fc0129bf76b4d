package retrieval

import "strings"

// literals are words that an expression can't do without. Looking for them takes a
// fraction of the time that the expression takes, and most questions hold none.
type literals struct {
	// by has the words by their first byte.
	by [256][]string
}

func newLiterals(words ...string) *literals {
	l := &literals{}
	for _, w := range words {
		l.by[w[0]] = append(l.by[w[0]], w)
	}
	return l
}

// keysOf returns the keys of a map as literals.
func keysOf[V any](m map[string]V) *literals {
	l := &literals{}
	for w := range m {
		l.by[w[0]] = append(l.by[w[0]], w)
	}
	return l
}

// folded returns a text as literals are looked for in it: as expressions that don't
// mind the case see it, which take the long s for an s.
func folded(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "ſ", "s")
}

// in reports whether any of the words is in a text.
func (l *literals) in(text string) bool {
	for i := range len(text) {
		for _, w := range l.by[text[i]] {
			if strings.HasPrefix(text[i:], w) {
				return true
			}
		}
	}
	return false
}

// whole reports whether any of the words is in a text by itself, its spaces of any
// length and kind. Words of Chinese are never part of others.
func (l *literals) whole(text string) bool {
	for i := range len(text) {
		for _, w := range l.by[text[i]] {
			if end := prefixWord(text[i:], w); end > 0 && (w[0] >= 0xE0 || !inWord(text, i) && !inWord(text, i+end)) {
				return true
			}
		}
	}
	return false
}

// prefixWord returns how many bytes word takes at the beginning of text, 0 if
// text doesn't begin with it. A space in word matches any run of spaces.
func prefixWord(text, word string) int {
	i := 0
	for j := range len(word) {
		if word[j] != ' ' {
			if i >= len(text) || text[i] != word[j] {
				return 0
			}
			i++
			continue
		}
		start := i
		for i < len(text) && space(text[i]) {
			i++
		}
		if i == start {
			return 0
		}
	}
	return i
}

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

// inWord reports whether a place is inside of a word of ASCII letters, as
// expressions see it.
func inWord(text string, i int) bool {
	return i > 0 && i < len(text) && letter(text[i-1]) && letter(text[i])
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
