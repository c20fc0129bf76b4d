package consolidation

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// placeLine is what stands at the end of a section for the entries that left it.
var placeLine = lazyregexp.New(`^<!-- moved to (\S+(?:, \S+)*) -->$`)

// placesIn are the files that a piece says that entries moved to, none if it is no such
// line.
func placesIn(p *piece) []string {
	if p.entry != nil || !strings.Contains(p.text, "<!-- moved to ") {
		return nil
	}
	m := placeLine.FindStringSubmatch(strings.TrimSpace(p.text))
	if m == nil {
		return nil
	}
	return strings.Split(m[1], ", ")
}

// placeOfBundle is the heading of the section in which it is told where a bundle went, -1
// for none: of what a curation wrote the line at the end of the file tells.
func placeOfBundle(ps []piece, b bundle) int {
	p := &ps[b[0]]
	if len(p.sections) == 0 || p.marker >= 0 && p.origin == OriginUpkeep {
		return -1
	}
	return p.sections[len(p.sections)-1]
}

// told counts the sections that stay, and in which it is to be told where bundles went.
func told(ps []piece, all []bundle, leaves map[int]Why) int {
	in := map[int]bool{}
	for n, why := range leaves {
		if h := placeOfBundle(ps, all[n]); h >= 0 && !ps[h].gone && why != WhyDuplicate {
			in[h] = true
		}
	}
	return len(in)
}

// tell writes into each section that stays, and that entries left, where they went, now and
// before. A section that is gone needs no such line.
func (r *pruner) tell(f *File, ps []piece, places map[int][]string) {
	for i := range ps {
		if p := &ps[i]; p.kind == piecePlace {
			p.gone = true
			if n := len(p.sections); n > 0 {
				h := p.sections[n-1]
				places[h] = append(slices.DeleteFunc(p.to, func(to string) bool { return r.snap.File(to) == nil }), places[h]...)
			}
		}
	}
	settle(ps)
	open := r.endsOpen(f.Path)
	for h, to := range places {
		last := h
		for i := h + 1; i < len(ps) && ps[i].kind != pieceHeading; i++ {
			if !ps[i].gone {
				last = i
			}
		}
		if ps[h].gone || len(to) == 0 || open && !slices.ContainsFunc(ps[last+1:], func(p piece) bool { return !p.gone }) {
			continue
		}
		var files []string
		for _, t := range to {
			if !slices.Contains(files, t) {
				files = append(files, t)
			}
		}
		eol := eolOf(f.Doc.Raw)
		body, blanks := cutBlanks(ps[last].text)
		if !strings.HasSuffix(body, "\n") {
			body += eol
		}
		if !ps[last].bullet && ps[last].kind != pieceMarker {
			body += eol // it would be part of some blocks
		}
		ps[last].text = body + "<!-- moved to " + strings.Join(files, ", ") + " -->" + eol + blanks
	}
}
