package display

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/analysis"
)

// marker paints the words of a question where they stand in a text, as the index
// compares words: whatever their form. Without colour it changes nothing.
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

// wordEnd is the length of what a text begins with: a word, or a character that
// belongs to none. Where words are written without blanks, what stands between two
// marks is taken for one.
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
