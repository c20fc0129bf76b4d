package markdownstore

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The functions of this file examine one line, without its indent and its line end.

// runOf counts how often s begins with c.
func runOf(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// headingLevel returns 1 to 6 if the line is an ATX heading, else 0.
func headingLevel(s string) int {
	n := runOf(s, '#')
	if n == 0 || n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// maxHeading bounds the text of a heading in a trail, because in CommonMark a whole paragraph is a
// heading if a line of dashes follows it.
const maxHeading = 200 // bytes

// headingText returns the text of an ATX heading after its hashes.
func headingText(s string) string {
	s = strings.TrimSpace(s)
	if t := strings.TrimRight(s, "#"); t == "" || strings.HasSuffix(t, " ") || strings.HasSuffix(t, "\t") {
		s = strings.TrimSpace(t)
	}
	return clip(s, maxHeading)
}

// setextText returns the text of a heading of several lines.
func setextText(s string) string {
	if len(s) > 4*maxHeading {
		s = s[:4*maxHeading]
	}
	return clip(strings.Join(strings.Fields(s), " "), maxHeading)
}

// clip returns at most n bytes of s, without cutting a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimSpace(s[:runeStart(s, n)])
}

// fenceOf returns the length of the code fence that the line opens, or 0. A backtick after a backtick
// fence means that the line is inline code.
func fenceOf(s string) int {
	n := runOf(s, s[0])
	if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return 0
	}
	return n
}

// isRule reports whether s is a thematic break: three or more of the same character, - * or _, with
// any spaces.
func isRule(s string) bool {
	c, n := s[0], 0
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	for i := range len(s) {
		switch s[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// markerWidth returns the width of the list marker at the beginning of the line, or 0.
func markerWidth(s string) int {
	w := 1
	switch c := s[0]; {
	case c == '-' || c == '*' || c == '+':
	case isDigit(c):
		for w < len(s) && isDigit(s[w]) {
			w++
		}
		if w > 9 || w == len(s) || s[w] != '.' && s[w] != ')' {
			return 0
		}
		w++
	default:
		return 0
	}
	if w < len(s) && s[w] != ' ' && s[w] != '\t' {
		return 0
	}
	return w
}

// interrupts reports whether an item may follow a paragraph without a blank line. This is not so if the
// item is empty, or if its number is not 1.
func interrupts(s string, w int) bool {
	return w < len(s) && (!isDigit(s[0]) || s[:w-1] == "1")
}

// htmlOpener returns the end mark of the HTML that the line opens: a comment, or a block with raw
// content. Other tags often contain Markdown, so they count as text.
func htmlOpener(s string) string {
	if strings.HasPrefix(s, "<!--") {
		return "-->"
	}
	for _, tag := range [...]string{"pre", "script", "style", "textarea"} {
		if len(s) > len(tag) && strings.EqualFold(s[1:1+len(tag)], tag) {
			if len(s) == len(tag)+1 || s[len(tag)+1] == '>' || isSpace(s[len(tag)+1]) {
				return "</" + tag + ">"
			}
		}
	}
	return ""
}

// containsFold reports whether s contains sub in any letter case. sub must be in lower case.
func containsFold(s, sub string) bool {
	if strings.Contains(s, sub) {
		return true
	}
	return sub[len(sub)-2] != '-' && strings.Contains(strings.ToLower(s), sub)
}

// markerPrefix and markerSuffix surround the id of an appended entry.
const (
	markerPrefix = "<!-- mk:"
	markerSuffix = " -->"
)

// markerID returns the id in the marker of an entry, or "" if the line is not a marker.
func markerID(s string) string {
	id, ok := strings.CutPrefix(s, markerPrefix)
	if !ok {
		return ""
	}
	id, ok = strings.CutSuffix(id, markerSuffix)
	if !ok || !validID(id) {
		return ""
	}
	return id
}

const maxLabel = 40 // bytes

// labelOf returns the short label at the beginning of a text, as in "Ann: yes" or "**Decision**: no", or
// "". It omits emphasis, and the box of a task before the label.
func labelOf(s string) string {
	if len(s) > 4 && s[0] == '[' && s[2] == ']' {
		s = strings.TrimLeft(s[3:], " ")
	}
	bare := strings.TrimLeft(s, "*_")
	if bare == "" || len(s)-len(bare) > 3 {
		return ""
	}
	head := bare[:min(len(bare), maxLabel+len("：**"))]
	at, width := strings.IndexByte(head, ':'), 1
	if wide := strings.Index(head, "："); wide >= 0 && (at < 0 || wide < at) {
		at, width = wide, len("：")
	}
	if at <= 0 || at > maxLabel {
		return ""
	}
	if next := bare[at+width:]; width == 1 && next != "" && !isSpace(next[0]) && next[0] != '*' && next[0] != '_' {
		return ""
	}
	label := strings.TrimRight(head[:at], "*_ ")
	if !isLabel(label) {
		return ""
	}
	return label
}

// isLabel reports whether s may be a label: it begins with a letter, and has at most five words and no
// punctuation of sentences.
func isLabel(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	if !unicode.IsLetter(first) {
		return false
	}
	spaces := 0
	for _, r := range s {
		switch {
		case r == ' ':
			spaces++
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		case strings.ContainsRune("-_.'’&/()（）·", r):
		default:
			return false
		}
	}
	return spaces <= 4
}
