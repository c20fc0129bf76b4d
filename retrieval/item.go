package retrieval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Item is a run of lines that a prompt holds as one note.
type Item struct {
	Kind kind `json:"kind"`
	// Path is "" for spans and records. ID is "" for files.
	Path string `json:"path"`
	ID   string `json:"id,omitempty"`
	// StartLine and EndLine are the first and the last line of Text. Lines without content may be
	// missing between them.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Trail is the headings above the whole item.
	Trail []string `json:"trail,omitempty"`
	// Origin is the Origin of the item's hits.
	Origin   string `json:"origin,omitempty"`
	Date     string `json:"date,omitempty"`
	Citation string `json:"citation"`
	// SupersededBy is the citation of the text that replaces the item's hits. If only some hits
	// were replaced, it lists these hits, each as "L3 by " and the citation.
	SupersededBy string `json:"superseded_by,omitempty"`
	// Dates are the dates of the item's hits whose lines are in Text.
	Dates []dated `json:"dates,omitempty"`
	Text  string  `json:"text"`
	// Score is the score of the best hit.
	Score float64 `json:"score"`
	// Hits are the IDs of all hits in the item.
	Hits []string `json:"hits"`
	// Cut reports whether a hit did not fit whole.
	Cut bool `json:"cut,omitempty"`

	lines []line
}

// Shows reports whether a line of the source is in Text.
func (it *Item) Shows(no int) bool {
	return slices.ContainsFunc(it.lines, func(l line) bool { return l.no == no && l.text != gap })
}

// segment is the shown part of a hit.
type segment struct {
	hit *Hit
	// rank is the hit's place among the hits given to Pack.
	rank int
	// from and to are the first and the last line that the segment covers, including lines that
	// are left out.
	from, to int
	lines    []line
	cut      bool
}

// source names the text in which a segment's lines are counted.
func (s *segment) source() string { return string(s.hit.Kind) + cmp.Or(s.hit.Path, s.hit.ID) }

// touches reports whether another segment is of the same text and overlaps it or is next to it.
func (s *segment) touches(o segment) bool {
	return s.from <= o.to+1 && o.from <= s.to+1 && s.source() == o.source()
}

// assemble makes items of segments. Segments that overlap or touch in one text become one item.
// Items are in the order of their best segments.
func assemble(segments []segment) []Item {
	sorted := slices.Clone(segments)
	slices.SortStableFunc(sorted, func(a, b segment) int {
		return cmp.Or(cmp.Compare(a.source(), b.source()), cmp.Compare(a.from, b.from),
			cmp.Compare(a.hit.Seq, b.hit.Seq), cmp.Compare(a.to, b.to))
	})
	type ranked struct {
		Item
		rank int
	}
	var out []ranked
	for len(sorted) > 0 {
		n, to := 1, sorted[0].to
		for n < len(sorted) && sorted[n].source() == sorted[0].source() && sorted[n].from <= to+1 {
			to = max(to, sorted[n].to)
			n++
		}
		item, rank := fuse(sorted[:n])
		out = append(out, ranked{item, rank})
		sorted = sorted[n:]
	}
	slices.SortStableFunc(out, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	items := make([]Item, len(out))
	for i, r := range out {
		items[i] = r.Item
	}
	return items
}

// fuse makes an item of segments of one text, which must be in the order of the text.
func fuse(segments []segment) (Item, int) {
	best := slices.MinFunc(segments, func(a, b segment) int { return cmp.Compare(a.rank, b.rank) })
	item := Item{Kind: best.hit.Kind, Path: best.hit.Path, Trail: segments[0].hit.Trail, Origin: best.hit.Origin, Date: best.hit.Date, Score: best.hit.Score}
	item.SupersededBy = supersededOf(segments, best)
	var lines []line
	seq := segments[0].hit.Seq
	for i, s := range segments {
		if lines = s.lines; i > 0 {
			lines = merge(item.lines, s.lines, s.hit.Seq <= seq+1)
		}
		item.lines, seq = lines, max(seq, s.hit.Seq)
		item.Trail = common(item.Trail, s.hit.Trail)
		item.Hits = append(item.Hits, s.hit.ID)
		item.Cut = item.Cut || s.cut
		item.Dates = appendDates(item.Dates, s)
	}
	item.StartLine, item.EndLine, item.Text = lines[0].no, lines[len(lines)-1].no, join(lines)
	item.Citation = cite(item.Path, item.StartLine, item.EndLine)
	if item.Kind != Memory {
		item.ID = best.hit.ID
		item.Citation = item.ID
		if item.Cut && item.Kind == Session {
			item.Citation = cite(item.ID, item.StartLine, item.EndLine)
		}
	}
	return item, best.rank
}

// supersededOf returns the SupersededBy of an item of the given segments. best is the segment with
// the best rank.
func supersededOf(segments []segment, best segment) string {
	var parts []string
	for _, s := range segments {
		if s.hit.SupersededBy != "" {
			parts = append(parts, fmt.Sprintf("L%d by %s", s.hit.StartLine, s.hit.SupersededBy))
		}
	}
	if len(parts) == len(segments) {
		return best.hit.SupersededBy
	}
	return strings.Join(parts, "; ")
}

// merge appends the lines of b to those of a and leaves out lines that a has already. If chunks
// divide a long line, merge joins its parts. next reports whether b's chunk follows a's chunk.
func merge(a, b []line, next bool) []line {
	last := a[len(a)-1]
	i := slices.IndexFunc(b, func(l line) bool { return l.no >= last.no })
	if i < 0 {
		return a
	}
	out := slices.Clone(a)
	if b[i].no == last.no && !(last.tail && b[i].text == gap) {
		out[len(out)-1].text, out[len(out)-1].tail = splice(last.text, b[i].text, next), b[i].tail
		i++
	}
	return append(out, b[i:]...)
}

// leastOverlap is the number of equal bytes that is taken for an overlap and not for a coincidence.
const leastOverlap = 16

// splice joins two parts of one line. It shows their overlap only once.
func splice(a, b string, next bool) string {
	if len(b) >= leastOverlap && strings.Contains(a, b) || strings.HasSuffix(a, b) {
		return a
	}
	if strings.HasPrefix(b, a) {
		return b
	}
	for n := min(len(a), len(b)); n >= leastOverlap; n-- {
		if strings.HasSuffix(a, b[:n]) {
			return a + b[n:]
		}
	}
	switch {
	case strings.HasPrefix(b, gap) || next && ended(a):
		return beside(a, b)
	case next:
		return a + b
	}
	return a + " … " + b
}

// common returns the common beginning of two trails.
func common(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
