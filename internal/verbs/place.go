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
		err = pl.take(s, m[2:])
		return pl, true, err
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

// take sets the lines from the numbers of an argument: a first line and a count, or a first and a
// last line. A missing number is "".
func (pl *place) take(s string, numbers []string) error {
	var n [4]int
	for i, text := range numbers {
		var err error
		if text == "" {
			continue
		}
		if n[i], err = strconv.Atoi(text); err != nil || n[i] < 1 {
			return cli.Usagef("%s: lines are counted from 1", s)
		}
	}
	first, last := n[2], n[3]
	pl.from, pl.lines = max(n[0], first), n[1]
	switch {
	case last > 0 && last < first:
		return cli.Usagef("%s: line %d is before line %d", s, last, first)
	case last > 0:
		pl.lines = last - first + 1
	case first > 0:
		pl.lines = 1
	}
	return nil
}
