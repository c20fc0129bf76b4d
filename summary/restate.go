package summary

import (
	"slices"
	"strings"
	"unicode"
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
	out := make([]string, 0, 16)
	begin := -1
	flush := func(end int) {
		if begin >= 0 {
			if w := strings.Trim(line[begin:end], "-./:"); w != "" {
				out = append(out, w)
			}
			begin = -1
		}
	}
	for i, r := range line {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush(i)
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:", r):
			if begin < 0 {
				begin = i
			}
		default:
			flush(i)
		}
	}
	flush(len(line))
	return out
}

// isName reports whether a word is a name. A name has letters with a digit, with a sign that
// joins the parts of identifiers and paths, or with a capital inside.
func isName(w string) bool {
	if !strings.ContainsFunc(w, unicode.IsLetter) {
		return false
	}
	return strings.ContainsFunc(w, unicode.IsDigit) || strings.ContainsAny(w, "_./") || innerCapital(w)
}

func innerCapital(w string) bool {
	small := false
	for _, r := range w {
		if small && unicode.IsUpper(r) {
			return true
		}
		small = unicode.IsLower(r)
	}
	return false
}

func isValue(w string) bool { return strings.ContainsFunc(w, unicode.IsDigit) || isName(w) }
