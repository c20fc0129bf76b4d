package retrieval

import (
	"cmp"
	"slices"
	"strings"
)

// Passages of one session share a note. So each passage costs only its own lines, and text that
// was written together is read together.

// together reports whether two hits are passages of one session.
func together(a, b *Hit) bool {
	return a.place != nil && b.place != nil && a.Path == b.Path && slices.Equal(head(a.Trail), head(b.Trail))
}

// join adds a passage to the note of its session, or to a new note.
func (p *packer) join(d *draft) {
	group := []segment{d.segment}
	for _, s := range p.segments {
		if together(s.hit, d.hit) {
			group = append(group, s)
		}
	}
	slices.SortStableFunc(group, func(a, b segment) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	item, _ := fuse(explained(group))
	d.notes = slices.Clone(p.notes)
	for i := range d.notes {
		if n := &d.notes[i]; n.of != nil && together(n.of, d.hit) {
			d.grown = &p.notes[i]
			*n = note{Item: item, of: n.of}
			return
		}
	}
	if d.notes = nil; len(p.notes) < p.Items {
		d.notes = append(slices.Clip(p.notes), note{Item: item, of: d.hit})
	}
}

// gap marks sentences that are left out between passages.
const gap = "…"

// explained returns passages of one session with their leads. Between two passages it puts the
// missing line if that is short, else a mark.
func explained(group []segment) []segment {
	out := slices.Clone(group)
	var shown *segment // the one that ends last
	for i := range out {
		s := &out[i]
		begin, end := s.begin(), 0
		if shown != nil {
			end = shown.endIn(s.hit)
		}
		if l := s.hit.lead(); l.end > 0 && int(l.begin) >= end && int(l.end) <= begin {
			s.lines = slices.Concat(s.hit.between(int(l.begin), int(l.end), true), s.hit.between(int(l.end), begin, false), s.lines)
			s.from, begin = s.lines[0].no, int(l.begin)
		}
		if shown != nil {
			missing := s.hit.between(end, begin, false)
			if n := len(missing); n > 0 && missing[0].text != gap {
				missing[0].head, missing[n-1].tail = shown.lines[len(shown.lines)-1].tail, s.lines[0].head
			}
			s.lines = relined(slices.Concat(missing, s.lines))
			s.from = min(s.from, s.lines[0].no)
		}
		if shown == nil || s.to >= shown.to {
			shown = &group[i]
		}
	}
	return out
}

// lead returns the lead of a passage, or none.
func (h *Hit) lead() lead {
	if h.place == nil {
		return lead{}
	}
	return h.place.lead
}

// whole returns the text of the passage's chunk.
func (h *Hit) whole() string { return h.place.chunk.hit.Text }
func (h *Hit) first() int    { return h.place.chunk.hit.StartLine }

// begin returns the offset in the chunk at which the shown part of a passage begins.
func (s *segment) begin() int {
	start, end := lineSpan(s.hit.whole(), s.lines[0].no-s.hit.first(), s.lines[0].no-s.hit.first()+1)
	return start + max(strings.Index(s.hit.whole()[start:end], s.lines[0].text), 0)
}

// endIn returns the offset in the chunk of h at which the shown text of a passage ends. It returns
// -1 if the chunk of h lacks lines between the passage and h.
func (s *segment) endIn(h *Hit) int {
	last := s.lines[len(s.lines)-1]
	if last.no < h.first() {
		return max(last.no+1-h.first(), -1)
	}
	start, end := lineSpan(h.whole(), last.no-h.first(), last.no-h.first()+1)
	if i := strings.LastIndex(h.whole()[start:end], last.text); i >= 0 {
		return start + i + len(last.text)
	}
	return end
}

// between returns lines that show the part of the chunk from from to to. It returns none if the
// part is blank. It returns the part itself if whole is true or if the part is a short line, else a
// gap mark.
func (h *Hit) between(from, to int, whole bool) []line {
	if from < 0 {
		return []line{{no: h.first() - 1, text: gap}}
	}
	if from >= to {
		return nil
	}
	from = to - len(strings.TrimLeft(h.whole()[from:to], " \t\r\n"))
	text := strings.TrimRight(h.whole()[from:to], " \t\r\n")
	if start := 1 + strings.LastIndexByte(h.whole()[:from], '\n'); strings.TrimSpace(h.whole()[start:from]) == "" {
		text, from = h.whole()[start:from]+text, start // with its indentation
	}
	lines := strip(linesFrom(text, h.first()+strings.Count(h.whole()[:from], "\n")))
	if len(lines) > 0 && !whole && (len(lines) > 1 || len(text) > maxLead) {
		return []line{{no: lines[0].no, text: gap}}
	}
	if whole && from == 0 && h.Seq > 0 && len(lines) > 0 {
		lines[0].head = !listed(text) && text[0] != '|' // the chunk may begin within a sentence
	}
	return lines
}

// nearDuplicate is the share of common words from which a passage counts as a repetition of
// another passage. A passage with fewer than leastWords words is too short to judge.
const (
	nearDuplicate = 0.8
	leastWords    = 6
)

// repeats reports whether a note of the block has nearly the same words as a passage.
func (p *packer) repeats(h *Hit) bool {
	if h.place == nil || len(h.place.body.set) < leastWords {
		return false
	}
	return slices.ContainsFunc(p.segments, func(s segment) bool {
		return s.hit.place != nil && jaccard(s.hit.place.body.set, h.place.body.set) >= nearDuplicate
	})
}

// pageOrder moves the notes of one page or file next to the best of them, and sorts them by line.
func pageOrder(notes []note) []note {
	of := func(n note) string {
		id, _, _ := strings.Cut(n.ID, LinesMark)
		return string(n.Kind) + cmp.Or(n.Path, id)
	}
	first := map[string]int{}
	for i, n := range notes {
		if _, ok := first[of(n)]; !ok {
			first[of(n)] = i
		}
	}
	out := slices.Clone(notes)
	slices.SortStableFunc(out, func(a, b note) int {
		return cmp.Or(cmp.Compare(first[of(a)], first[of(b)]), cmp.Compare(spanLine(a.ID), spanLine(b.ID)), cmp.Compare(a.StartLine, b.StartLine))
	})
	return out
}
