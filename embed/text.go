package embed

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Compose returns the text from which a chunk's vector is made: the headings that it is under,
// joined by " > ", a blank line, and its text. Headings that the text itself begins with are not
// repeated, and lines that are nothing but an HTML comment are left out, such as the markers of
// appended entries. Cached vectors are stored by the chunk and not by this text. So a change of
// Compose's result must also change the result of Model.
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

// fit puts a prefix before a text and cuts the whole to at most size bytes, before a rune that
// would be torn.
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
