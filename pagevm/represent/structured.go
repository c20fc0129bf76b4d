package represent

import (
	"strconv"
	"strings"
)

// quote is a line of a text, verbatim, or a part of a line that is too long to be quoted whole.
type quote struct {
	// line is the number of the line in the full content, from 1.
	line int
	// at is the offset in bytes at which the quoted part begins in its line.
	at int
	// text has no line break.
	text string
}

func (s *scan) quote(i int) quote {
	u := &s.units[i]
	q := quote{line: int(u.line), text: s.text[u.start:u.end]}
	if i > 0 && s.units[i-1].line == u.line {
		q.at = u.start - strings.LastIndexByte(s.text[:u.start], '\n') - 1
	}
	return q
}

// quotes returns the kept units of a range, in the order of the content.
func (s *scan) quotes(keep []bool, from, to int) (out []quote) {
	for i := from; i < to; i++ {
		if keep[i] {
			out = append(out, s.quote(i))
		}
	}
	return out
}

// appendQuotes writes quotes in order, one on each line. If numbers is set, each quote is preceded
// by its place: "12: " is line 12, and "12+381: " is the part of line 12 from byte 381 on. If
// numbers is not set, a mark shows where lines between two quotes are missing.
func appendQuotes(b []byte, qs []quote, numbers bool) []byte {
	for i, q := range qs {
		switch {
		case numbers:
			b = strconv.AppendInt(b, int64(q.line), 10)
			if q.at > 0 {
				b = strconv.AppendInt(append(b, '+'), int64(q.at), 10)
			}
			b = append(b, ": "...)
		case i > 0 && q.apart(qs[i-1]):
			b = append(b, "[…]\n"...)
		}
		b = append(append(b, q.text...), '\n')
	}
	return b
}

// apart reports whether text is missing between p and its successor q.
func (q quote) apart(p quote) bool {
	if q.line == p.line {
		return q.at > p.at+len(p.text)
	}
	return q.line > p.line+1 || q.at > 0
}

// section is a section of a text of instructions: its heading and the lines that an outline shows.
type section struct {
	// heading is the heading's line, verbatim. It is "" for the text before the first heading.
	heading string
	// whole is the verbatim text of a section that is shown whole, including its subsections.
	whole string
	// commands are the commanding lines, verbatim, of any other section.
	commands []string
	// left is the number of lines that were left out.
	left int
}

// outlineText writes sections after b, with a note at the end of each about its missing parts.
func outlineText(b string, sections []section) string {
	for i := range sections {
		s := &sections[i]
		if s.heading != "" {
			b += s.heading + "\n"
		}
		b += s.whole
		for _, l := range s.commands {
			b += l + "\n"
		}
		if s.left > 0 {
			b += "[… " + plural(s.left, "line") + "]\n"
		}
	}
	return b
}

// wholeMark returns b with the way to read the whole page, if the model can read it.
func wholeMark(b []byte, resolver, page string) string {
	if resolver == "" || page == "" {
		return string(b)
	}
	return string(b) + "whole: " + resolver + " " + page
}
