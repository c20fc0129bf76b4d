package consolidation

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A bundle has the pieces that leave together or not at all, in their order. In a section that
// only has an unordered list, each item is a bundle. In any other section all text below the
// heading is one bundle, since the parts of such a text may depend on each other. A marker is in
// the bundle of the block that it names, as the last piece.
type bundle []*piece

// bundles cuts the rest of a file into bundles. Sections that a lead introduces are in no bundle,
// since they can't be moved. Neither is a block that is unclosed at the end of the file.
func bundles(ps []*piece) []bundle {
	var out []bundle
	var run bundle
	var head *piece
	led := map[*piece]bool{} // the headings whose own text leads to sections
	end := func(next *piece) {
		for n := len(run); n > 0 && run[n-1].kind != pieceBlock; n = len(run) {
			run = run[:n-1] // a rule at the end parts sections
		}
		if len(run) == 0 {
			return
		}
		last, level := run[len(run)-1], 1
		if head != nil {
			level = head.level
		}
		under := led[nil] || led[head] || head != nil && slices.ContainsFunc(head.sections, func(s *piece) bool { return led[s] })
		switch {
		case next != nil && next.kind == pieceHeading && next.level > level && leads(last.text):
			led[head] = true
		case under || next == nil && last.unclosed():
		case !slices.ContainsFunc(run, func(p *piece) bool { return !p.bullet || qualifies(p.text) }) && (head == nil || !leads(head.label)):
			for _, p := range run {
				out = append(out, bundle{p})
			}
		default:
			out = append(out, run)
		}
	}
	for _, p := range ps {
		switch {
		case p.kind == pieceHeading:
			end(p)
			run, head = nil, p
		case p.kind == pieceMarker:
			end(p) // an appended text is whole by itself
			run = nil
		case !p.gone && (p.kind == pieceBlock || p.kind == pieceRule):
			run = append(run, p)
		}
	}
	end(nil)
	return out
}

// may reports whether all of a bundle may leave.
func (b bundle) may() bool { return !slices.ContainsFunc(b, func(p *piece) bool { return !p.may }) }

// lines counts the lines of a bundle without the blank lines after it.
func (b bundle) lines() int {
	n := 0
	for k, p := range b {
		body, blanks := cutBlanks(p.text)
		if n += lineCount(body); k < len(b)-1 {
			n += lineCount(blanks)
		}
	}
	return n
}

// leads reports whether a text introduces the next block, in any script.
func leads(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(uncommented(text), " \t\r\n*_~`"))
	return strings.ContainsRune(":：﹕︓", last)
}

// unclosed reports whether a block may end with unclosed code or an unclosed comment.
func (p *piece) unclosed() bool {
	return p.entry == nil || strings.Contains(p.text, "```") || strings.Contains(p.text, "~~~") || strings.Contains(uncommented(p.text), "<!--")
}

// own finds the authors of a file's pieces, and marks the pieces that may leave. These are the
// pieces that the options name, and the pieces that a machine wrote and nobody changed.
func (r *pruner) own(f *file, ps []*piece) {
	for _, p := range ps {
		p.may = slices.ContainsFunc(r.Include, func(name string) bool { return names(f, ps, p, name) })
		switch p.kind {
		case pieceHeading:
			p.may = p.may || r.said(f.Path, p.text).Machine()
		case pieceBlock:
			marker := ""
			if p.marker != nil {
				marker = p.marker.label
			}
			p.origin = r.originOf(f, marker, p.text)
			if p.may = p.may || p.origin.Machine(); p.origin == OriginUpkeep && marker != "" && len(p.sections) > 0 {
				h := p.sections[len(p.sections)-1]
				h.may = h.may || r.Wrote(f.Path, marker, strings.Trim(strings.ReplaceAll(h.text, "\r\n", "\n"), "\n"))
			}
		}
	}
	bound(f, ps)
}

// names reports whether a name is that of the file, of a heading at or above a piece, or of the
// piece's first line, in the form of [Suggestion].
func names(f *file, ps []*piece, p *piece, name string) bool {
	heading := func(q *piece) bool {
		text, _ := CutTags(q.label)
		return (q.kind == pieceHeading || q.kind == pieceHead) && text != "" && strings.EqualFold(bare(text), bare(name))
	}
	title := func(q *piece) bool { return q.kind == pieceHead && heading(q) }
	return f.Path == name || heading(p) || slices.ContainsFunc(ps[:min(len(ps), 2)], title) || slices.ContainsFunc(p.sections, heading) ||
		p.kind == pieceBlock && lineRef(strings.TrimSpace(p.text)) == name
}

// bare returns a heading without its marks.
func bare(s string) string { return oneLine(strings.Trim(s, "#*_` \t")) }

// pruned returns the files that something may be taken out of.
func (r *pruner) pruned() []*file {
	var out []*file
	for _, f := range append([]*file{r.snap.Memory()}, r.snap.File("memory/observations.md"), r.snap.File("observations.md")) {
		if f != nil && f.Err == nil && !f.Doc.Binary && r.prunes(f.Path) {
			out = append(out, f)
		}
	}
	return out
}
