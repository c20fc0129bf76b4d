package consolidation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/markdownstore"
)

// Why is the reason for which an entry leaves a file.
type Why string

// The reasons. Superseded, done and old entries go to the archive. Stable entries and the entries
// worth least go to the file that they belong to. A duplicate leaves because its twin stays.
const (
	WhyDuplicate  Why = "duplicate"
	WhySuperseded Why = "superseded"
	WhyDone       Why = "done"
	WhyOld        Why = "old"
	WhyRoom       Why = "room"
	WhyExtracted  Why = "extracted"
)

// PruneOptions are settings of [Prune].
type PruneOptions struct {
	// Day is the day of the pruning, YYYY-MM-DD. Text of that day and of the day before stays.
	Day string
	// MemoryLines is the most lines of MEMORY.md. With 0, MEMORY.md is left alone.
	MemoryLines int
	// OwnerChars is the size from which a file of stable facts gets no more facts.
	OwnerChars int
	// Young reports whether a block without a date of its own is less than a day old.
	Young func(path, text string) bool
	// Retired reports whether an entry was taken out of memory, as in [CurateOptions].
	Retired func(key string) bool
	// Only names the files that are pruned. If it is empty, all files are pruned.
	Only []string
	// All lets every suggested entry leave that can leave by itself. An entry that could only
	// leave with its section stays.
	All bool
	// Record tells which text a machine wrote. Only such text and the text that Include names may
	// leave.
	Record
	// Include names text of others that may leave as well. A name is that of a file, of a heading
	// with all text below it, or of an entry in the form of [Suggestion].
	Include []string
}

// Suggestion is an entry that would leave if a machine had written it.
type Suggestion struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Why  Why    `json:"why"`
	Text string `json:"text"`
	// Include is the name for [PruneOptions.Include] of the entry, or of the section that it
	// leaves with.
	Include string `json:"include"`
	// Single reports whether the entry leaves by itself.
	Single bool `json:"single"`
	// Origin is the author of the entry, who is a person or unknown.
	Origin Origin `json:"origin"`
}

// Move is an entry that leaves a file.
type Move struct {
	From string `json:"from"`
	Line int    `json:"line"`
	// To is the file that gets the entry, "" for an entry whose twin is elsewhere.
	To  string `json:"to"`
	Why Why    `json:"why"`
	// Text is the block as it was.
	Text string `json:"text"`
	// Key is the [KeyHash] of the block.
	Key string `json:"key"`
}

// Change is the new contents of a file.
type Change struct {
	Path string `json:"path"`
	// Before is the old text of the file.
	Before string `json:"-"`
	// New reports that the file did not exist.
	New bool `json:"new"`
	// Add is the text that is appended to the file. If Add is "", Text is the whole new text of
	// the file.
	Add  string `json:"-"`
	Text string `json:"-"`
	// Title is the beginning of a new file.
	Title string `json:"-"`
	// LinesBefore and LinesAfter are the length of the file.
	LinesBefore int `json:"lines_before"`
	LinesAfter  int `json:"lines_after"`
}

// Pruning lists the entries that leave their files. Callers must write Changes in their order, in
// which files that take text come before the files that give it. A failure between two writes
// then loses nothing.
type Pruning struct {
	Day string `json:"day"`
	// Moves are the parts that leave a file, in order.
	Moves []Move `json:"moves"`
	// Changes are the changes of each file. Files that get text come first.
	Changes []Change `json:"changes"`
	// Over lists the files that stay over a limit, and why.
	Over []string `json:"over"`
	// Suggestions are entries that could leave if they were named.
	Suggestions []Suggestion `json:"suggestions"`
	// Unknown are the names in Include that match nothing.
	Unknown []string `json:"unknown"`
}

// The thresholds of pruning.
const (
	// observationRest is the length that observations.md is trimmed to.
	observationRest = 60
	// observationDays is the age at which an observation without a tag leaves. doneDays is the
	// age at which a finished task leaves.
	observationDays, doneDays = 7, 7
)

// ownerFiles are the files that stable facts may move to.
var ownerFiles = []string{"USER.md", "TOOLS.md", "IDENTITY.md"}

// mostMoves is the most entries that one pruning moves. The next pruning moves the rest.
const mostMoves = 2000

// Prune chooses the entries that leave the files of memory. It does not change any file.
func (s *Snapshot) Prune(o PruneOptions) *Pruning {
	r := &pruner{snap: s, PruneOptions: o, out: &Pruning{Day: o.Day, Moves: []Move{}, Changes: []Change{}, Over: []string{}, Suggestions: []Suggestion{}, Unknown: []string{}},
		added: map[string]string{}, titles: map[string]string{}, trails: map[string][]string{}, items: map[string]bool{}, texts: map[string]string{}, open: map[string]bool{}}
	r.known, r.failures = s.knownOf(), sync.OnceValue(s.failures)
	r.logs()
	r.observations()
	r.memory()
	r.unknown()
	r.changes()
	return r.out
}

// pruner is one pruning.
type pruner struct {
	snap *Snapshot
	PruneOptions
	out   *Pruning
	known *known
	// failures returns the number of sessions in which each failure came up.
	failures func() map[string]int
	// added has the additions to files, in the order in which files first got one.
	added map[string]string
	order []string
	// texts has the new contents of the files that lose something.
	texts map[string]string
	// given lists the files in texts in their order.
	given []string
	// trails are the headings of the last block that each file got.
	trails map[string][]string
	// items reports for each file whether its last block was an item.
	items map[string]bool
	// titles are the titles of files by the headings that named them.
	titles map[string]string
	// open reports which files end with a block that nothing closes.
	open map[string]bool
}

// prunes reports whether a file is to be looked at.
func (r *pruner) prunes(path string) bool { return len(r.Only) == 0 || slices.Contains(r.Only, path) }

// archive returns the note that gets the entries that no longer hold.
func (r *pruner) archive() string { return ArchiveDir + r.Day + ".md" }

// give appends a block to a file, under the same headings as before. Only items follow each other
// without a blank line.
func (r *pruner) give(to string, trail []string, block string) {
	text, had := r.added[to]
	if !had {
		r.order = append(r.order, to)
	}
	block = strings.TrimRight(strings.Trim(strings.ReplaceAll(block, "\r\n", "\n"), "\n"), " \t\n")
	item := bulleted.MatchString(block) && !strings.Contains(block, "\n")
	last := r.trails[to]
	same := had && slices.Equal(last, trail)
	from := 0 // the headings that it is under already are not repeated
	for had && from < min(len(last), len(trail)) && last[from] == trail[from] {
		from++
	}
	if from == len(trail) && !same {
		from = 0
	}
	head := ""
	for i, h := range trail {
		if h != "" && i >= from {
			head += strings.Repeat("#", min(i+2, 6)) + " " + h + "\n\n"
		}
	}
	r.trails[to] = trail
	if text != "" && !(same && item && r.items[to]) {
		text += "\n"
	}
	r.added[to], r.items[to] = text+head+block+"\n", item
}

// leave notes that a bundle leaves, with its new file and the reason.
func (r *pruner) leave(f *File, ps []piece, b bundle, to string, why Why) {
	first := &ps[b[0]]
	trail, text := trailOf(ps, first), ""
	for _, i := range b {
		text += ps[i].text
		ps[i].gone = true
	}
	text = strings.Trim(text, "\r\n")
	plain := strings.TrimSpace(text)
	if first.entry != nil {
		plain = first.entry.Plain
	}
	r.out.Moves = append(r.out.Moves, Move{From: f.Path, Line: first.line + blankBefore(first.text), To: to, Why: why, Text: strings.TrimRight(text, " \t\r\n"), Key: KeyHash(plain)})
	if to != "" {
		r.give(to, trail, backReference(first, text, f.Path))
	}
}

// backReference adds the old place of a block to its text, if the text doesn't name that place
// already. The place comes after an item of one line, and before any other block.
func backReference(p *piece, text, from string) string {
	if p.entry != nil && len(p.entry.From) > 0 {
		return text
	}
	if line := strings.TrimRight(text, " \t\r\n"); p.bullet && !strings.Contains(line, "\n") {
		return line + " " + FromMark(from)
	}
	return FromMark(from) + "\n\n" + text
}

// immune reports whether a piece is not yet a day old.
func (r *pruner) immune(path string, p *piece) bool {
	yesterday := addDays(r.Day, -1)
	if e := p.entry; e != nil && e.Dated && e.Date <= r.Day {
		return e.Date >= yesterday
	}
	return r.Young != nil && r.Young(path, strings.TrimSpace(p.text))
}

// changes lists the changes of the files. Files that get text come first.
func (r *pruner) changes() {
	for _, to := range r.order {
		c := Change{Path: to, New: true, Add: strings.TrimRight(r.added[to], "\n") + "\n", Title: r.titles[to]}
		if f := r.snap.File(to); f != nil {
			c.New, c.Before = false, f.Doc.Raw
		}
		c.LinesBefore = lineCount(c.Before)
		c.LinesAfter = c.LinesBefore + lineCount(c.Add)
		r.out.Changes = append(r.out.Changes, c)
	}
	for _, from := range r.given {
		before := r.snap.File(from).Doc.Raw
		r.out.Changes = append(r.out.Changes, Change{Path: from, Before: before, Text: r.texts[from], LinesBefore: lineCount(before), LinesAfter: lineCount(r.texts[from])})
	}
}

// becomes notes the new contents of a file that loses something.
func (r *pruner) becomes(path, text string) {
	r.texts[path] = text
	r.given = append(r.given, path)
}

// observations trims observations.md. Old observations without a tag leave, oldest first.
func (r *pruner) observations() {
	for _, f := range r.pruned() {
		if f.Kind != markdownstore.KindObservations || f.lineCount() <= observationLines {
			continue
		}
		ps := pieces(f)
		r.own(f, ps)
		n := f.lineCount()
		for _, b := range bundles(ps) {
			if n > observationRest && r.may(ps, b) && !slices.ContainsFunc(b, func(i int) bool { return tagged(&ps[i]) || !r.oldObservation(f, &ps[i]) }) {
				n -= linesOf(ps, b)
				r.leave(f, ps, b, r.archive(), WhyOld)
			}
		}
		if text, left := settled(f, ps); left {
			r.becomes(f.Path, text)
			n = lineCount(text)
		}
		if n > observationLines {
			r.over(f, ps, n, observationLines, "entries with a tag, and those of the last days, stay")
		}
	}
}

func tagged(p *piece) bool { return p.entry != nil && len(p.entry.Tags) > 0 }

func (r *pruner) oldObservation(f *File, p *piece) bool {
	if p.entry != nil && p.entry.Dated && p.entry.Date <= r.Day {
		return p.entry.Date <= addDays(r.Day, -observationDays)
	}
	return r.Young == nil || !r.Young(f.Path, strings.TrimSpace(p.text))
}

// settled returns the new contents of a file, and whether anything left it.
func settled(f *File, ps []piece) (text string, left bool) {
	if !slices.ContainsFunc(ps, func(p piece) bool { return p.gone }) {
		return f.Doc.Raw, false
	}
	settle(ps)
	return remains(ps, eolOf(f.Doc.Raw)), true
}

// over records that a file stays over its limit, and the reason. If most of the file is not a
// machine's, the reason is that, with the largest sections. Else the reason is why.
func (r *pruner) over(f *File, ps []piece, n, limit int, why string) {
	theirs, unknown := 0, 0
	size := map[int]int{} // by the heading of the section
	for i := range ps {
		p := &ps[i]
		if p.gone || p.may || p.kind == pieceMarker {
			continue
		}
		body, _ := cutBlanks(p.text)
		lines := lineCount(strings.TrimSpace(body))
		theirs += lines
		if p.origin == OriginUnknown || p.kind != pieceBlock {
			unknown += lines
		}
		if p.kind == pieceBlock && len(p.sections) > 0 {
			size[p.sections[len(p.sections)-1]] += lines
		}
	}
	if theirs > limit/2 {
		why = count(theirs, "line is a person's", "lines are a person's")
		if unknown > 0 {
			why += ", or taken for one's (" + itoa(unknown) + "),"
		}
		why += " and stay" + largest(ps, size) + "; --include names a heading, a file or an entry that may leave"
	}
	r.out.Over = append(r.out.Over, f.Path+" keeps "+count(n, "line", "lines")+", the limit is "+itoa(limit)+": "+why)
}

// suggestedSections is how many sections are suggested to a user whose file is too long.
const suggestedSections = 3

// largest names the largest sections of a file, by the lines of blocks right below their
// headings.
func largest(ps []piece, size map[int]int) string {
	heads := slices.SortedFunc(maps.Keys(size), func(a, b int) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	var names []string
	for _, h := range heads[:min(len(heads), suggestedSections)] {
		label, _ := CutTags(ps[h].label)
		names = append(names, fmt.Sprintf("%q (%s)", clip(bare(label), 60), count(size[h], "line", "lines")))
	}
	if len(names) == 0 {
		return ""
	}
	return "; the largest sections: " + strings.Join(names, ", ")
}

// logs brings decisions and lessons of old logs that memory lacks into topic files. The logs
// themselves are closed, and stay as they are.
func (r *pruner) logs() {
	if len(r.Only) > 0 {
		return
	}
	last := addDays(r.Day, -logDays)
	for i := range r.snap.Files {
		f := &r.snap.Files[i]
		if !promotes(f, addDays(last, -1)) {
			continue
		}
		of := sessionsOf(f.Entries)
		for j := range f.Entries {
			e := &f.Entries[j]
			if e.State == StateSuperseded || !e.Tags.has(Decision) && !e.Tags.has(Lesson) || len(r.out.Moves) >= mostMoves {
				continue
			}
			if e = governed(f, j); e == nil {
				continue
			}
			got := Earned{e.Plain, e.Tags}
			if of[j] != "" {
				got = earned(e.Plain, e.Tags, func(sign string) bool { return r.failures()[sign] > 1 })
			}
			if len(got.Tags) > 0 {
				r.extract(e, got)
			}
		}
	}
}

func (r *pruner) extract(e *Entry, got Earned) {
	text := Present(got.Text)
	if r.known.cites(placeRef(e)) || r.known.holds(e.Plain) || r.known.holds(text) || vague(text) || r.retired(e.Plain, text) {
		return
	}
	to := r.topic(e, nil)
	p := Promoted{Text: text, Tags: got.Tags, From: placeRef(e)}
	r.out.Moves = append(r.out.Moves, Move{From: e.Path, Line: e.StartLine, To: to, Why: WhyExtracted, Text: e.Text})
	r.give(to, []string{e.Date}, p.Line())
	r.known.addText(text)
}

func (r *pruner) retired(texts ...string) bool {
	return r.Retired != nil && slices.ContainsFunc(texts, func(t string) bool { return r.Retired(KeyHash(t)) })
}

// may reports whether all of a bundle may leave.
func (r *pruner) may(ps []piece, b bundle) bool {
	return !slices.ContainsFunc(b, func(i int) bool { return !ps[i].may })
}

// fresh reports whether any piece of a bundle is less than a day old.
func (r *pruner) fresh(f *File, ps []piece, b bundle) bool {
	return slices.ContainsFunc(b, func(i int) bool { return r.immune(f.Path, &ps[i]) })
}

// byHand is the worth of an entry that somebody wrote into the file by hand. It is more than that
// of a promoted lesson a week old, and less than that of a decision.
const byHand = 3.5

// worth returns the worth of keeping a bundle in sight. It is the worth of the best entry in the
// bundle, by the entry's tags, whether it is an open task, and whether it is recent. Each line
// takes off 0.1, since a long bundle takes the place of several.
func (r *pruner) worth(ps []piece, b bundle) float64 {
	best := -1.0
	for _, i := range b {
		e := ps[i].entry
		if e == nil {
			continue
		}
		w := 0.0
		for _, t := range e.Tags {
			w += tagScore[t]
		}
		if e.State == StateOpen {
			w++
		}
		if len(e.From) == 0 && !ps[i].origin.Machine() {
			w += byHand
		}
		if e.Date != "" && e.Date <= r.Day && e.Date >= addDays(r.Day, -7) {
			w += 2
		}
		if len(e.Supersedes) > 0 {
			w++
		}
		best = max(best, w)
	}
	return best - float64(linesOf(ps, b))/10
}

// linesOf counts the lines of a bundle without the blank lines after it.
func linesOf(ps []piece, b bundle) int {
	n := 0
	for k, i := range b {
		body, blanks := cutBlanks(ps[i].text)
		if n += lineCount(body); k < len(b)-1 {
			n += lineCount(blanks)
		}
	}
	return n
}

func dateOf(p *piece) string {
	if p.entry == nil {
		return ""
	}
	return p.entry.Date
}
