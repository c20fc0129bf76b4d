package consolidation

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// moreMark begins the line of MEMORY.md that lists the new places of moved entries.
const moreMark = "More memory:"

// memory brings MEMORY.md down to its limit. Repeated, superseded and done entries leave first.
// Then the entries worth least go to the files that own them. Entries less than a day old stay.
// Entries that may not leave stay as well, and are suggested to the user. If MEMORY.md is below
// its limit, memory changes nothing.
func (r *pruner) memory() {
	f := r.snap.Memory()
	if f == nil || f.Err != nil || f.Doc.Binary || r.MemoryLines <= 0 || f.lineCount() <= r.MemoryLines || !r.prunes(f.Path) {
		return
	}
	ps := pieces(f)
	r.own(f, ps)
	r.dropMore(f, ps)
	all, why := bundles(ps), r.reasons(f, ps)
	leaves := map[int]Why{} // by place in all
	for n, b := range all {
		switch ours := r.may(ps, b); {
		case r.fresh(f, ps, b):
		case !ours && !(r.All && len(b) == 1 && !ps[b[0]].bound):
			r.suggest(f, ps, b, why)
		case len(b) == 1 && why[b[0]] != "":
			leaves[n] = why[b[0]]
			ps[b[0]].gone = true
		}
	}
	r.makeRoom(f, ps, all, leaves)
	places := map[int][]string{}
	for n, b := range all {
		if w := leaves[n]; w != "" {
			to := r.target(ps, b, w)
			r.leave(f, ps, b, to, w)
			if h := placeOfBundle(ps, b); h >= 0 && to != "" {
				places[h] = append(places[h], to)
			}
		}
	}
	r.finishMemory(f, ps, places)
}

// target returns the file that gets a bundle, "" if no file does.
func (r *pruner) target(ps []piece, b bundle, why Why) string {
	switch why {
	case WhyDuplicate:
		return ""
	case WhyRoom:
		return r.owner(ps[b[0]].entry, trailOf(ps, &ps[b[0]]))
	}
	return r.archive()
}

// reasons returns by piece why blocks could leave for a reason other than lack of room.
func (r *pruner) reasons(f *File, ps []piece) map[int]Why {
	out, replaced := map[int]Why{}, supersededLines(f)
	for i := range ps {
		p := &ps[i]
		if p.kind != pieceBlock || p.gone || p.entry == nil {
			continue
		}
		switch e := p.entry; {
		case e.State == StateSuperseded, replaced[lineRef(e.Text)]:
			out[i] = WhySuperseded
		case e.State == StateDone && (!e.Dated || e.Date <= addDays(r.Day, -doneDays)) && !open(f, p):
			out[i] = WhyDone
		}
	}
	r.repeated(f, ps, out)
	return out
}

// suggest notes the entries of a bundle that could leave if they were named.
func (r *pruner) suggest(f *File, ps []piece, b bundle, why map[int]Why) {
	for _, i := range b {
		p := &ps[i]
		if why[i] == "" || p.bound {
			continue
		}
		name := lineRef(strings.TrimSpace(p.text))
		if len(b) > 1 {
			if name = f.Path; len(p.sections) > 0 {
				label, _ := CutTags(ps[p.sections[len(p.sections)-1]].label)
				name = bare(label)
			}
		}
		r.out.Suggestions = append(r.out.Suggestions, Suggestion{Path: f.Path, Line: p.line + blankBefore(p.text), Why: why[i], Text: strings.TrimSpace(p.text), Include: name, Single: len(b) == 1, Origin: p.origin})
	}
}

// open reports whether a block has an open task in it.
func open(f *File, p *piece) bool {
	from, to := p.line, p.line+lineCount(p.text)
	return slices.ContainsFunc(f.Entries, func(e Entry) bool {
		return e.State == StateOpen && e.StartLine >= from && e.StartLine < to
	})
}

// supersededLines returns the names of entries that another entry of the file
// replaces.
func supersededLines(f *File) map[string]bool {
	out := map[string]bool{}
	for i := range f.Entries {
		for _, r := range f.Entries[i].Supersedes {
			if strings.HasPrefix(r, "k-") {
				out[r] = true
			}
		}
	}
	return out
}

// repeated finds entries that an earlier block, or an owning file, holds as well. Only the
// repetition of a remaining entry may leave.
func (r *pruner) repeated(f *File, ps []piece, out map[int]Why) {
	elsewhere := &known{keys: map[string]bool{}, from: map[string]bool{}, holders: map[uint64][]int{}}
	for i := range r.snap.Files {
		g := &r.snap.Files[i]
		if g == f || !g.Evergreen() {
			continue
		}
		for j := range g.Entries {
			elsewhere.add(&g.Entries[j])
		}
	}
	for _, may := range [...]bool{false, true} {
		for i := range ps {
			p := &ps[i]
			if p.kind != pieceBlock || p.gone || p.entry == nil || p.may != may || out[i] != "" {
				continue
			}
			key := Key(p.entry.Plain)
			// A block with more in it than its first entry is not a
			// repetition.
			whole := p.entry.EndLine-p.entry.StartLine+1 >= lineCount(strings.TrimSpace(p.text))
			if whole && !vague(p.entry.Plain) && elsewhere.keys[key] {
				out[i] = WhyDuplicate
			}
			elsewhere.keys[key] = true
		}
	}
}

// isMore reports whether a piece begins like the line that lists the new places of moved entries.
func isMore(p *piece) bool { return p.entry != nil && strings.HasPrefix(p.entry.Plain, moreMark) }

// dropMore removes the line that lists the new places, if nobody changed it. The line is written
// again later.
func (r *pruner) dropMore(f *File, ps []piece) {
	for i := range ps {
		if p := &ps[i]; p.marker < 0 && isMore(p) && r.Wrote != nil && r.Wrote(f.Path, "", asWritten(p)) {
			p.gone = true
		}
	}
}

// moreLines is the number of lines that the list of new places takes with the blank line before
// it.
const moreLines = 2

// makeRoom finds the bundles that leave until the rest fits. The bundles worth least leave first.
func (r *pruner) makeRoom(f *File, ps []piece, all []bundle, leaves map[int]Why) {
	var order []int
	for n, b := range all {
		if leaves[n] == "" && r.may(ps, b) && !r.fresh(f, ps, b) {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(r.worth(ps, all[x]), r.worth(ps, all[y])), cmp.Compare(dateOf(&ps[all[x][0]]), dateOf(&ps[all[y][0]])))
	})
	for _, n := range order {
		if text, _ := settled(f, ps); lineCount(text) <= r.MemoryLines-moreLines*(1+told(ps, all, leaves)) || len(r.out.Moves)+len(leaves) >= mostMoves {
			return
		}
		leaves[n] = WhyRoom
		for _, i := range all[n] {
			ps[i].gone = true
		}
	}
}

// finishMemory writes the lines that say where more is.
func (r *pruner) finishMemory(f *File, ps []piece, places map[int][]string) {
	n := f.lineCount()
	if slices.ContainsFunc(r.out.Moves, func(m Move) bool { return m.From == f.Path }) {
		r.tell(f, ps, places)
		text, _ := settled(f, ps)
		if l := r.moreLine(f); l != "" && !r.endsOpen(f.Path) {
			eol := eolOf(f.Doc.Raw)
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += eol
			}
			if body, blanks := cutBlanks(text); body != "" && blanks == "" {
				text += eol
			}
			text += l + eol
		}
		n = lineCount(text)
		r.becomes(f.Path, text)
	}
	if n > r.MemoryLines {
		r.over(f, ps, n, r.MemoryLines, "what is of today and yesterday stays")
	}
}

// moreLine names the files that facts moved to, now and before.
func (r *pruner) moreLine(f *File) string {
	var files []string
	add := func(p string) {
		if p != "" && !strings.HasPrefix(p, ArchiveDir) && !slices.Contains(files, p) {
			files = append(files, p)
		}
	}
	for i := range f.Entries {
		if strings.HasPrefix(f.Entries[i].Plain, moreMark) {
			for _, m := range inlineLink.FindAllStringSubmatch(f.Entries[i].Text, -1) {
				if r.snap.File(m[1]) != nil {
					add(m[1])
				}
			}
		}
	}
	for _, m := range r.out.Moves {
		if m.Why == WhyRoom || m.Why == WhyExtracted {
			add(m.To)
		}
	}
	slices.Sort(files)
	var links []string
	for _, p := range files {
		if c, ok := markdownstore.Classify(p); ok && c.Kind != markdownstore.KindBuffer {
			links = append(links, "["+strings.TrimSuffix(path.Base(p), ".md")+"]("+p+")")
		}
	}
	if len(links) == 0 {
		return ""
	}
	return moreMark + " " + strings.Join(links, ", ") + "."
}
