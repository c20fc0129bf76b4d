package display

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/analysis"
)

// marker paints the words of a query in a text. It compares words as the index does, so other
// forms of a word match too. Without colour it changes nothing.
type marker struct {
	Style
	a     *analysis.Analyzer
	terms []string
}

func newMarker(query string, p Style) *marker {
	m := &marker{Style: p}
	if p.Color {
		a, err := analysis.New()
		if err != nil {
			m.Color = false
			return m
		}
		m.a, m.terms = a, a.Query(query, nil)
	}
	return m
}

// text paints a line.
func (m *marker) text(line string) string {
	if !m.Color {
		return line
	}
	var b strings.Builder
	for len(line) > 0 {
		n := wordEnd(line)
		b.WriteString(m.word(line[:n]))
		line = line[n:]
	}
	return b.String()
}

// wordEnd returns the length of the first word of a text, or of its first character if that
// belongs to no word. In scripts without blanks between words, it takes the text between two
// punctuation marks for one word.
func wordEnd(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	for i, r := range s {
		inWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
		switch {
		case i == 0 && !inWord:
			return size
		case !inWord:
			return i
		}
	}
	return len(s)
}

func (m *marker) word(w string) string {
	if w != "" && slices.ContainsFunc(m.a.Query(w, nil), func(t string) bool { return slices.Contains(m.terms, t) }) {
		return m.Paint(yellow, w)
	}
	return w
}
