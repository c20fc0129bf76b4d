package embed

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Compose returns the text that is embedded for a chunk: its headings joined by " > ", a blank line,
// and the chunk's text. It omits headings at the beginning of the chunk's text, and lines with only an
// HTML comment, such as the markers of appended entries. Vectors are stored by the chunk's hash, not
// by the result of Compose. So if Compose changes, the result of Model must change too.
func Compose(trail []string, text string) string {
	lines := strings.Split(text, "\n")
	for len(lines) > 0 && (blank(lines[0]) || slices.Contains(trail, heading(lines[0]))) {
		lines = lines[1:]
	}
	lines = slices.DeleteFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return strings.HasPrefix(l, "<!--") && strings.Index(l, "-->") == len(l)-len("-->")
	})
	body := strings.TrimSpace(strings.Join(lines, "\n"))
	return strings.TrimSpace(strings.Join(trail, " > ") + "\n\n" + body)
}

// heading returns the text of an ATX heading, or "" if the line is not a heading.
func heading(line string) string {
	label := strings.TrimLeft(strings.TrimSpace(line), "#")
	if marks := len(strings.TrimSpace(line)) - len(label); marks == 0 || marks > 6 || !strings.HasPrefix(label, " ") {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(label), "#"))
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// fit returns prefix and text, cut to at most size bytes without cutting a rune.
func fit(prefix, text string, size int) string {
	input := prefix + text
	if len(input) <= size {
		return input
	}
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(input[size]); back++ {
		size--
	}
	return input[:size]
}

// EstimateTokens returns the approximate number of tokens of a text. It counts one token for four
// bytes of ASCII, which is right for English, and one token for every other character. The latter
// is too much for most European languages and about right for Chinese.
func EstimateTokens(text string) int {
	ascii, others := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + others
}
