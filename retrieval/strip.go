package retrieval

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// rule matches a horizontal rule, or the underline of a heading.
var rule = textutil.LazyRegexp(`^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)$`)

// ruled is rule, but fast for the many lines that do not end like a rule.
func ruled(text string) bool {
	end := strings.TrimRight(text, " \t")
	return end != "" && strings.IndexByte("-*_=", end[len(end)-1]) >= 0 && rule.MatchString(text)
}

// strip leaves out text that costs tokens and has no content: HTML comments, including the
// markers of entries, horizontal rules, and repeated blank lines. The remaining lines keep their
// numbers. strip changes nothing in a code fence. A comment that is never closed counts as text.
func strip(lines []line) []line {
	s := stripper{lastClose: -1}
	for i, l := range lines {
		if strings.Contains(l.text, commentEnd) {
			s.lastClose = i
		}
	}
	for i, l := range lines {
		s.take(i, l)
	}
	return trim(s.out)
}

const (
	commentStart = "<!--"
	commentEnd   = "-->"
)

// stripper is the state of strip between two lines.
type stripper struct {
	out []line
	// fence is the open code fence, or "".
	fence string
	// inside reports whether the scan is inside a comment.
	inside bool
	// lastClose is the last line in which a comment could end.
	lastClose int
}

func (s *stripper) take(i int, l line) {
	was := s.fence
	if !s.inside {
		s.fence = fenced(l.text, s.fence)
	}
	if was == "" && s.fence == "" {
		text := s.uncomment(l.text, i)
		if gone := text != l.text && strings.TrimSpace(text) == ""; gone || ruled(text) {
			return
		}
		l.text = text
		if text == "" && (len(s.out) == 0 || s.out[len(s.out)-1].text == "") {
			return
		}
	}
	s.out = append(s.out, l)
}

// uncomment returns a line without its comments. A comment of several lines only counts if it
// begins a line. Otherwise a text about comments would lose its second half.
func (s *stripper) uncomment(text string, i int) string {
	if s.inside {
		_, behind, ends := strings.Cut(text, commentEnd)
		if !ends {
			return ""
		}
		text, s.inside = behind, false
	}
	for from := 0; ; {
		start := strings.Index(text[from:], commentStart)
		if start < 0 {
			return strings.TrimRight(text, " \t")
		}
		start += from
		end := strings.Index(text[start+len(commentStart):], commentEnd)
		switch {
		case start > 0 && text[start-1] == '`':
			from = start + len(commentStart)
		case end >= 0:
			text = text[:start] + text[start+len(commentStart)+end+len(commentEnd):]
			from = start
		case strings.TrimSpace(text[:start]) == "" && i < s.lastClose:
			s.inside = true
			return ""
		default:
			return text
		}
	}
}

// fenced returns the code fence that is open after a line, or "".
func fenced(text, open string) string {
	text = strings.TrimSpace(text)
	mark := ""
	for _, c := range [...]string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, c))
		if n >= 3 && !(c == "`" && strings.Contains(text[n:], c)) { // ```this``` is code within a line
			mark = text[:n]
		}
	}
	switch {
	case open == "":
		return mark
	case mark == text && strings.HasPrefix(mark, open):
		return ""
	}
	return open
}
