package static

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is searched for before a text is cut into pieces.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Left       bool   `json:"lstrip"`
	Right      bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
}

// added holds added tokens by their first byte, the longest first.
type added struct{ byFirst map[byte][]addedToken }

// part is a token in a text, or with id -1 the text between two tokens.
type part struct {
	id   int
	text string
}

func (a *added) add(t addedToken) {
	if t.Content == "" {
		return
	}
	if a.byFirst == nil {
		a.byFirst = map[byte][]addedToken{}
	}
	list := append(a.byFirst[t.Content[0]], t)
	slices.SortStableFunc(list, func(x, y addedToken) int { return len(y.Content) - len(x.Content) })
	a.byFirst[t.Content[0]] = list
}

// cut cuts a text at its tokens. Where several tokens begin, it takes the longest.
func (a *added) cut(text string) []part {
	var out []part
	from := 0
	for i := 0; i < len(text) && a.byFirst != nil; {
		t, ok := a.at(text, i)
		if !ok {
			i++
			continue
		}
		start, end := i, i+len(t.Content)
		if t.Left {
			start = from + len(strings.TrimRightFunc(text[from:i], unicode.IsSpace))
		}
		if t.Right {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start > from {
			out = append(out, part{-1, text[from:start]})
		}
		out = append(out, part{t.ID, text[start:end]})
		i, from = end, end
	}
	if from < len(text) {
		out = append(out, part{-1, text[from:]})
	}
	return out
}

func (a *added) at(text string, i int) (addedToken, bool) {
	for _, t := range a.byFirst[text[i]] {
		if strings.HasPrefix(text[i:], t.Content) && (!t.SingleWord || alone(text, i, i+len(t.Content))) {
			return t, true
		}
	}
	return addedToken{}, false
}

// alone reports whether text[from:to] is not part of a longer word.
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return (from == 0 || !isWord(before)) && (to == len(text) || !isWord(after))
}

// isWord reports whether the class \w of expressions matches r: letters, marks, digits and connectors.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc)
}
