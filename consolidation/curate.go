package consolidation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// The most entries of a night, and the number that a poor day is filled up to with
// what little speaks for. How many days back an entry with a tag is looked for.
const (
	MostPromoted  = 8
	leastPromoted = 3
	// LogDays is when a log's chance is over: what it then still holds of decisions
	// and lessons is brought into topic files by [Prune].
	LogDays = 14
)

// Extra is something to be kept that is in no log: a decision of a checkpoint.
type Extra struct {
	Text string
	Tags Tags
	// Ref is where it comes from.
	Ref string
}

// CurateOptions are settings of [Curate].
type CurateOptions struct {
	// Day is the one whose log is read with that of the day before, YYYY-MM-DD; logs
	// of the [LogDays] before are read for what has a tag.
	Day string
	// NearDuplicate is the share of their words, in threes, from which two entries
	// count as the same.
	NearDuplicate float64
	// Buffer is what was read of the working buffer, BufferRef the name of that.
	Buffer, BufferRef string
	Extra             []Extra
	// Retired reports whether an entry with this [KeyHash] was taken out of
	// memory. It does not come back.
	Retired func(key string) bool
	// Taken is how many entries the day has been given before.
	Taken int
}

// Promoted is an entry that curated memory gets.
type Promoted struct {
	// Text is the fact, Tags why it matters.
	Text string `json:"text"`
	Tags Tags   `json:"tags"`
	// From is where it comes from.
	From string `json:"from"`
	// Supersedes are the names of what it replaces, Replaces its text.
	Supersedes []string `json:"supersedes"`
	Replaces   string   `json:"replaces,omitempty"`
	// Score is what it was ranked by, Why what that is made of.
	Score float64  `json:"score"`
	Why   []string `json:"why"`
}

// Line returns the entry as it is in memory.
func (p *Promoted) Line() string {
	l := "- " + p.Tags.String() + " " + p.Text
	if len(p.Tags) == 0 {
		l = "- " + p.Text
	}
	if p.From != "" {
		l += " " + FromMark(p.From)
	}
	if len(p.Supersedes) > 0 {
		l += " " + SupersedesMark(p.Supersedes...)
	}
	return l
}

// Curation is what a day came to.
type Curation struct {
	Day string `json:"day"`
	// Path is the file that gets the entries.
	Path    string     `json:"path"`
	Entries []Promoted `json:"entries"`
	// Left is how many more would have been worth it: they keep till tomorrow.
	Left int `json:"left"`
}

// Text returns the section that is appended, "" if there is nothing to append.
func (c *Curation) Text() string {
	if len(c.Entries) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## " + c.Day + "\n\n")
	for i := range c.Entries {
		b.WriteString(c.Entries[i].Line() + "\n")
	}
	return b.String()
}

// Curate chooses what of a day is worth a place in MEMORY.md. It changes nothing.
func (s *Snapshot) Curate(o CurateOptions) *Curation {
	c := &curator{snap: s, CurateOptions: o, known: s.knownOf(o.NearDuplicate), days: s.DaysOf()}
	out := &Curation{Day: o.Day, Path: "MEMORY.md", Entries: []Promoted{}}
	if m := s.Memory(); m != nil {
		out.Path = m.Path
	}
	c.gather()
	slices.SortStableFunc(c.found, func(a, b Promoted) int { return cmp.Compare(b.Score, a.Score) })
	room := max(MostPromoted-o.Taken, 0)
	for i := range c.found {
		p := &c.found[i]
		weak := p.Score < strong
		switch {
		case c.known.holds(p.Text) || weak && len(out.Entries)+o.Taken >= leastPromoted:
		case len(out.Entries) >= room:
			if !weak {
				out.Left++
			}
		default:
			c.supersede(p)
			c.known.addText(p.Text)
			out.Entries = append(out.Entries, *p)
		}
	}
	return out
}

// curator is one curation.
type curator struct {
	snap *Snapshot
	CurateOptions
	known *known
	days  map[string]int
	found []Promoted
}

// What speaks for an entry, and how much; from strong on it is worth a place by
// itself. Tags are ordered by who set them: the user before the agent.
const (
	strong      = 3.0
	scoreRepeat = 1.5 // for each other day on which it was repeated: by itself that is routine
	mostRepeat  = 3
	scoreToday  = .5
	scoreMarked = 1.0 // words of importance where nobody tagged it
)

var tagScore = map[Tag]float64{Human: 5, Decision: 4, Identity: 4, Lesson: 3, Surprise: 2}

// gather finds the candidates, those of the newest log first.
func (c *curator) gather() {
	oldest := addDays(c.Day, -LogDays)
	for i := len(c.snap.Files) - 1; i >= 0; i-- {
		f := &c.snap.Files[i]
		if !promotes(f, c.Day) || f.Date < oldest {
			continue
		}
		for j := range f.Entries {
			c.consider(f, j)
		}
	}
	if c.Buffer != "" {
		buffered := &File{Entries: Entries(markdownstore.Parse("memory/working-buffer.md", c.Buffer))}
		for i := range buffered.Entries {
			if e := governed(buffered, i); e != nil {
				c.rate(e, c.BufferRef, true)
			}
		}
	}
	for _, x := range c.Extra {
		c.rate(&Entry{Plain: oneLine(x.Text), Tags: x.Tags, Kind: markdownstore.UnitItem}, x.Ref, true)
	}
}

// consider rates an entry of a log that holds and can be read by itself.
func (c *curator) consider(f *File, i int) {
	e := &f.Entries[i]
	fresh := f.Date >= addDays(c.Day, -1) // a run after midnight finds the day in yesterday's
	if !fresh && len(e.Tags) == 0 || c.known.cites(placeRef(e)) {
		return
	}
	if e = governed(f, i); e != nil {
		c.rate(e, placeRef(e), fresh)
	}
}

// rate scores an entry, and takes it if anything speaks for it.
func (c *curator) rate(e *Entry, ref string, today bool) {
	if e.State == StateSuperseded || e.State == StateOpen || e.Kind == markdownstore.UnitTable || strings.HasPrefix(e.Plain, quotesAgent) {
		return
	}
	text := Present(e.Plain)
	if words(text) == nil || c.known.holds(e.Plain) || c.retired(e.Plain, text) || vague(text) {
		return
	}
	p := Promoted{Text: text, Tags: e.Tags, From: ref, Supersedes: []string{}, Why: []string{}}
	c.score(&p, e, today)
	if p.Score > 0 {
		c.found = append(c.found, p)
	}
}

func (c *curator) score(p *Promoted, e *Entry, today bool) {
	if implied := impliedTags(e); len(p.Tags) == 0 && len(implied) > 0 && wordCount(p.Text) >= leastImplied {
		p.Tags = implied
		p.Score--
	}
	best := 0.0
	for _, t := range p.Tags {
		p.Score += tagScore[t] / 4
		best = max(best, tagScore[t])
		p.Why = append(p.Why, string(t))
	}
	p.Score += best
	if n := min(c.days[Key(e.Plain)]-1, mostRepeat); n > 0 && len(p.Tags) > 0 {
		p.Why = append(p.Why, "repeated")
		p.Score += float64(n) * scoreRepeat
	}
	if len(p.Tags) == 0 && asksFor(e) {
		p.Score += scoreMarked
		p.Why = append(p.Why, "importance")
	}
	if today && p.Score > 0 {
		p.Score += scoreToday
	}
}

func (c *curator) retired(texts ...string) bool {
	return c.Retired != nil && slices.ContainsFunc(texts, func(t string) bool { return c.Retired(KeyHash(t)) })
}

// leastFact is how many words a fact has: fewer are a form's or a heartbeat's. What
// only its heading calls a lesson needs more to be one.
const leastFact, leastImplied = 4, 6

// wordCount counts words; of scripts without spaces two characters count as one.
func wordCount(text string) int {
	n := 0
	for _, w := range words(text) {
		if n += 2; len([]rune(w)) == 1 {
			n--
		}
	}
	return n / 2
}

// vague reports whether a text has no meaning by itself.
func vague(text string) bool {
	return wordCount(text) < leastFact || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// addDays returns the date n days after another.
func addDays(day string, n int) string {
	t, ok := markdownstore.ParseDate(day, utc)
	if !ok {
		return day
	}
	return t.AddDate(0, 0, n).Format(dateLayout)
}
