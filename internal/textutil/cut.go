package textutil

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lines yields the lines of a text without their ends.
func Lines(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for l := range strings.Lines(s) {
			if !yield(strings.TrimRight(l, "\r\n")) {
				return
			}
		}
	}
}

// Head returns at most n bytes from the start of s, cut between characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Tail returns at most n bytes from the end of s, cut between characters.
func Tail(s string, n int) string {
	i := max(len(s)-n, 0)
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// Begins reports whether s begins with one of the marks.
func Begins(s string, marks []string) bool {
	return slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(s, m) })
}
