package retrieval

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// inlineNotes matches comments within a line, except in a code span.
var inlineNotes = textutil.LazyRegexp("(^|[^`])(?:<!--.*?-->)+")

// strip leaves out text that costs tokens and has no content: HTML comments, including the
// markers of entries, horizontal rules, and repeated blank lines. The remaining lines keep their
// numbers. strip changes nothing in code. A comment that is never closed counts as text.
func strip(lines []line) (out []line) {
	text := plainText(lines)
	for _, u := range markdownstore.Units(markdownstore.Document{Raw: text, Body: text, BodyLine: 1}) {
		own := lines[u.StartLine-1 : min(u.EndLine, len(lines))]
		code := 0 // the lines of code
		empty := u.Kind == markdownstore.UnitRule || u.Kind == markdownstore.UnitMarker
		if u.Kind == markdownstore.UnitCode {
			code = 1 + strings.Count(strings.TrimRight(text[u.Start:u.End], "\n"), "\n")
		} else {
			own = uncommented(own)
		}
		for i, l := range own {
			was := l.text
			if i >= code {
				if strings.Contains(was, "<!--") {
					l.text = strings.TrimRight(inlineNotes.ReplaceAllString(was, "$1"), " \t")
				}
				underline := u.Kind == markdownstore.UnitHeading && was != "" && strings.Trim(was, "=- \t") == ""
				gone := was != "" && (empty || underline || strings.TrimSpace(l.text) == "")
				if gone || l.text == "" && (len(out) == 0 || out[len(out)-1].text == "") {
					continue
				}
			}
			out = append(out, l)
		}
	}
	return trim(out)
}

// uncommented returns the lines of a unit without the first comment of several lines that begins a
// line.
func uncommented(lines []line) []line {
	for first := range lines {
		if !strings.HasPrefix(strings.TrimSpace(lines[first].text), "<!--") {
			continue
		}
		for i := first; i < len(lines); i++ {
			if _, rest, ends := strings.Cut(lines[i].text, "-->"); ends && i > first {
				lines[i].text = rest
				if strings.TrimSpace(rest) == "" {
					i++
				}
				return append(lines[:first:first], lines[i:]...)
			} else if ends {
				break
			}
		}
	}
	return lines
}
