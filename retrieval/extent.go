package retrieval

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/markdownstore"
)

// extent is the text of a unit, or a part of it that is a passage.
type extent struct {
	// from is the first line, counted from 0. to is the line after the last line.
	from, to int
	// begin and end are byte offsets in the chunk.
	begin, end int
	// within reports whether the extent begins within a line, after the extent before it.
	within bool
	// head and tail are as in a passage.
	head, tail bool
}

// runsOf divides the units of a text into runs. Rows of tables and lines of logs are runs of their
// own. It also returns the text with line breaks where an extent begins within a line.
func runsOf(text string, units []markdownstore.Unit) (runs [][]extent, broken string) {
	runs = make([][]extent, len(units))
	var breaks []byte
	for i, u := range units {
		whole, ok := trimmed(text, u)
		if !ok {
			continue
		}
		runs[i] = whole.divide(text, u.Kind)
		if last := &runs[i][len(runs[i])-1]; i == len(units)-1 && prose(u.Kind) && whole.to-whole.from > 1 && len(text)-whole.end <= 1 && !ended(text) {
			last.tail = true // the chunk ends within a sentence
		}
		for _, r := range runs[i] {
			if r.within {
				if breaks == nil {
					breaks = []byte(text)
				}
				breaks[r.begin-1] = '\n'
			}
		}
	}
	if breaks != nil {
		return runs, string(breaks)
	}
	return runs, text
}

// trimmed returns the lines of a unit without the blank lines at both ends.
func trimmed(text string, u markdownstore.Unit) (r extent, ok bool) {
	body := strings.TrimRight(text[u.Start:u.End], " \t\r\n\f\v")
	blank := body[:len(body)-len(strings.TrimLeft(body, " \t\r\n\f\v"))]
	skip := 1 + strings.LastIndexByte(blank, '\n')
	r.begin, r.from = u.Start+skip, u.StartLine-1+strings.Count(blank, "\n")
	r.end, r.to = u.Start+len(body), u.StartLine+strings.Count(body, "\n")
	return r, body != ""
}

// divide divides a table or a log into its lines. It divides any other unit into parts of about the
// size of a snippet: between sentences, or between lines if no sentence ends near. A list item is
// never a log, even if its second line begins with a time.
func (r extent) divide(text string, kind markdownstore.UnitKind) (out []extent) {
	body := text[r.begin:r.end]
	lines := lineStarts(body)
	if len(lines) == 0 {
		return []extent{r}
	}
	if kind == markdownstore.UnitTable || kind != markdownstore.UnitItem && stamped(strings.Split(body, "\n")) {
		for _, at := range lines {
			left, right := r.split(text, at-len(body)+r.end)
			out, r = append(out, left), right
		}
		return append(out, r)
	}
	n := (utf8.RuneCountInString(body) + maxSnippet - 1) / maxSnippet
	var sentences []int
	if n > 1 && prose(kind) {
		sentences = sentenceStarts(body)
	}
	size, done := len(body)/n, r.from
	begin := r.begin
	for i := 1; i < n; i++ {
		// A line is a border only if no sentence begins near. Each part begins and ends on a later
		// line than the part before it.
		var best [2]extent
		cost := size
		for j, at := range slices.Concat(sentences, lines) {
			c := max(at-i*size, i*size-at)
			if c > size/2 {
				continue
			}
			whole := j < len(sentences)
			if !whole {
				c += size / 2
			}
			left, right := r.split(text, begin+at)
			if c < cost && right.from > left.from && left.to > done && right.to > left.to && (!right.within || text[right.begin-1] <= ' ') {
				left.tail, right.head = !whole, !whole
				best, cost = [2]extent{left, right}, c
			}
		}
		if cost < size {
			out, r, done = append(out, best[0]), best[1], best[0].to
		}
	}
	return append(out, r)
}

// split divides an extent at an offset.
func (r extent) split(text string, at int) (left, right extent) {
	left, right = r, r
	left.end = r.begin + len(strings.TrimRight(text[r.begin:at], " \t\r\n"))
	left.to = r.from + strings.Count(text[r.begin:left.end], "\n") + 1
	right.begin, right.from, right.within = at, r.from+strings.Count(text[r.begin:at], "\n"), text[at-1] != '\n'
	left.tail, right.head = false, false
	return left, right
}

// lineStarts returns the offsets at which the lines of a text begin, except the first.
func lineStarts(text string) (out []int) {
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return out
		}
		at += n + 1
		out = append(out, at)
	}
}

// leads finds the lead of each unit of a chunk: the text that a reader needs to understand the
// unit.
type leads struct {
	// items are the list items that contain the current position, outermost first.
	items []opened
	// intro is the sentence, ending with a colon, that announces the next unit.
	intro lead
	// now is the lead of the last unit.
	now lead
}

// lead is the part of a chunk that introduces a passage, by its offsets. It is empty if there is
// none.
type lead struct{ begin, end int32 }

// opened is a list item that may contain further items. text is their lead.
type opened struct {
	indent int
	text   lead
}

// maxLead is the length in bytes of the longest lead.
const maxLead = 240

// see computes the lead of the next unit, which is the extent r of text.
func (l *leads) see(text string, kind markdownstore.UnitKind, r extent) {
	body := text[r.begin:r.end]
	bare := strings.TrimLeft(body, " \t")
	indent := len(body) - len(bare)
	l.now = lead{}
	switch {
	case kind == markdownstore.UnitTable:
		if head, row, ok := strings.Cut(body, "\n"); ok && strings.HasPrefix(strings.TrimLeft(row, "| :"), "-") && len(head) <= maxLead {
			l.now = lead{int32(r.begin), int32(r.begin + len(head))}
		}
		l.intro = lead{}
	case kind == markdownstore.UnitCode:
		l.now = l.intro
	case kind == markdownstore.UnitItem, kind == markdownstore.UnitTurn && listed(bare):
		for len(l.items) > 0 && l.items[len(l.items)-1].indent >= indent {
			l.items = l.items[:len(l.items)-1]
		}
		if l.now = l.intro; len(l.items) > 0 {
			l.now = l.items[len(l.items)-1].text
		}
		text := lead{int32(r.begin), int32(r.end)}
		if r.end-r.begin > maxLead {
			text = announcing(body, r.begin)
		}
		l.items = append(l.items, opened{indent, text})
	case kind == markdownstore.UnitParagraph && indent > 0 && len(l.items) > 0:
	default:
		l.items, l.intro = l.items[:0], lead{}
		if kind == markdownstore.UnitParagraph || kind == markdownstore.UnitTurn {
			l.intro = announcing(body, r.begin)
		}
	}
}

// of returns the lead of the extent i of the last unit.
func (l *leads) of(kind markdownstore.UnitKind, i int) lead {
	if kind == markdownstore.UnitTable && i < 2 || kind != markdownstore.UnitTable && i > 0 {
		return lead{}
	}
	return l.now
}

// listed reports whether a text begins with the mark of a list item, such as "- " or "2. ".
func listed(text string) bool {
	mark, _, ok := strings.Cut(strings.TrimLeft(text, "0123456789"), " ")
	return ok && (mark == "-" || mark == "*" || mark == "+" || mark == "." || mark == ")")
}

// announcing returns the last sentence of a paragraph if it ends with a colon, else an empty lead.
// at is the paragraph's offset in the chunk.
func announcing(text string, at int) lead {
	if !announces(text) {
		return lead{}
	}
	from := 0
	if starts := sentenceStarts(text); len(starts) > 0 {
		from = starts[len(starts)-1]
	}
	if len(text)-from > maxLead {
		return lead{}
	}
	return lead{int32(at + from), int32(at + len(text))}
}
