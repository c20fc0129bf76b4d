package consolidation

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// moreMark begins the line by which MEMORY.md says where what was moved is.
const moreMark = "More memory:"

// memory brings MEMORY.md down to its limit: what is said twice, superseded or done
// leaves first, then what is worth least in sight goes to the file that owns it. What
// is not a day old stays. Below the limit nothing is touched.
func (r *pruner) memory() {
	f := r.Memory()
	if f == nil || f.Err != nil || f.Doc.Binary || r.MemoryLines <= 0 || f.Lines() <= r.MemoryLines || !r.prunes(f.Path) {
		return
	}
	ps := pieces(f)
	r.dropMore(ps)
	r.repeated(f, ps)
	replaced := supersededLines(f)
	for i := range ps {
		p := &ps[i]
		if p.kind != pieceBlock || p.gone || p.entry == nil || r.immune(f.Path, p) {
			continue
		}
		switch e := p.entry; {
		case e.State == StateSuperseded, replaced[lineRef(e.Text)]:
			r.move(f, p, r.archive(), WhySuperseded, trailOf(ps, p))
		case e.State == StateDone && (!e.Dated || e.Date <= addDays(r.Day, -r.DoneDays)) && !open(f, p):
			r.move(f, p, r.archive(), WhyDone, trailOf(ps, p))
		}
	}
	r.makeRoom(f, ps)
	r.finishMemory(f, ps)
}

// open tells a block with an open task in it.
func open(f *File, p *piece) bool {
	from, to := p.line, p.line+p.lines
	return slices.ContainsFunc(f.Entries, func(e Entry) bool {
		return e.State == StateOpen && e.StartLine >= from && e.StartLine < to
	})
}

// supersededLines are the names of entries that another entry of the file replaces.
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

// repeated takes away what a block before, or an owning file, says as well.
func (r *pruner) repeated(f *File, ps []piece) {
	elsewhere := &known{near: r.NearDuplicate, keys: map[string]bool{}, from: map[string]bool{}, holders: map[uint64][]int{}}
	for i := range r.Files {
		g := &r.Files[i]
		if g == f || !g.Evergreen() {
			continue
		}
		for j := range g.Entries {
			elsewhere.add(&g.Entries[j])
		}
	}
	for i := range ps {
		p := &ps[i]
		if p.kind != pieceBlock || p.gone || p.entry == nil {
			continue
		}
		// A block with more in it than its first entry is no repetition.
		whole := p.entry.EndLine-p.entry.StartLine+1 >= lineCount(strings.TrimSpace(p.text))
		if whole && !vague(p.entry.Plain) && elsewhere.keys[Key(p.entry.Plain)] && !r.immune(f.Path, p) {
			r.move(f, p, "", WhyDuplicate, nil)
			continue
		}
		elsewhere.keys[Key(p.entry.Plain)] = true
	}
}

// dropMore takes the line away that says where more is: it is written anew.
func (r *pruner) dropMore(ps []piece) {
	for i := range ps {
		if ps[i].entry != nil && strings.HasPrefix(ps[i].entry.Plain, moreMark) {
			ps[i].gone = true
		}
	}
}

// moreLines is what the line takes with the blank one before it.
const moreLines = 2

// makeRoom moves the least until the rest fits.
func (r *pruner) makeRoom(f *File, ps []piece) {
	settle(ps)
	order := r.rank(ps)
	under := make([]int, len(ps)) // the blocks that each heading and marker has
	total := 0
	for i := range ps {
		if ps[i].gone {
			continue
		}
		total += ps[i].lines
		if ps[i].kind == pieceBlock {
			for _, n := range names(&ps[i]) {
				under[n]++
			}
		}
	}
	for _, i := range order {
		if total <= r.MemoryLines-moreLines || len(r.out.Moves) >= mostMoves {
			return
		}
		p := &ps[i]
		if r.immune(f.Path, p) {
			continue
		}
		trail := trailOf(ps, p)
		total -= p.lines
		r.move(f, p, r.owner(p.entry, trail), WhyRoom, trail)
		for _, n := range names(p) {
			if under[n]--; under[n] == 0 {
				total -= ps[n].lines
			}
		}
	}
}

// names are the headings and the marker of a block.
func names(p *piece) []int {
	if p.marker < 0 {
		return p.sections
	}
	return append(slices.Clone(p.sections), p.marker)
}

// finishMemory writes the line that says where more is.
func (r *pruner) finishMemory(f *File, ps []piece) {
	if !slices.ContainsFunc(r.out.Moves, func(m Move) bool { return m.From == f.Path }) {
		r.out.Over = append(r.out.Over, f.Path+" has "+count(f.Lines(), "line", "lines")+", the limit is "+itoa(r.MemoryLines)+": all of it is of today and yesterday")
		return
	}
	settle(ps)
	text, _ := joinPieces(ps)
	if l := r.moreLine(f); l != "" {
		text = strings.TrimRight(text, "\n") + "\n\n" + l + "\n"
	}
	if n := lineCount(text); n > r.MemoryLines {
		r.out.Over = append(r.out.Over, f.Path+" keeps "+count(n, "line", "lines")+", the limit is "+itoa(r.MemoryLines)+": what is of today and yesterday stays")
	}
	r.becomes(f.Path, text)
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
				if r.File(m[1]) != nil {
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
