package consolidation

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/markdownstore"
)

// why is the reason for which an entry leaves a file.
type why string

// The reasons. Superseded, done and old entries go to the archive. Stable entries and the entries
// worth least go to the file that they belong to. A duplicate leaves because its twin stays.
const (
	whyDuplicate  why = "duplicate"
	whySuperseded why = "superseded"
	whyDone       why = "done"
	whyOld        why = "old"
	whyRoom       why = "room"
	whyExtracted  why = "extracted"
)

// PruneOptions are settings of [Prune].
type PruneOptions struct {
	// Day is the day of the pruning, YYYY-MM-DD. Text of that day and of the day before stays.
	Day string
	// MemoryLines is the most lines of MEMORY.md that may leave, see [MachineLines]. With 0,
	// MEMORY.md is left alone.
	MemoryLines int
	// OwnerChars is the size from which a file of stable facts gets no more facts.
	OwnerChars int
	// Young reports whether a block without a date of its own is less than a day old.
	Young func(path, text string) bool
	// Retired reports whether an entry was taken out of memory, as in [CurateOptions].
	Retired func(key string) bool
	// Only names the files that are pruned. If it is empty, all files are pruned.
	Only []string
	// Record tells which text a machine wrote. Only such text and the text that Include names may
	// leave.
	Record
	// Include names text of others that may leave as well, and counts as a machine's. A name is
	// that of a file, of a heading with all text below it, or of an entry ([Entry.Name]).
	Include []string
}

// Move is an entry that leaves a file.
type Move struct {
	From string `json:"from"`
	Line int    `json:"line"`
	// To is the file that gets the entry, "" for an entry whose twin is elsewhere.
	To  string `json:"to"`
	Why why    `json:"why"`
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
	// Title is the title of a new file.
	Title string `json:"-"`
	// gone and added are blocks that Text lacks and has, apart from the blocks of moves.
	gone, added []string
	// LinesBefore and LinesAfter are the length of the file.
	LinesBefore int `json:"lines_before"`
	LinesAfter  int `json:"lines_after"`
}

// Heading returns the title that a new file needs before Add. It returns "" if the file exists.
func (c *Change) Heading() string {
	switch day, archive := strings.CutPrefix(c.Path, archiveDir); {
	case !c.New:
		return ""
	case archive:
		return "# Taken out of memory on " + strings.TrimSuffix(day, ".md") + "\n\n"
	}
	return "# " + c.Title + "\n\n"
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
	// Unknown are the names in Include that match nothing.
	Unknown []string `json:"unknown"`
}

// The thresholds of pruning.
const (
	// MachineLines is the most lines with content of MEMORY.md that machines wrote: their entries,
	// the headings and markers of these, and the line that lists the topics. People's lines are
	// not counted. Curation, pruning and the audit share this limit. Our choice: what a session
	// begins with is read in full, and the entries of two days always fit.
	MachineLines = 30
	// The compiler checks by this constant that the entries of two days, each day with a heading and
	// a marker, and the list of topics are within MachineLines.
	_ uint = MachineLines - 2*(mostPromoted+2) - 1
	// observationRest is the length that observations.md is trimmed to.
	observationRest = 60
	// observationDays is the age at which an observation without a tag leaves. doneDays is the
	// age at which a finished task leaves.
	observationDays, doneDays = 7, 7
)

// mostMoves is the most entries that one pruning moves. The next pruning moves the rest.
const mostMoves = 2000

// Prune chooses the entries that leave the files of memory. It does not change any file.
func (s *Snapshot) Prune(o PruneOptions) *Pruning {
	r := &pruner{snap: s, PruneOptions: o, out: &Pruning{Day: o.Day, Moves: []Move{}, Changes: []Change{}, Over: []string{}, Unknown: []string{}},
		titles: map[string]string{}, open: map[string]bool{}, known: s.knownOf()}
	r.failures, r.days, r.names = sync.OnceValue(s.failures), sync.OnceValue(s.DaysOf), sync.OnceValue(s.needed)
	r.logs()
	r.observations()
	r.memory()
	for _, name := range r.Include {
		if !slices.ContainsFunc(r.pruned(), func(f *file) bool {
			ps := pieces(f)
			return slices.ContainsFunc(ps, func(p *piece) bool { return names(f, ps, p, name) })
		}) {
			r.out.Unknown = append(r.out.Unknown, name)
		}
	}
	r.changes()
	return r.out
}

// pruner is one pruning.
type pruner struct {
	snap *Snapshot
	PruneOptions
	out   *Pruning
	known *known
	// failures returns the number of sessions in which each failure came up. days returns the
	// number of days of each text, and names the days of each name.
	failures, days func() map[string]int
	names          func() map[string][]string
	// gifts has the blocks that files get.
	gifts groups[string, gift]
	// given has the changes of the files that lose something.
	given []*Change
	// titles are the titles of files by the headings that named them.
	titles map[string]string
	// open reports which files end with a block that nothing closes.
	open map[string]bool
}

// prunes reports whether a file is to be looked at.
func (r *pruner) prunes(path string) bool { return len(r.Only) == 0 || slices.Contains(r.Only, path) }

// archive returns the note that gets the entries that no longer hold.
func (r *pruner) archive() string { return archiveDir + r.Day + ".md" }

// gift is a block that a file gets, with the headings that it is under.
type gift struct {
	trail []string
	text  string
}

// day returns the day that a gift is under, "" if it is under anything else.
func (g *gift) day() string {
	if len(g.trail) == 1 && firstDate(g.trail[0]) == g.trail[0] {
		return g.trail[0]
	}
	return ""
}

// give gives a block to a file, under the same headings as before.
func (r *pruner) give(to string, trail []string, block string) {
	r.gifts.add(to, gift{trail, strings.TrimRight(strings.Trim(strings.ReplaceAll(block, "\r\n", "\n"), "\n"), " \t\n")})
}

func isItem(block string) bool { return bulleted.MatchString(block) && !strings.Contains(block, "\n") }

// arranged returns blocks under their headings. Only items follow each other without a blank line.
func arranged(gifts []gift) string {
	text := ""
	for n, g := range gifts {
		var last gift
		if n > 0 {
			last = gifts[n-1]
		}
		same := n > 0 && slices.Equal(last.trail, g.trail)
		from := 0 // the headings that it is under already are not repeated
		for n > 0 && from < min(len(last.trail), len(g.trail)) && last.trail[from] == g.trail[from] {
			from++
		}
		if from == len(g.trail) && !same {
			from = 0
		}
		if n > 0 && !(same && isItem(g.text) && isItem(last.text)) {
			text += "\n"
		}
		for i, h := range g.trail {
			if h != "" && i >= from {
				text += strings.Repeat("#", min(i+2, 6)) + " " + h + "\n\n"
			}
		}
		text += g.text + "\n"
	}
	return text
}

// leave notes that a bundle leaves, with its new file and the reason.
func (r *pruner) leave(f *file, b bundle, to string, why why) {
	first, text := b[0], ""
	for _, p := range b {
		text += p.text
		p.gone = true
	}
	text = strings.Trim(text, "\r\n")
	plain := strings.TrimSpace(text)
	if first.entry != nil {
		plain = first.entry.Plain
	}
	r.out.Moves = append(r.out.Moves, Move{From: f.Path, Line: first.line + blankBefore(first.text), To: to, Why: why, Text: strings.TrimRight(text, " \t\r\n"), Key: KeyHash(plain)})
	if to != "" {
		// The old place comes after an item of one line, and before any other block.
		line := strings.TrimRight(text, " \t\r\n")
		switch {
		case first.entry != nil && len(first.entry.From) > 0: // the text names it already
		case first.bullet && !strings.Contains(line, "\n"):
			text = line + " " + marked("from", f.Path)
		default:
			text = marked("from", f.Path) + "\n\n" + text
		}
		r.give(to, first.trail(), text)
	}
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
	for _, to := range r.gifts.keys {
		c, f, gifts := Change{Path: to, New: true, Title: r.titles[to]}, r.snap.File(to), r.gifts.of[to]
		if f != nil {
			c.New, c.Before = false, f.Doc.Raw
		}
		c.LinesBefore = lineCount(c.Before)
		var others bool // whether somebody else wrote a block of the file, or it has a marker
		if f != nil {
			ps := pieces(f)
			r.own(f, ps)
			others = slices.ContainsFunc(ps, func(p *piece) bool { return p.kind == pieceMarker || p.kind == pieceBlock && p.origin != OriginUpkeep })
		}
		switch topic, _ := markdownstore.Classify(to); {
		case topic.Kind != markdownstore.KindTopic || strings.HasPrefix(to, archiveDir) || others:
			c.Add = arranged(gifts)
		default:
			slices.SortStableFunc(gifts, func(a, b gift) int { return strings.Compare(b.day(), a.day()) })
			if c.Text = "# " + c.Title + "\n\n" + arranged(gifts); f != nil {
				c.insert(gifts)
			}
		}
		c.LinesAfter = lineCount(c.Text)
		if c.Add != "" {
			c.LinesAfter = c.LinesBefore + lineCount(c.Add)
		}
		r.out.Changes = append(r.out.Changes, c)
	}
	for _, c := range r.given {
		r.out.Changes = append(r.out.Changes, *c)
	}
}

// becomes notes the new contents of a file that loses something.
func (r *pruner) becomes(path, text string) *Change {
	before := r.snap.File(path).Doc.Raw
	c := &Change{Path: path, Before: before, Text: text, LinesBefore: lineCount(before), LinesAfter: lineCount(text)}
	r.given = append(r.given, c)
	return c
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
			if n > observationRest && b.may() && !slices.ContainsFunc(b, func(p *piece) bool { return p.entry != nil && len(p.entry.Tags) > 0 || !r.oldObservation(f, p) }) {
				n -= b.lines()
				r.leave(f, b, r.archive(), whyOld)
			}
		}
		if slices.ContainsFunc(ps, func(p *piece) bool { return p.gone }) {
			settle(ps)
			text := remains(ps, eolOf(f.Doc.Raw))
			r.becomes(f.Path, text)
			n = lineCount(text)
		}
		if n > observationLines {
			r.over(f.Path, n, observationLines, "entries with a tag, those of the last days, and people's stay")
		}
	}
}

func (r *pruner) oldObservation(f *file, p *piece) bool {
	if p.entry != nil && p.entry.Dated && p.entry.Date <= r.Day {
		return p.entry.Date <= addDays(r.Day, -observationDays)
	}
	return r.Young == nil || !r.Young(f.Path, strings.TrimSpace(p.text))
}

// over records that a file stays over its limit, and the reason.
func (r *pruner) over(path string, n, limit int, why string) {
	r.out.Over = append(r.out.Over, path+" keeps "+count(n, "line", "lines")+", the limit is "+itoa(limit)+": "+why)
}

// logs brings decisions and lessons of old logs that memory lacks into topic files. The logs
// themselves are closed, and stay as they are.
func (r *pruner) logs() {
	if len(r.Only) > 0 {
		return
	}
	last := addDays(r.Day, -logDays)
	for _, f := range r.snap.Files {
		if !promotes(f, addDays(last, -1)) {
			continue
		}
		of := sessionsOf(f.Entries)
		for j, e := range f.Entries {
			if e.State == stateSuperseded || !e.Tags.has(decision) && !e.Tags.has(lesson) || len(r.out.Moves) >= mostMoves {
				continue
			}
			if e = governed(f, j); e == nil {
				continue
			}
			got := earning{e.Plain, e.Tags}
			if of[j] != "" {
				got = earned(e.Plain, e.Tags, func(sign string) bool { return r.failures()[sign] > 1 })
			}
			if len(got.Tags) > 0 {
				r.extract(e, got)
			}
		}
	}
}

func (r *pruner) extract(e *Entry, got earning) {
	text := present(got.Text)
	if r.known.from[placeRef(e)] || vague(text) || r.Retired != nil && (r.Retired(KeyHash(e.Plain)) || r.Retired(KeyHash(text))) || r.known.holds(e.Plain) || r.known.holds(text) {
		return
	}
	to := r.topic(e, nil)
	p := Promoted{Text: text, Tags: got.Tags, From: placeRef(e)}
	r.out.Moves = append(r.out.Moves, Move{From: e.Path, Line: e.StartLine, To: to, Why: whyExtracted, Text: e.Text})
	r.give(to, []string{e.Date}, p.Line())
	r.known.said().add(sayingOf(text))
}

// rank is the worth of keeping an entry in sight. Its parts are compared in their order.
type rank struct {
	// kind is highest for a person's word. Decisions, lessons and all others follow.
	kind int
	// said is on how many days logs say the entry. used is on how many later days a name that the
	// entry introduced came up again.
	said, used int
	date       string
}

func (a rank) compare(b rank) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.said, b.said), cmp.Compare(a.used, b.used), strings.Compare(a.date, b.date))
}

// ranks returns the rank of a bundle, which is that of its best entry.
func (r *pruner) ranks(b bundle) (best rank) {
	for _, p := range b {
		if p.entry != nil {
			best = slices.MaxFunc([]rank{best, r.ranked(p.entry)}, rank.compare)
		}
	}
	return best
}

func (r *pruner) ranked(e *Entry) rank {
	w := rank{said: len(e.From), date: e.Date}
	if i := slices.IndexFunc(staying, e.Tags.has); i >= 0 {
		w.kind = len(staying) + 1 - i
	} else if e.State == stateOpen {
		w.kind = 1
	}
	_, w.used = mentionedBy(r.names(), e.Plain, e.Date, r.Day)
	for _, ref := range e.From {
		if path, line, ok := PlaceOf(ref); ok {
			if at := r.snap.entryAt(path, line); at != nil {
				w.said = max(w.said, r.days()[Key(at.Plain)])
			}
		}
	}
	return w
}

// staying are the kinds of entries in the order of how long they stay in sight, the longest first.
var staying = []tag{human, decision, identity, lesson, surprise}
