package choice

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// cut returns a text as one line of at most max characters. It cuts at the end of a sentence if
// that keeps at least half of max, else at the end of a word. "…" marks the omitted rest.
func cut(s string, max int) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	space := 0
	for i := max - 2; i > max/2; i-- {
		if strings.ContainsRune("。！？；", r[i]) || strings.ContainsRune(".!?;", r[i]) && r[i+1] == ' ' {
			return string(r[:i+1])
		}
		if space == 0 && (unicode.IsSpace(r[i]) || strings.ContainsRune("，、", r[i])) {
			space = i
		}
	}
	if space == 0 {
		space = max - 1
	}
	return strings.TrimRight(string(r[:space]), " ,;:，、") + "…"
}

// unmarked removes Markdown's marks from a line.
func unmarked(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "#| ")
	for _, m := range [...]string{"**", "__"} {
		line = strings.ReplaceAll(line, m, "")
	}
	if strings.HasPrefix(line, "*") && strings.HasSuffix(line, "*") {
		line = strings.Trim(line, "*")
	}
	return strings.TrimSpace(strings.TrimRight(line, "| "))
}

// unbulleted removes the mark of a list item from a line and reports whether there was one.
func unbulleted(line string) (string, bool) {
	t := strings.TrimSpace(line)
	for _, m := range [...]string{"- [ ] ", "- [x] ", "- ", "* ", "+ ", "• ", "– ", "・", "· "} {
		if rest, ok := strings.CutPrefix(t, m); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return t, false
}

// asking reports whether a line contains a question.
func asking(line string) bool {
	for i, r := range line {
		if r != '?' && r != '？' && r != '؟' && r != '՞' && !(r == ';' && greek(line)) {
			continue
		}
		if strings.Count(line[:i], "`")%2 > 0 {
			continue // code
		}
		rest := strings.TrimLeft(line[i+utf8.RuneLen(r):], "?？؟!*_)\"'`”’」』）")
		if after := line[i+utf8.RuneLen(r):]; rest != "" && strings.HasPrefix(after, `"`) || strings.HasPrefix(after, "”") {
			if open := strings.LastIndexAny(line[:i], "\"“"); open > 0 {
				continue // a quoted question
			}
		}
		if rest == "" || r != '?' && r != ';' || strings.HasPrefix(rest, " ") && r != ';' {
			return true
		}
	}
	return false
}

func greek(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Greek, r) })
}

func sentences(line string) []string { return slices.Collect(textutil.Sentences(line)) }

// last returns the last sentence, or a text if there is none.
func last(sentences []string, text string) string {
	if len(sentences) == 0 {
		return text
	}
	return sentences[len(sentences)-1]
}
