package consolidation

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// The most entries of a night, the number of entries up to which weak entries are taken, and the
// number of days back in which entries with a tag are looked for.
const (
	MostPromoted  = 8
	leastPromoted = 3
	// logDays is the age in days from which Curate no longer reads a log. [Prune] then brings the
	// log's remaining decisions and lessons into topic files.
	logDays = 14
)

// Extra is an entry that is in no log and is to be kept, such as a decision of a checkpoint.
type Extra struct {
	Text string
	Tags Tags
	// Ref is the entry's source.
	Ref string
}

// CurateOptions are settings of [Curate].
type CurateOptions struct {
	// Day is the day whose log is read together with the log of the day before, YYYY-MM-DD. The
	// logs of the logDays before Day are read for entries with a tag.
	Day string
	// Buffer is the text read from the working buffer. BufferRef is the buffer's name.
	Buffer, BufferRef string
	Extra             []Extra
	// Retired reports whether an entry with this [KeyHash] was taken out of memory. Such an entry
	// does not come back.
	Retired func(key string) bool
	// Done reports whether the entries of these inputs were chosen before, see [Curation.Inputs].
	Done func(inputs string) bool
	// Taken is how many entries the day's earlier curations took.
	Taken int
}

// Promoted is an entry that curated memory gets.
type Promoted struct {
	// Text is the fact. Tags are the reasons why it matters.
	Text string `json:"text"`
	Tags Tags   `json:"tags"`
	// From is the entry's source.
	From string `json:"from"`
	// Supersedes are the names of the entries that this entry replaces.
	Supersedes []string `json:"supersedes"`
	// Replaces is the text of the replaced entries.
	Replaces string `json:"replaces,omitempty"`
	// Score is the entry's rank. Why lists the parts of the score.
	Score float64  `json:"score"`
	Why   []string `json:"why"`
	// section is the entry's heading in a log, if only the heading speaks for the entry.
	section string
	// work reports that the entry only names the work done.
	work bool
}

// Line returns the entry in the form that memory has.
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

// Curation is the result of a day.
type Curation struct {
	// Day is the day whose log was read.
	Day string `json:"day"`
	// Path is the file that gets the entries.
	Path string `json:"path"`
	// Entries are the chosen entries, the best first.
	Entries []Promoted `json:"entries"`
	// Inputs is a hash of the texts that the entries were chosen from, apart from the buffer.
	Inputs string `json:"-"`
	// Left is how many more entries were worth a place. They are kept for the next day.
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

// inputs returns a hash of the texts that a curation chooses from, apart from the buffer.
func (o *CurateOptions) inputs(s *Snapshot) string {
	h := sha256.New()
	for i := range s.Files {
		if f := &s.Files[i]; promotes(f, o.Day) && f.Date >= addDays(o.Day, -logDays) {
			fmt.Fprintf(h, "%q %q\n", f.Path, f.Doc.Raw)
		}
	}
	fmt.Fprintf(h, "%q", o.Extra)
	return hex.EncodeToString(h.Sum(nil))
}

// Curate chooses the entries of a day that are worth a place in MEMORY.md. It does not change any
// file.
func (s *Snapshot) Curate(o CurateOptions) *Curation {
	out := &Curation{Day: o.Day, Path: "MEMORY.md", Entries: []Promoted{}, Inputs: o.inputs(s)}
	if m := s.Memory(); m != nil {
		out.Path = m.Path
	}
	if o.Done != nil && o.Done(out.Inputs) {
		return out
	}
	c := &curator{snap: s, CurateOptions: o, known: s.knownOf(), days: s.DaysOf(), users: peopleIn(s), failures: s.failures(), names: s.needed(), forms: s.formsOf(),
		sections: map[string]int{}}
	c.gather()
	slices.SortStableFunc(c.found, func(a, b Promoted) int {
		if a.work != b.work {
			return map[bool]int{true: 1, false: -1}[a.work]
		}
		return cmp.Compare(b.Score, a.Score)
	})
	room := max(MostPromoted-o.Taken, 0)
	for i := range c.found {
		p := &c.found[i]
		weak := p.Score < strong
		switch {
		case p.work && len(out.Entries)+o.Taken > 0: // a day that came to something better
		case c.known.holds(p.Text) || weak && len(out.Entries)+o.Taken >= leastPromoted, p.section != "" && c.sections[p.section] >= mostOfSection:
		case len(out.Entries) >= room:
			if !weak {
				out.Left++
			}
		default:
			c.supersede(p)
			c.known.addText(p.Text)
			c.sections[p.section]++
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
	users people
	// failures maps a failure to the number of sessions in which it came up.
	failures map[string]int
	// names maps a name to the days that mention it.
	names    map[string][]string
	forms    forms
	sections map[string]int // the number of entries that each has got
	found    []Promoted
}

// The reasons for an entry, and their weights. An entry with a score of at least strong is worth
// a place by itself. Tags are ordered by who set them: the user before the agent.
const (
	strong       = 3.0
	scoreRepeat  = 1.5 // for each other day on which it was repeated: by itself that is routine
	mostRepeat   = 3
	scoreToday   = .5
	scoreMarked  = 1.0 // words of importance where nobody tagged it
	scoreOutcome = 1.0 // an outcome of work, by its sentence
	scoreNeeded  = 1.5 // for each later day on which a name that it introduced was needed
	// mostOfSection is the most entries without a tag that a day gets from one section.
	mostOfSection = 3
)

var tagScore = map[Tag]float64{Human: 5, Decision: 4, Identity: 4, Lesson: 3, Surprise: 2}

// gather finds the candidates, those of the newest log first.
func (c *curator) gather() {
	oldest := addDays(c.Day, -logDays)
	for i := len(c.snap.Files) - 1; i >= 0; i-- {
		f := &c.snap.Files[i]
		if !promotes(f, c.Day) || f.Date < oldest {
			continue
		}
		of, over := sessionsOf(f.Entries), listLabels(f.Entries)
		for j := range f.Entries {
			if e := governed(f, j); e != nil {
				c.consider(f, e, of[j], over[j])
			}
		}
	}
	if c.Buffer != "" {
		buffered := &File{Entries: Entries(markdownstore.Parse("memory/working-buffer.md", c.Buffer))}
		for i := range buffered.Entries {
			if e := governed(buffered, i); e != nil && (!strings.HasPrefix(e.Plain, quotesUser) || len(impliedTags(e)) > 0) {
				c.capture(e, c.BufferRef, "", true)
			}
		}
	}
	for _, x := range c.Extra {
		session, _, _ := strings.Cut(x.Ref, "/")
		c.capture(&Entry{Plain: oneLine(x.Text), Tags: x.Tags, Kind: markdownstore.UnitItem}, x.Ref, session, true)
	}
}

// consider rates an entry of a log that holds and can be read by itself. Captures of a session
// are rated by their evidence, tagged entries by their tags, and the rest by the text around them
// and their words.
func (c *curator) consider(f *File, e *Entry, session, lead string) {
	fresh := f.Date >= addDays(c.Day, -1) // a run after midnight finds the day in yesterday's
	ref := placeRef(e)
	switch {
	case c.known.cites(ref), flushed.MatchString(e.Text):
	case session != "":
		c.capture(e, ref, session, fresh)
	case strings.HasPrefix(e.Plain, SaidMark):
		if said := strings.TrimSpace(strings.TrimPrefix(e.Plain, SaidMark)); c.days[Key(e.Plain)] > 1 {
			c.rate(e, Promoted{Text: Present(said), Tags: MakeTags(Human), From: ref}, fresh)
		}
	case len(e.Tags) > 0:
		c.rate(e, Promoted{Text: Present(e.Plain), Tags: e.Tags, From: ref}, fresh)
	case e.Kind == markdownstore.UnitQuote, !fresh && c.neededAfter(e.Plain, f.Date) < leastNeeded:
	default:
		for _, p := range pieced(e) {
			c.read(&p, placeRef(&p), lead)
		}
	}
}

// capture rates a machine's note of a session.
func (c *curator) capture(e *Entry, ref, session string, fresh bool) {
	p := Promoted{From: ref}
	if said, ok := strings.CutPrefix(e.Plain, quotesUser); ok {
		if p.Tags = impliedTags(e); len(p.Tags) > 0 {
			p.Text = Present(said)
		}
	} else {
		got := earned(e.Plain, e.Tags, func(sign string) bool { return c.failures[sign] > 1 })
		p.Text, p.Tags = Present(got.Text), got.Tags
		if text, score := done(e.Plain); fresh && got.Tags == nil && score > 0 {
			p.Text, p.Score, p.Why, p.work = Present(capital(text)), score, []string{"outcome"}, true
		}
	}
	c.rate(e, p, fresh)
}

// committed matches a session's commit. planned matches a session's list of steps. aside matches
// commits that change nothing of the work itself.
var (
	committed = textutil.LazyRegexp(`^commit(?: [0-9a-f]{4,40})?: (?:(feat|fix|perf|refactor|docs)(?:\([^)]*\))?!?: )?((?:[A-Z][^:]{3,}|[a-z]+ ).*)$`)
	planned   = textutil.LazyRegexp(`^plan \(\d+\): (.+)$`)
	aside     = textutil.LazyRegexp(`(?i)\b(?:feedback|comments?|review|nits?|typos?|lint|format(?:ting)?|gofmt|merge|wip|bump|cleanup|unused|unnecessary|formatting|changelog)\b`)
)

// done returns the work that a session's commit or plan names. It also returns the worth of this
// work if nothing better is known of the day.
func done(capture string) (string, float64) {
	if m := committed.FindStringSubmatch(capture); m != nil && wordCount(m[2]) >= leastImplied-1 && !aside.MatchString(m[2]) {
		if m[1] == "docs" {
			return m[2], scoreOutcome / 2
		}
		return m[2], scoreOutcome
	}
	if m := planned.FindStringSubmatch(capture); m != nil {
		return m[1], scoreOutcome / 4
	}
	return "", 0
}

// read rates an entry that nobody tagged by the text around it, the statements of its sentences,
// and whether later days needed names that it introduced.
func (c *curator) read(e *Entry, ref, lead string) {
	plain := oneLine(c.forms.without(e.Text))
	if plain != "" && plain != oneLine(e.Text) { // the rest without a form's text
		left := *e
		left.Text = plain
		if got := Entries(markdownstore.Parse(e.Path, plain)); len(got) > 0 {
			plain = got[0].Plain
		}
	} else if plain != "" {
		plain = e.Plain
	}
	around := around(e, lead)
	for _, said := range sayings(plain, strings.TrimSpace(bullet.FindString(e.Text)) != "") {
		c.say(e, said, ref, lead, around)
	}
}

// say rates one thing that an entry says.
func (c *curator) say(e *Entry, text, ref, lead string, w worth) {
	name, rest := label(text)
	if passing(text) || passing(rest) || wordCount(text) < leastImplied {
		return
	}
	if predicate.MatchString(text) && subject(e.Trail) == "" && (lead == "" || headed(lead) != worthNothing) {
		return
	}
	stated := false
	if is := c.stated(text); is > worthReason && w != worthPassing && is >= w {
		stated, w = true, is
	}
	if speaksOfUser.MatchString(name) && wordCount(name) == 1 && Important(rest) { // their words
		stated, w, text = true, worthWish, rest
	}
	p := Promoted{From: ref, section: e.Path + "#" + strings.Join(e.Trail, "#") + lead}
	says, named := telling(text), len(codeNames(text)) > 0 || subject(e.Trail) != ""
	switch {
	case w == worthWish && (stated || c.wishes(text) || asksFor(e)):
		p.Tags, p.Score = MakeTags(Human), tagScore[Human]-2
	case w == worthDecision && (says > 1 || says > 0 && (named || marked(e, lead)) || stated):
		p.Tags, p.Score = MakeTags(Decision), tagScore[Decision]-1
	case w == worthLesson && (says > 1 || stated || says > 0 && marked(e, lead)):
		p.Tags, p.Score = MakeTags(Lesson), tagScore[Lesson]-1.5+float64(says)/2
	case (w == worthLesson || w == worthDecision) && (says > 0 || wordCount(text) >= 2*leastImplied):
		p.Tags, p.Score = map[worth]Tags{worthLesson: MakeTags(Lesson), worthDecision: MakeTags(Decision)}[w], scoreOutcome
	case w == worthReason && says > 1 && len(codeNames(text)) > 0:
		p.Score, p.Why = scoreOutcome/2, []string{"outcome"}
	case w == worthReason, w == worthPassing:
		return
	case asksFor(e):
		p.Score, p.Why = scoreMarked, []string{"importance"}
	case says >= 2:
		p.Score, p.Why = scoreOutcome+float64(says-2)/2, []string{"outcome"}
		if w == worthNothing {
			p.Score -= .5
		}
	}
	if n := c.neededAfter(text, e.Date); n >= leastNeeded && p.Score > 0 {
		p.Score += float64(min(n, mostRepeat)) * scoreNeeded / 2
		p.Why = append(p.Why, "needed")
	}
	if p.Score > 0 {
		p.Text = Present(aboutSubject(text, lead, e.Trail))
		c.rate(e, p, e.Date >= addDays(c.Day, -1))
	}
}

// rate scores an entry, and takes the entry if anything speaks for it. An agent's statement stays
// in the log without support by a person's word, a commit or a call's result, however often the
// agent repeats the statement.
func (c *curator) rate(e *Entry, p Promoted, today bool) {
	if choice.ByAgent(e.Plain) || strings.HasPrefix(e.Plain, quotesAgent) || strings.HasPrefix(e.ID, "me-") {
		return
	}
	if e.State == StateSuperseded || e.State == StateOpen || e.Kind == markdownstore.UnitTable || strings.HasPrefix(e.Plain, quotesAgent) {
		return
	}
	if words(p.Text) == nil || c.known.holds(e.Plain) || c.retired(e.Plain, p.Text) || vague(p.Text) {
		return
	}
	if p.Score == 0 {
		best := 0.0
		for _, t := range p.Tags {
			best = max(best, tagScore[t])
		}
		p.Score = best
	}
	tags := make([]string, 0, len(p.Tags)+len(p.Why))
	for _, t := range p.Tags {
		p.Score += tagScore[t] / 4
		tags = append(tags, string(t))
	}
	p.Supersedes, p.Why = []string{}, append(tags, p.Why...)
	if n := min(c.days[Key(e.Plain)]-1, mostRepeat); n > 0 && len(p.Tags) > 0 {
		p.Why = append(p.Why, "repeated")
		p.Score += float64(n) * scoreRepeat
	}
	if p.Score <= 0 {
		return
	}
	if today {
		p.Score += scoreToday
	}
	c.found = append(c.found, p)
}

func (c *curator) retired(texts ...string) bool {
	return c.Retired != nil && slices.ContainsFunc(texts, func(t string) bool { return c.Retired(KeyHash(t)) })
}

// leastFact is the least number of words of a fact, since a shorter text comes from a form or a
// heartbeat. leastImplied is the least number for a text that only its heading calls a lesson.
const leastFact, leastImplied = 4, 6

// wordCount counts words. In scripts without spaces two characters count as one word.
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
