package foreign

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// QMD's results are a list (qmd search, vsearch and query with --json) or an object
// with one under "results" (its MCP server and POST /query). A result has:
//
//	docid    "#" and six hex digits of the content's hash; since 2026-01
//	score    0 to 1, two digits
//	file     "qmd://collection/path"; before 1.0 a plain path
//	line     of the best match, from 1; since PR 533 (2026-04)
//	title    first heading or file name
//	context  what the user wrote about the collection
//	snippet  a few lines behind a head "@@ -from,count @@ (n before, m after)";
//	         with --line-numbers each behind its number
//	body     the whole document instead, with --full
//	explain  how the score came about, with --explain
//
// Sources: tobi/qmd src/cli/formatter.ts, src/cli/qmd.ts and src/mcp/server.ts,
// versions 0.x to 2.8; issues 154 and 505, pull requests 506, 533 and 644.

func qmdKnows(v any) bool {
	m := object(v)
	return m.has("docid") || m.has("file") && m.has("snippet", "body", "title")
}

var (
	snippetHead  = regexp.MustCompile(`^(?:\d+: ?)?@@ -(\d{1,9}),(\d{1,9}) @@[^\n]*(?:\n|$)`)
	numberedLine = regexp.MustCompile(`^\d+: ?`)
)

func readQMD(e entry) (r Record, err error) {
	m := object(e.value)
	if m == nil {
		return r, errors.New("it is no object")
	}
	r.ID = strings.TrimPrefix(m.text("docid"), "#")
	r.Source, r.Title = m.text("file"), m.text("title")
	r.Score = m.number("score")
	if line := m.number("line"); line >= 1 && line <= 1e9 {
		r.StartLine = int(line)
	}
	whole := m.has("body")
	if r.Text, err = m.must("snippet", "body"); err != nil {
		return r, err
	}
	r.snippet(whole)
	r.ID = cmp.Or(r.ID, r.Source)
	return r, nil
}

// snippet removes the head and the line numbers from the record's text, and sets the record's lines
// from them.
func (r *Record) snippet(whole bool) {
	head := snippetHead.FindStringSubmatch(r.Text)
	if head != nil {
		from, _ := strconv.Atoi(head[1])
		n, _ := strconv.Atoi(head[2])
		r.Text = r.Text[len(head[0]):]
		r.StartLine, r.EndLine = from, from+max(n, 1)-1
	}
	if bare, ok := unnumbered(r.Text); ok && (whole || head != nil) {
		r.Text = bare
	}
	switch {
	case whole && head == nil:
		r.StartLine, r.EndLine = 0, 0
	case r.StartLine > 0 && r.EndLine == 0:
		r.EndLine = r.StartLine
	}
}

// unnumbered returns a text without the numbers at the beginning of its lines. It fails if a line
// has no number.
func unnumbered(text string) (string, bool) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		n := numberedLine.FindString(l)
		if n == "" {
			return text, false
		}
		lines[i] = l[len(n):]
	}
	return strings.Join(lines, "\n"), true
}
