package consolidation

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// Why is the reason for which an entry leaves a file.
type Why string

// The reasons. What is superseded, done, or old goes to the archive; what is stable
// or least goes to the file that it belongs to; a duplicate's twin stands.
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
	// Day is the day on which is pruned, YYYY-MM-DD. What is of it or of the day
	// before stays.
	Day string
	// MemoryLines is how long MEMORY.md may get; 0 leaves it alone.
	MemoryLines int
	// ObservationLines is the length from which observations.md is trimmed to
	// ObservationRest.
	ObservationLines, ObservationRest int
	// ObservationDays is the age from which an observation without a tag goes,
	// DoneDays that from which a task that is done does.
	ObservationDays, DoneDays int
	// LogDays is the age from which a log's decisions and lessons that memory does
	// not have are brought into topic files; 0 for never.
	LogDays int
	// NearDuplicate: see [CurateOptions].
	NearDuplicate float64
	// Owners are the files that stable facts may move to, each while it has fewer
	// than OwnerChars characters.
	Owners     []string
	OwnerChars int
	// Young tells that a block without a date of its own was not there a day ago.
	Young func(path, text string) bool
	// Retired: see [CurateOptions].
	Retired func(key string) bool
	// Only names the files that are pruned, all if it is empty.
	Only []string
}

// Move is an entry that leaves a file.
type Move struct {
	From string `json:"from"`
	Line int    `json:"line"`
	// To is the file that gets it, "" if its twin stands elsewhere.
	To  string `json:"to"`
	Why Why    `json:"why"`
	// Text is the block as it stood, Key its [KeyHash].
	Text string `json:"text"`
	Key  string `json:"key"`
}

// Change is what a file becomes.
type Change struct {
	Path string `json:"path"`
	// Before is what it was; New that it did not exist.
	Before string `json:"-"`
	New    bool   `json:"new"`
	// Add is what it gets at its end; without it, Text is all of it.
	Add  string `json:"-"`
	Text string `json:"-"`
	// LinesBefore and LinesAfter are its length.
	LinesBefore int `json:"lines_before"`
	LinesAfter  int `json:"lines_after"`
}

// Pruning is what leaves which file. Changes are in the order in which they are
// safe: what takes comes before what gives.
type Pruning struct {
	Day     string   `json:"day"`
	Moves   []Move   `json:"moves"`
	Changes []Change `json:"changes"`
	// Over says what stays over a limit, and why.
	Over []string `json:"over"`
}

// mostMoves is how many entries one night moves: the rest is the next's.
const mostMoves = 2000

// Prune chooses what leaves the files of memory. It changes nothing.
func Prune(ctx context.Context, fsys fs.FS, maxBytes int64, o PruneOptions) (*Pruning, error) {
	s, err := Read(ctx, fsys, maxBytes)
	if err != nil {
		return nil, err
	}
	return s.Prune(o), nil
}

// Prune is [Prune] of a snapshot.
func (s *Snapshot) Prune(o PruneOptions) *Pruning {
	r := &pruner{Snapshot: s, PruneOptions: o, out: &Pruning{Day: o.Day, Moves: []Move{}, Changes: []Change{}, Over: []string{}}, added: map[string]string{}, texts: map[string]string{}}
	r.known = s.knownOf(o.NearDuplicate)
	r.logs()
	r.observations()
	r.memory()
	r.changes()
	return r.out
}

// pruner is one pruning.
type pruner struct {
	*Snapshot
	PruneOptions
	out   *Pruning
	known *known
	// added is what files get, in the order in which they were first given something;
	// texts is what files become that lose something, given in which order.
	added map[string]string
	order []string
	texts map[string]string
	given []string
	// trails are the headings of the last block that each file got.
	trails map[string]string
}

// prunes tells whether a file is to be looked at.
func (r *pruner) prunes(path string) bool { return len(r.Only) == 0 || slices.Contains(r.Only, path) }

// archive is the note that gets what no longer holds.
func (r *pruner) archive() string { return ArchiveDir + r.Day + ".md" }

// give appends a block to a file, under the headings that it stood under.
func (r *pruner) give(to string, trail []string, block string) {
	if r.trails == nil {
		r.trails = map[string]string{}
	}
	if _, ok := r.added[to]; !ok {
		r.order = append(r.order, to)
	}
	text := r.added[to]
	head := ""
	for i, h := range trail {
		if h != "" {
			head += strings.Repeat("#", min(i+2, 6)) + " " + h + "\n\n"
		}
	}
	if last, ok := r.trails[to]; !ok || last != head {
		if text != "" {
			text += "\n"
		}
		text += head
		r.trails[to] = head
	}
	r.added[to] = text + strings.TrimRight(strings.Trim(block, "\r\n"), " \t\r\n") + "\n"
}

// move notes that a block leaves.
func (r *pruner) move(f *File, p *piece, to string, why Why, trail []string) {
	p.gone = true
	plain := strings.TrimSpace(p.text)
	if p.entry != nil {
		plain = p.entry.Plain
	}
	r.out.Moves = append(r.out.Moves, Move{From: f.Path, Line: p.line + blankBefore(p.text), To: to, Why: why, Text: strings.TrimSpace(p.text), Key: KeyHash(plain)})
	if to != "" {
		r.give(to, trail, backReference(p, f.Path))
	}
}

// backReference writes where a block was into its first line, if it doesn't say where
// it comes from.
func backReference(p *piece, from string) string {
	text := strings.Trim(p.text, "\r\n")
	if p.entry == nil || len(p.entry.From) > 0 || p.entry.Kind == markdownstore.UnitTable || p.entry.Kind == markdownstore.UnitQuote {
		return text
	}
	line := firstLine(text)
	return strings.TrimRight(line, " \t\r") + " " + FromMark(from) + text[len(line):]
}

// immune tells what is not yet a day old.
func (r *pruner) immune(path string, p *piece) bool {
	yesterday := addDays(r.Day, -1)
	if e := p.entry; e != nil && e.Dated && e.Date <= r.Day {
		return e.Date >= yesterday
	}
	return r.Young != nil && r.Young(path, strings.TrimSpace(p.text))
}

// changes are what becomes of the files, those that get something first.
func (r *pruner) changes() {
	for _, to := range r.order {
		c := Change{Path: to, New: true, Add: strings.TrimRight(r.added[to], "\n") + "\n"}
		if f := r.File(to); f != nil {
			c.New, c.Before = false, f.Doc.Raw
		}
		c.LinesBefore = lineCount(c.Before)
		c.LinesAfter = c.LinesBefore + lineCount(c.Add)
		r.out.Changes = append(r.out.Changes, c)
	}
	for _, from := range r.given {
		before := r.File(from).Doc.Raw
		r.out.Changes = append(r.out.Changes, Change{Path: from, Before: before, Text: r.texts[from], LinesBefore: lineCount(before), LinesAfter: lineCount(r.texts[from])})
	}
}

// becomes notes what a file becomes that loses something.
func (r *pruner) becomes(path, text string) {
	r.texts[path] = text
	r.given = append(r.given, path)
}

// observations trims what is observed: without a tag and old, oldest first.
func (r *pruner) observations() {
	for _, name := range [...]string{"memory/observations.md", "observations.md"} {
		f := r.File(name)
		if f == nil || f.Err != nil || r.ObservationLines <= 0 || f.Lines() <= r.ObservationLines || !r.prunes(name) {
			continue
		}
		ps := pieces(f)
		n := f.Lines()
		for i := range ps {
			p := &ps[i]
			if p.kind != pieceBlock || n <= r.ObservationRest || p.entry != nil && len(p.entry.Tags) > 0 || !r.oldObservation(f, p) {
				continue
			}
			n -= p.lines
			r.move(f, p, r.archive(), WhyOld, trailOf(ps, p))
		}
		r.finish(f, ps, r.ObservationLines, "entries with a tag, and those of the last days, stay")
	}
}

func (r *pruner) oldObservation(f *File, p *piece) bool {
	if p.entry != nil && p.entry.Dated && p.entry.Date <= r.Day {
		return p.entry.Date <= addDays(r.Day, -r.ObservationDays)
	}
	return r.Young == nil || !r.Young(f.Path, strings.TrimSpace(p.text))
}

// finish settles a file that lost something.
func (r *pruner) finish(f *File, ps []piece, limit int, why string) {
	if !slices.ContainsFunc(ps, func(p piece) bool { return p.gone }) {
		if f.Lines() > limit {
			r.out.Over = append(r.out.Over, f.Path+" has "+count(f.Lines(), "line", "lines")+", the limit is "+itoa(limit)+": "+why)
		}
		return
	}
	settle(ps)
	text, n := joinPieces(ps)
	if n > limit {
		r.out.Over = append(r.out.Over, f.Path+" keeps "+count(n, "line", "lines")+", the limit is "+itoa(limit)+": "+why)
	}
	r.becomes(f.Path, text)
}

// logs brings what old logs hold of decisions and lessons, and memory doesn't have,
// into topic files. The logs themselves are closed, and stay as they are.
func (r *pruner) logs() {
	if r.LogDays <= 0 || len(r.Only) > 0 {
		return
	}
	last := addDays(r.Day, -r.LogDays)
	for i := range r.Files {
		f := &r.Files[i]
		if !promotes(f, addDays(last, -1)) {
			continue
		}
		for j := range f.Entries {
			e := &f.Entries[j]
			if e.State == StateSuperseded || !e.Tags.Has(Decision) && !e.Tags.Has(Lesson) || len(r.out.Moves) >= mostMoves {
				continue
			}
			r.extract(e)
		}
	}
}

func (r *pruner) extract(e *Entry) {
	text := Present(e.Plain)
	if r.known.cites(placeRef(e)) || r.known.says(e.Plain) || r.known.says(text) || vague(text) || r.retired(e.Plain, text) {
		return
	}
	to := topic(e, nil)
	p := Promoted{Text: text, Tags: e.Tags, From: placeRef(e)}
	r.out.Moves = append(r.out.Moves, Move{From: e.Path, Line: e.StartLine, To: to, Why: WhyExtracted, Text: e.Text})
	r.give(to, []string{e.Date}, p.Line())
	r.known.say(text)
}

func (r *pruner) retired(texts ...string) bool {
	return r.Retired != nil && slices.ContainsFunc(texts, func(t string) bool { return r.Retired(KeyHash(t)) })
}

// rank sorts blocks, those that leave first in front.
func (r *pruner) rank(ps []piece) []int {
	var out []int
	for i := range ps {
		if ps[i].kind == pieceBlock && !ps[i].gone {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.worth(&ps[a]), r.worth(&ps[b])), cmp.Compare(dateOf(&ps[a]), dateOf(&ps[b])))
	})
	return out
}

// byHand is what an entry is worth that somebody wrote into the file himself: more
// than a lesson that was promoted, once that is a week old, less than a decision.
const byHand = 3.5

// worth is what speaks for keeping a block in sight: its tags, that it is an open
// task, that it is recent.
func (r *pruner) worth(p *piece) float64 {
	if p.entry == nil {
		return -1
	}
	w := 0.0
	for _, t := range p.entry.Tags {
		w += tagScore[t]
	}
	if p.entry.State == StateOpen {
		w++
	}
	if len(p.entry.From) == 0 {
		w += byHand
	}
	if d := dateOf(p); d != "" && d <= r.Day && d >= addDays(r.Day, -7) {
		w += 2
	}
	if len(p.entry.Supersedes) > 0 {
		w++
	}
	// A long block takes the place of several: it is worth its length at most.
	return w - float64(p.lines)/10
}

func dateOf(p *piece) string {
	if p.entry == nil {
		return ""
	}
	return p.entry.Date
}
