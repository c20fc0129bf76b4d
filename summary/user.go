package summary

import (
	"slices"
	"strings"
)

// plain returns what a person said in a message: its text without the blocks
// that hosts wrap into the user's name, "" if nothing is left. Three shapes
// are the host's:
//
//	<some-tag>…</some-tag>   a block whose tag is hyphenated, underscored, in
//	                         capitals or in hostTags, at the start of a line
//	[one bracketed line]     a notice such as an interruption
//	# heading + block        a file that the host shows; the heading alone
//	                         is left and says nothing
func plain(text string) string {
	rest, stripped := unwrap(text)
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]") && !strings.Contains(rest, "\n") {
		return ""
	}
	if stripped && onlyHeadings(rest) {
		return ""
	}
	return rest
}

// unwrap removes host blocks. A tag that is never closed loses only itself.
func unwrap(text string) (rest string, stripped bool) {
	if !strings.Contains(text, "<") {
		return text, false
	}
	var b strings.Builder
	code := false
	for len(text) > 0 {
		line, after, more := strings.Cut(text, "\n")
		if name := tagName(strings.TrimLeft(line, " \t")); name != "" && !code {
			stripped = true
			text = afterTag(text, name)
			continue
		}
		code = code != fence(line)
		b.WriteString(line)
		if more {
			b.WriteByte('\n')
		}
		text = after
	}
	return b.String(), stripped
}

// afterTag is what follows the block that text starts with.
func afterTag(text, name string) string {
	if i := strings.Index(text, "</"+name+">"); i >= 0 {
		return text[i+len(name)+3:]
	}
	return text[strings.IndexByte(text, '>')+1:]
}

// hostTags are the hosts' tags that look like anyone's.
var hostTags = [...]string{"skill", "env"}

// tagName is the name of a host's tag at the start of s, "" if there is none.
func tagName(s string) string {
	if !strings.HasPrefix(s, "<") {
		return ""
	}
	end := strings.IndexAny(s, "> ")
	if end < 2 || !strings.Contains(s[end:], ">") {
		return ""
	}
	name, joined, lower := s[1:end], false, false
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '-' || c == '_':
			joined = true
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
		default:
			return ""
		}
	}
	if joined || !lower && len(name) > 2 || slices.Contains(hostTags[:], name) {
		return name
	}
	return ""
}

func onlyHeadings(s string) bool {
	only := true
	lines(s, func(line string) bool {
		t := strings.TrimSpace(line)
		only = t == "" || t[0] == '#'
		return only
	})
	return only
}

// gist is a text's beginning on one line, without code blocks and marks.
func gist(text string, max int) string {
	var b strings.Builder
	code := false
	lines(text, func(line string) bool {
		if fence(line) {
			code = !code
			return true
		}
		if t := unmark(line); t != "" && !code {
			b.WriteString(t)
			b.WriteByte(' ')
		}
		return b.Len() < 4*max
	})
	if b.Len() == 0 {
		return oneLine(text, max)
	}
	return oneLine(b.String(), max)
}

// lastLine is the last line of s that says something.
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
		lines(text[i:], func(line string) bool {
			dir, ok := strings.CutPrefix(strings.TrimSpace(line), "Working directory: ")
			if ok {
				u.setDir(dir)
			}
			return !ok && !strings.Contains(line, "</env>")
		})
	}
}

func (u *updater) setDir(dir string) {
	if dir = oneLine(u.masked(dir), pathRunes); absolute(dir) {
		u.s.Place.Dir = dir
	}
}
