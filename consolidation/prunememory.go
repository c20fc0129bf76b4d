package consolidation

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/markdownstore"
)

// moreMark begins the line of MEMORY.md that lists the new places of moved entries.
const moreMark = "More memory:"

// memory brings the machines' part of MEMORY.md down to its limit. Repeated, superseded and done
// entries leave first. Then the entries of the lowest rank go to the files that own them. Entries
// less than a day old stay. If the part is below its limit, memory changes nothing.
func (r *pruner) memory() {
	f := r.snap.Memory()
	if f == nil || f.Err != nil || f.Doc.Binary || r.MemoryLines <= 0 || !r.prunes(f.Path) {
		return
	}
	ps := pieces(f)
	r.own(f, ps)
	if machines(ps) <= r.MemoryLines {
		return
	}
	for _, p := range ps { // the line that lists the topics is written again, unless somebody changed it
		p.gone = p.gone || p.marker == nil && p.origin == OriginUpkeep && isMore(p)
	}
	r.reasons(f, ps)
	all, room := bundles(ps), mostMoves-len(r.out.Moves)
	leaves := map[*piece]why{} // by the first piece of a bundle
	leave := func(b bundle, why why) {
		leaves[b[0]] = why
		for _, p := range b {
			p.gone = true
		}
	}
	var order []bundle
	ranks := map[*piece]rank{}
	for _, b := range all {
		switch {
		case !b.may() || slices.ContainsFunc(b, func(p *piece) bool { return r.immune(f.Path, p) }):
		case len(b) == 1 && b[0].why != "":
			leave(b, b[0].why)
		default:
			order, ranks[b[0]] = append(order, b), r.ranks(b)
		}
	}
	slices.SortStableFunc(order, func(x, y bundle) int { return ranks[x[0]].compare(ranks[y[0]]) })
	for _, b := range order {
		if settle(ps); machines(ps) < r.MemoryLines || len(leaves) >= room { // a line lists the topics
			break
		}
		leave(b, whyRoom)
	}
	for _, b := range all {
		switch w := leaves[b[0]]; w {
		case "":
		case whyDuplicate:
			r.leave(f, b, "", w)
		case whyRoom:
			r.leave(f, b, r.owner(b[0].entry, b[0].trail()), w)
		default:
			r.leave(f, b, r.archive(), w)
		}
	}
	r.finishMemory(f, ps)
}

// machines counts the lines with content of the pieces that may leave. See [MachineLines]. A heading
// or a marker that names a person's block stays for that block, and is not counted.
func machines(ps []*piece) int {
	n, held := 0, map[*piece]bool{}
	for _, p := range ps {
		if p.kind == pieceBlock && !p.may {
			for _, s := range append(slices.Clone(p.sections), p.marker) {
				held[s] = true
			}
		}
	}
	for _, p := range ps {
		if !p.gone && !held[p] && (p.may || p.kind == pieceMarker) {
			for l := range strings.SplitSeq(p.text, "\n") {
				if strings.TrimSpace(l) != "" {
					n++
				}
			}
		}
	}
	return n
}

// MachineLines counts the lines of MEMORY.md that [MachineLines] limits.
func (r Record) MachineLines(path, text string) int {
	f := &file{Path: path, Doc: markdownstore.Parse(path, text)}
	f.Class, f.Entries = f.Doc.Class, entriesOf(f.Doc)
	ps := pieces(f)
	(&pruner{PruneOptions: PruneOptions{Record: r}}).own(f, ps)
	return machines(ps)
}

// reasons finds why blocks could leave for a reason other than lack of room.
func (r *pruner) reasons(f *file, ps []*piece) {
	for _, p := range ps {
		if p.kind != pieceBlock || p.gone || p.entry == nil {
			continue
		}
		switch e := p.entry; {
		case e.State == stateSuperseded:
			p.why = whySuperseded
		case e.State == stateDone && (!e.Dated || e.Date <= addDays(r.Day, -doneDays)) && !slices.ContainsFunc(f.Entries, func(e *Entry) bool {
			return e.State == stateOpen && e.StartLine >= p.line && e.StartLine < p.line+lineCount(p.text) // an open task in it
		}):
			p.why = whyDone
		}
	}
	r.repeated(f, ps)
}

// repeated finds entries that an owning file holds as well, and entries of MEMORY.md that say the
// same. Of these the one of the highest rank stays, and gets the sources of the others.
func (r *pruner) repeated(f *file, ps []*piece) {
	elsewhere := map[string]bool{}
	for _, g := range r.snap.Files {
		if g != f && g.Evergreen() {
			for _, e := range g.Entries {
				elsewhere[Key(e.Plain)] = true
			}
		}
	}
	order := slices.DeleteFunc(slices.Clone(ps), func(p *piece) bool { return p.kind != pieceBlock || p.gone || p.entry == nil || p.why != "" })
	stays := func(p *piece) bool { return !p.may || r.immune(f.Path, p) }
	slices.SortStableFunc(order, func(x, y *piece) int {
		if stays(x) != stays(y) {
			return map[bool]int{true: -1, false: 1}[stays(x)]
		}
		return r.ranked(y.entry).compare(r.ranked(x.entry))
	})
	type keeper struct {
		*piece
		said *saying
		gist string
	}
	var kept []keeper
	for _, p := range order {
		k := keeper{p, sayingOf(p.entry.Plain), ledger.Gist(p.entry.Plain)}
		twin := slices.IndexFunc(kept, func(t keeper) bool { return k.said.same(t.said) || k.gist == t.gist })
		switch {
		// A block with more in it than its first entry is not a repetition.
		case stays(p) || vague(p.entry.Plain) || p.entry.EndLine-p.entry.StartLine+1 < lineCount(strings.TrimSpace(p.text)), twin < 0 && !elsewhere[k.said.key]:
			kept = append(kept, k)
			continue
		case !elsewhere[k.said.key]:
			if t := kept[twin].piece; t.origin == OriginUpkeep && t.bullet {
				t.was, t.text = cmp.Or(t.was, t.text), withSources(t.text, p.entry.From)
			}
		}
		p.why = whyDuplicate
	}
}

// withSources returns a block of one line with more sources.
func withSources(text string, refs []string) string {
	line := strings.TrimRight(text, " \t\r\n")
	m := comment.FindStringSubmatchIndex(line)
	if strings.Contains(line, "\n") || m == nil || m[2] < 0 || line[m[2]:m[3]] != "from" {
		return text
	}
	for _, ref := range refs {
		if !strings.Contains(line[m[4]:m[5]], ref) {
			line = line[:m[5]] + ", " + ref + line[m[5]:]
			m[5] += len(", " + ref)
		}
	}
	return line + text[len(strings.TrimRight(text, " \t\r\n")):]
}

// isMore reports whether a piece begins like the line that lists the topics, or like the line with
// which earlier versions named the new places of a section's entries.
func isMore(p *piece) bool {
	return p.entry != nil && strings.HasPrefix(p.entry.Plain, moreMark) || p.entry == nil && strings.HasPrefix(strings.TrimSpace(p.text), "<!-- moved to ")
}

// finishMemory writes the remaining entries, and the line that lists the topics.
func (r *pruner) finishMemory(f *file, ps []*piece) {
	settle(ps)
	n := machines(ps)
	if slices.ContainsFunc(r.out.Moves, func(m Move) bool { return m.From == f.Path }) {
		eol := eolOf(f.Doc.Raw)
		text := remains(ps, eol)
		if l := r.moreLine(f); l != "" && !r.endsOpen(f.Path) {
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += eol
			}
			if body, blanks := cutBlanks(text); body != "" && blanks == "" {
				text += eol
			}
			text += l + eol
			n++
		}
		c := r.becomes(f.Path, text)
		for _, p := range ps {
			if p.was != "" {
				c.gone, c.added = append(c.gone, p.was), append(c.added, p.text)
			}
		}
	}
	if n > r.MemoryLines {
		r.over(f.Path, n, r.MemoryLines, "what is of today and yesterday stays")
	}
}

// moreLine names the files that facts moved to, now and before.
func (r *pruner) moreLine(f *file) string {
	var files []string
	add := func(p string) {
		if p != "" && !strings.HasPrefix(p, archiveDir) && !slices.Contains(files, p) {
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
		if m.Why == whyRoom || m.Why == whyExtracted {
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
