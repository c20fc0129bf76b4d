package verbs

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/markdownstore"
)

// place is a run of lines in a file. If the field from is 0, the run begins at the first line. If
// the field lines is 0, the run holds all lines.
type place struct {
	path        string
	from, lines int
}

// placeForm matches a path followed by lines, as in an argument of get or in a citation.
var placeForm = regexp.MustCompile(`^(.+?)(?::(\d+)(?::(\d+))?|#L(\d+)(?:-L(\d+))?)$`)

// parsePlace parses an argument of get: a path or an id, and lines.
func parsePlace(s string) (pl place, isPath bool, err error) {
	pl.path = s
	m := placeForm.FindStringSubmatch(s)
	if m != nil && markdownstore.PathLike(m[1]) {
		pl.path = m[1]
		if err := pl.take(s, m[2], m[3], m[4], m[5]); err != nil {
			return pl, true, err
		}
		return pl, true, nil
	}
	if head, rest, ok := cutBehindName(s); ok {
		return pl, true, cli.Usagef("%s: %q are no lines: write %s:FROM, %s:FROM:LINES or what search cites", s, rest, head, head)
	}
	return pl, markdownstore.PathLike(s), nil
}

// cutBehindName splits an argument after a file's name if the text after the name is not a line
// number.
func cutBehindName(s string) (name, rest string, ok bool) {
	for _, sep := range []string{".md:", ".md#"} {
		if i := strings.LastIndex(strings.ToLower(s), sep); i >= 0 && !markdownstore.PathLike(s[i+3:]) {
			return s[:i+3], s[i+3:], true
		}
	}
	return "", "", false
}

// take sets the lines: a first line and a count, or a first and a last line.
func (pl *place) take(s, from, lines, first, last string) error {
	number := func(text string, to *int) error {
		if text == "" {
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return cli.Usagef("%s: lines are counted from 1", s)
		}
		*to = n
		return nil
	}
	end := 0
	for _, part := range []struct {
		text string
		to   *int
	}{{from, &pl.from}, {lines, &pl.lines}, {first, &pl.from}, {last, &end}} {
		if err := number(part.text, part.to); err != nil {
			return err
		}
	}
	switch {
	case first != "" && last == "":
		pl.lines = 1
	case last != "" && end < pl.from:
		return cli.Usagef("%s: line %d is before line %d", s, end, pl.from)
	case last != "":
		pl.lines = end - pl.from + 1
	}
	return nil
}
