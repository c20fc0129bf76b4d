package consolidation

import (
	"slices"
	"strings"
)

// A bundle has the pieces that leave together or not at all, in their order. In a section that
// only has an unordered list, each item is a bundle. In any other section all text below the
// heading is one bundle, since the parts of such a text may depend on each other. A marker is in
// the bundle of the block that it names, as the last piece.
type bundle []int

// bundles cuts the rest of a file into bundles. Sections that a lead introduces are in no bundle,
// since they can't be moved. Neither is a block that is unclosed at the end of the file.
func bundles(ps []*piece) []bundle {
	var out []bundle
	var run bundle
	head := -1
	led := map[int]bool{} // the headings whose own text leads to sections
	end := func(next int) {
		for n := len(run); n > 0 && ps[run[n-1]].kind != pieceBlock; n = len(run) {
			run = run[:n-1] // a rule at the end parts sections
		}
		if len(run) == 0 {
			return
		}
		if next >= 0 && ps[next].kind == pieceHeading && ps[next].level > levelOf(ps, head) && leads(ps[run[len(run)-1]].text) {
			led[head] = true
			return
		}
		under := led[-1] || led[head] || head >= 0 && slices.ContainsFunc(ps[head].sections, func(s int) bool { return led[s] })
		switch {
		case under || next < 0 && unclosed(ps[run[len(run)-1]]):
		case plain(ps, run) && (head < 0 || !leads(ps[head].label)):
			for _, i := range run {
				out = append(out, bundle{i})
			}
		default:
			out = append(out, run)
		}
	}
	for i, p := range ps {
		switch {
		case p.kind == pieceHeading:
			end(i)
			run, head = nil, i
		case p.kind == pieceMarker:
			end(i) // an appended text is whole by itself
			run = nil
		case !p.gone && (p.kind == pieceBlock || p.kind == pieceRule):
			run = append(run, i)
		}
	}
	end(-1)
	return out
}

func levelOf(ps []*piece, head int) int {
	if head < 0 {
		return 1
	}
	return ps[head].level
}

// plain reports whether pieces are only items of an unordered list, and no item restricts another
// item.
func plain(ps []*piece, run bundle) bool {
	return !slices.ContainsFunc(run, func(i int) bool { return !ps[i].bullet || qualifies(ps[i].text) })
}

// leads reports whether a text introduces the next block, in any script.
func leads(text string) bool {
	text = strings.TrimRight(uncommented(text), " \t\r\n*_~`")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：") || strings.HasSuffix(text, "﹕") || strings.HasSuffix(text, "︓")
}

// unclosed reports whether a block may end with unclosed code or an unclosed comment.
func unclosed(p *piece) bool {
	return p.entry == nil || strings.Contains(p.text, "```") || strings.Contains(p.text, "~~~") || strings.Contains(uncommented(p.text), "<!--")
}

// own finds the authors of a file's pieces, and marks the pieces that may leave. These are the
// pieces that the options name, and the pieces that a machine wrote and nobody changed.
func (r *pruner) own(f *File, ps []*piece) {
	for _, p := range ps {
		if slices.ContainsFunc(r.Include, func(name string) bool { return names(f, ps, p, name) }) {
			p.may = true
		}
		switch p.kind {
		case pieceHeading:
			p.may = p.may || r.said(f.Path, p.text).Machine()
		case pieceBlock:
			p.origin = r.originIn(f, ps, p)
			if p.may = p.may || p.origin.Machine(); p.origin == OriginUpkeep && p.marker >= 0 && len(p.sections) > 0 {
				h := ps[p.sections[len(p.sections)-1]]
				h.may = h.may || r.Wrote(f.Path, ps[p.marker].label, asWritten(h))
			}
		}
	}
	bound(f, ps)
}

// originIn returns the origin of a block of a file.
func (r *pruner) originIn(f *File, ps []*piece, p *piece) Origin {
	marker := ""
	if p.marker >= 0 {
		marker = ps[p.marker].label
	}
	return r.originOf(f, marker, p.text)
}

// asWritten returns a piece as it was written.
func asWritten(p *piece) string { return strings.Trim(strings.ReplaceAll(p.text, "\r\n", "\n"), "\n") }

// names reports whether a name is that of the file, of a heading at or above a piece, or of the
// piece's first line, in the form of [Suggestion].
func names(f *File, ps []*piece, p *piece, name string) bool {
	heading := func(q *piece) bool {
		text, _ := CutTags(q.label)
		return (q.kind == pieceHeading || q.kind == pieceHead) && text != "" && strings.EqualFold(bare(text), bare(name))
	}
	title := func(q *piece) bool { return q.kind == pieceHead && heading(q) }
	return f.Path == name || heading(p) || slices.ContainsFunc(ps[:min(len(ps), 2)], title) || slices.ContainsFunc(p.sections, func(s int) bool { return heading(ps[s]) }) ||
		p.kind == pieceBlock && lineRef(strings.TrimSpace(p.text)) == name
}

// bare returns a heading without its marks.
func bare(s string) string { return oneLine(strings.Trim(s, "#*_` \t")) }

// unknown lists the names of Include that match nothing in the pruned files.
func (r *pruner) unknown() {
	for _, name := range r.Include {
		known := slices.ContainsFunc(r.pruned(), func(f *File) bool {
			ps := pieces(f)
			return slices.ContainsFunc(ps, func(p *piece) bool { return names(f, ps, p, name) })
		})
		if !known {
			r.out.Unknown = append(r.out.Unknown, name)
		}
	}
}

// pruned returns the files that something may be taken out of.
func (r *pruner) pruned() []*File {
	var out []*File
	for _, f := range append([]*File{r.snap.Memory()}, r.snap.File("memory/observations.md"), r.snap.File("observations.md")) {
		if f != nil && f.Err == nil && !f.Doc.Binary && r.prunes(f.Path) {
			out = append(out, f)
		}
	}
	return out
}
