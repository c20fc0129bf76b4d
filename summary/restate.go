package summary

import (
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Restates reports whether two statements are the same except for one value, and name the same
// thing. The statements may differ in one run of at most three words with a digit or a name in
// the run. One of the equal words must be a name.
func Restates(was, now string) bool {
	a, b := statement(was), statement(now)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, to := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(from) == 0 || len(to) == 0 || len(from) > 3 || len(to) > 3 || head+tail < 3 {
		return false
	}
	return slices.ContainsFunc(from, isValue) && slices.ContainsFunc(to, isValue) &&
		(slices.ContainsFunc(a[:head], isName) || slices.ContainsFunc(a[len(a)-tail:], isName))
}

// statement returns the words of a line, each character of a script without spaces as one word.
// The signs that join the parts of a name belong to it.
func statement(line string) []string {
	var spaced strings.Builder
	for _, r := range line {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			spaced.WriteString(" " + string(r) + " ")
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:", r):
			spaced.WriteRune(r)
		default:
			spaced.WriteByte(' ')
		}
	}
	words := strings.Fields(spaced.String())
	for i := range words {
		words[i] = strings.Trim(words[i], "-./:")
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// isName reports whether a word is a name. A name has letters with a digit, with a sign that
// joins the parts of identifiers and paths, or with a capital inside.
func isName(w string) bool {
	return strings.ContainsFunc(w, unicode.IsLetter) && composed.MatchString(w)
}

var composed = textutil.LazyRegexp(`[\p{Nd}_./]|\p{Ll}\p{Lu}`)

func isValue(w string) bool { return strings.ContainsFunc(w, unicode.IsDigit) || isName(w) }
