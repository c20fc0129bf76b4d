package summary

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// gist returns a text's beginning on one line, without code blocks and marks.
func gist(text string, max int) string {
	var b strings.Builder
	code := false
	for line := range textutil.Lines(text) {
		if fence(line) {
			code = !code
		} else if t := unmark(line); t != "" && !code {
			b.WriteString(t + " ")
		}
		if b.Len() >= 4*max {
			break
		}
	}
	if b.Len() == 0 {
		return oneLine(text, max)
	}
	return oneLine(b.String(), max)
}

// lastLine returns the last line of s that is neither blank nor a fence.
func lastLine(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	for {
		i := strings.LastIndexByte(s, '\n')
		if t := strings.TrimSpace(s[i+1:]); t != "" && !fence(t) || i < 0 {
			return t
		}
		s = s[:i]
	}
}

// hostPlace reads the working directory that a host names in its own blocks:
// a <cwd> element, or the line "Working directory:" of an <env> block.
func (u *updater) hostPlace(text string) {
	if i := strings.Index(text, "<cwd>"); i >= 0 {
		if dir, _, ok := strings.Cut(text[i+5:], "</cwd>"); ok {
			u.setDir(dir)
			return
		}
	}
	if i := strings.Index(text, "<env>"); i >= 0 {
		env, _, _ := strings.Cut(text[i:], "</env>")
		if _, dir, ok := strings.Cut(env, "Working directory: "); ok {
			dir, _, _ = strings.Cut(dir, "\n")
			u.setDir(dir)
		}
	}
}

func (u *updater) setDir(dir string) {
	if dir = oneLine(u.mask(dir), pathRunes); absolute(dir) {
		u.s.Place.Dir = dir
	}
}
