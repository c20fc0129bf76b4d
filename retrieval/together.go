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
	return a.passage && b.passage && a.Path == b.Path && slices.Equal(head(a.Trail), head(b.Trail))
}

// join lays a passage into the note of its session, or into a new one.
func (p *packer) join(d *draft) {
	group := []segment{d.segment}
	for _, s := range p.segments {
		if together(s.hit, d.hit) {
			group = append(group, s)
		}
	}
	if len(group) == 1 {
		if len(p.notes) < p.Items {
			item, _ := fuse(group)
			d.notes = append(slices.Clip(p.notes), note{Item: item, of: d.hit})
		}
		return
	}
	slices.SortStableFunc(group, func(a, b segment) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	item, _ := fuse(bridged(group))
	d.notes = slices.Clone(p.notes)
	for i := range d.notes {
		if n := &d.notes[i]; n.of != nil && together(n.of, d.hit) {
			d.grown = &p.notes[i]
			*n = note{Item: item, of: n.of}
		}
	}
}

// gap marks lines that are left out between passages.
const gap = "…"

// bridged fills the gaps between passages. It inserts a single line that separates two passages,
// and a mark for a longer gap.
func bridged(group []segment) []segment {
	out := []segment{group[0]}
	end := group[0].to
	for _, s := range group[1:] {
		if s.from > end+1 {
			if l := between(s.hit, end+1, s.from-1); l.text != "" {
				out = append(out, segment{hit: s.hit, rank: s.rank, from: l.no, to: l.no, lines: []line{l}})
			}
		}
		out = append(out, s)
		end = max(end, s.to)
	}
	return out
}

// between returns the text shown for the lines from..to of the file: the line itself if it is one
// and not long, nothing if they are blank, and a mark otherwise.
func between(h *Hit, from, to int) line {
	text, blank := "", true
	for no := from; no <= to; no++ {
		text = ""
		if no >= h.first {
			text = lineRange(h.whole, no-h.first, no-h.first+1)
		}
		blank = blank && no >= h.first && text == ""
	}
	switch {
	case blank:
		return line{}
	case from == to && text != "" && len(text) <= maxBridge:
		return line{no: from, text: text}
	}
	return line{no: from, text: gap}
}

// maxBridge is the length in bytes of the longest line that is shown because the lines on both
// sides of it are shown.
const maxBridge = 240

// nearDuplicate is the share of common words from which a passage counts as a repetition of
// another passage. A passage with fewer than leastWords words is too short to judge.
const (
	nearDuplicate = 0.8
	leastWords    = 6
)

// repeats reports whether the block already holds a passage's content, or
// nearly.
func (p *packer) repeats(h *Hit) bool {
	if !h.passage || len(h.words) < leastWords {
		return false
	}
	return slices.ContainsFunc(p.segments, func(s segment) bool {
		return s.hit.passage && jaccard(s.hit.words, h.words) >= nearDuplicate
	})
}

// pageOrder puts notes of one page or file next to the best of them, in the order of its lines.
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
