package represent

import (
	"fmt"
	"strings"
)

// Part is a run of a text's lines. From is the number of its first line, counted from 1. To is
// the number of its last line.
type Part struct {
	Text     string
	From, To int
}

// Ends returns the parts of a memory file to show, in whole lines of together at most most bytes,
// but at least one line. It returns the whole file, or its beginning and its end, which is the
// newest part. missing is the note about the lines between these parts.
func Ends(path, text string, most int) (parts []Part, missing string) {
	lines := linesOf(text)
	if len(text) <= most {
		return ends(first(lines, most))
	}
	head, tail := first(lines, most*3/5), last(lines, most-most*3/5)
	count := tail.From - head.To - 1
	if count < 0 {
		return ends(first(lines, most))
	}
	if parts, _ = ends(head); count > 0 {
		missing = fmt.Sprintf("Lines %d to %d of %d in %s are not shown here. memory_get reads them, or 'memkernel get %s:%d:%d'.",
			head.To+1, tail.From-1, len(lines), path, path, head.To+1, count)
	}
	return append(parts, tail), missing
}

// End returns the end of a text in whole lines of at most most bytes. It returns false if the
// text is blank.
func End(text string, most int) (Part, bool) {
	p := last(linesOf(text), most)
	return p, strings.TrimSpace(p.Text) != ""
}

func ends(p Part) ([]Part, string) {
	if strings.TrimSpace(p.Text) == "" {
		return nil, ""
	}
	return []Part{p}, ""
}

func linesOf(text string) []string { return strings.SplitAfter(strings.TrimRight(text, "\n"), "\n") }

func first(lines []string, most int) Part {
	to, size := 0, 0
	for ; to < len(lines); to++ {
		if size += len(lines[to]); size > most && to > 0 {
			break
		}
	}
	return Part{strings.Join(lines[:to], ""), 1, to}
}

func last(lines []string, most int) Part {
	from, size := len(lines), 0
	for ; from > 0; from-- {
		if size += len(lines[from-1]); size > most && from < len(lines) {
			break
		}
	}
	return Part{strings.Join(lines[from:], ""), from + 1, len(lines)}
}
