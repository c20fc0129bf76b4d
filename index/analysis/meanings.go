package analysis

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed meanings.txt
var meaningsText string

// meanings holds the lines of meanings.txt, and for each word the lines that hold it. dense are the
// words in scripts without spaces.
type meanings struct {
	lines [][]string
	of    map[string][]int
	dense []string
}

var readMeanings = sync.OnceValue(func() *meanings {
	m := &meanings{of: map[string][]int{}}
	for line := range strings.Lines(meaningsText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		words := strings.Split(strings.ReplaceAll(line, "-", " "), ", ")
		for _, w := range words {
			if m.of[w] == nil && unspaced(w) {
				m.dense = append(m.dense, w)
			}
			m.of[w] = append(m.of[w], len(m.lines))
		}
		m.lines = append(m.lines, words)
	}
	return m
})

// unspaced reports whether a word is of a script without spaces between words.
func unspaced(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool { return r >= 0x2E80 })
}

// meant is a word, or several words in a row, of a question, with the single words that mean the
// same in any language.
type meant struct {
	Typed []string
	Same  []string
}

// mostTyped is the largest number of words that have one meaning together.
const mostTyped = 3

// SameMeaning returns the words of a question for which others mean the same.
func SameMeaning(question string) (out []meant) {
	m := readMeanings()
	words := wordsInRow(question)
	for i := 0; i < len(words); i++ {
		for n := min(mostTyped, len(words)-i); n > 0; n-- {
			if lines := m.find(words[i : i+n]); lines != nil {
				out = append(out, meant{words[i : i+n], m.same(lines, strings.Join(words[i:i+n], " "))})
				i += n - 1
				break
			}
		}
	}
	if unspaced(question) {
		for _, w := range m.dense {
			if strings.Contains(question, w) {
				out = append(out, meant{[]string{w}, m.same(m.of[w], w)})
			}
		}
	}
	return out
}

// wordsInRow returns the words of a text in lower case. If two words are separated by anything but
// a space or a hyphen, "" is between them.
func wordsInRow(text string) (out []string) {
	for _, f := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return unicode.IsSpace(r) || r == '-' }) {
		w := strings.TrimFunc(f, unicode.IsPunct)
		if out = append(out, w); !strings.HasSuffix(f, w) && w != "" {
			out = append(out, "")
		}
	}
	return out
}

// find returns the lines that hold some words, or the last of them in another form.
func (m *meanings) find(words []string) []int {
	last := words[len(words)-1]
	head := strings.Join(words[:len(words)-1], " ")
	if head != "" {
		head += " "
	}
	for _, w := range forms(last) {
		if lines := m.of[head+w]; lines != nil {
			return lines
		}
	}
	return nil
}

// forms returns a word and the words that it may be an inflection of.
func forms(w string) []string {
	out := []string{w}
	for _, end := range []struct{ from, to string }{{"ies", "y"}, {"es", ""}, {"s", ""}, {"ing", ""}, {"ing", "e"}, {"ed", ""}, {"ed", "e"}, {"en", ""}, {"n", ""}, {"e", ""}} {
		if stem, ok := strings.CutSuffix(w, end.from); ok && len(stem) > 2 {
			out = append(out, stem+end.to)
			if n := len(stem); end.to == "" && n > 3 && stem[n-1] == stem[n-2] && (end.from == "ing" || end.from == "ed") {
				out = append(out, stem[:n-1])
			}
		}
	}
	return out
}

// same returns the single words of some lines, other than a word.
func (m *meanings) same(lines []int, but string) (out []string) {
	for _, l := range lines {
		for _, w := range m.lines[l] {
			if w != but && !strings.Contains(w, " ") && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}
