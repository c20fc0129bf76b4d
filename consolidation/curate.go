package consolidation

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/markdownstore"
)

const (
	// mostPromoted is the most entries of a night. After leastPromoted entries, only an entry with a
	// score of at least sure is taken.
	mostPromoted  = 8
	leastPromoted = 3
	// logDays is the age in days from which Curate no longer reads a log. [Prune] then brings the
	// log's remaining decisions and lessons into topic files.
	logDays = 14
)

// CurateOptions are settings of [Curate].
type CurateOptions struct {
	// Day is the day whose log is read together with the log of the day before, YYYY-MM-DD. The
	// logs of the logDays before Day are read for entries with a tag.
	Day string
	// Buffer is the text read from the working buffer. BufferRef is the buffer's name.
	Buffer, BufferRef string
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
}

// Line returns the entry in the form that memory has.
func (p *Promoted) Line() string {
	l := "- " + p.Tags.String() + " " + p.Text
	if len(p.Tags) == 0 {
		l = "- " + p.Text
	}
	if p.From != "" {
		l += " " + marked("from", p.From)
	}
	if len(p.Supersedes) > 0 {
		l += " " + marked("supersedes", p.Supersedes...)
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

// reads reports whether a curation looks at a file.
func (o *CurateOptions) reads(f *file) bool {
	return promotes(f, o.Day) && f.Date >= addDays(o.Day, -logDays)
}

// Curate chooses the entries of a day that are worth a place in MEMORY.md. It does not change any
// file.
func (s *Snapshot) Curate(o CurateOptions) *Curation {
	out := &Curation{Day: o.Day, Path: "MEMORY.md", Entries: []Promoted{}}
	if m := s.Memory(); m != nil {
		out.Path = m.Path
	}
	h, none := sha256.New(), o.Buffer == ""
	for _, f := range s.Files {
		if o.reads(f) {
			fmt.Fprintf(h, "%q %q\n", f.Path, f.Doc.Raw)
			none = false
		}
	}
	if out.Inputs = hex.EncodeToString(h.Sum(nil)); o.Done != nil && o.Done(out.Inputs) || none {
		return out
	}
	c := &curator{snap: s, CurateOptions: o, known: s.knownOf(), days: s.DaysOf(), failures: s.failures(), names: s.needed(), forms: s.formsOf(o.Day), people: s.names()}
	c.gather()
	c.pair()
	slices.SortStableFunc(c.found, func(a, b Promoted) int { return cmp.Compare(b.Score, a.Score) })
	room := max(mostPromoted-o.Taken, 0)
	for i := range c.found {
		p := &c.found[i]
		switch {
		case p.Score < sure && len(out.Entries)+o.Taken >= leastPromoted:
		case c.known.holds(p.Text):
		case len(out.Entries) >= room:
			out.Left++
		default:
			c.supersede(p)
			c.known.said().add(sayingOf(p.Text))
			out.Entries = append(out.Entries, *p)
		}
	}
	return out
}

// curator is one curation.
type curator struct {
	snap *Snapshot
	CurateOptions
	known  *known
	days   map[string]int
	people []string // their names
	// failures maps a failure to the number of sessions in which it came up.
	failures map[string]int
	// names maps a name to the days that mention it.
	names map[string][]string
	// forms are the lines that come from a form.
	forms map[string]bool
	found []Promoted
}

var tagScore = map[tag]float64{human: 5, decision: 4, identity: 4, lesson: 3, surprise: 2}

// gather finds the candidates, those of the newest log first.
func (c *curator) gather() {
	for _, f := range slices.Backward(c.snap.Files) {
		if !c.reads(f) {
			continue
		}
		fresh := f.Date >= addDays(c.Day, -1) // a run after midnight finds the day in yesterday's
		of := sessionsOf(f.Entries)
		untagged := func(j int) bool {
			e := f.Entries[j]
			_, needed := mentionedBy(c.names, e.Plain, f.Date, c.Day)
			return of[j] == "" && len(e.Tags) == 0 && !strings.HasPrefix(e.Plain, saidMark) && !flushed.MatchString(e.Text) && e.Kind != markdownstore.UnitQuote && e.Kind != markdownstore.UnitTable && (fresh || needed >= leastNeeded)
		}
		for j := range f.Entries {
			e := governed(f, j)
			switch {
			case e == nil, c.known.from[placeRef(e)], flushed.MatchString(e.Text):
			case of[j] != "":
				c.capture(e, placeRef(e), fresh)
			case strings.HasPrefix(e.Plain, saidMark):
				if c.days[Key(e.Plain)] > 1 {
					c.rate(e, Promoted{Text: present(strings.TrimSpace(strings.TrimPrefix(e.Plain, saidMark))), Tags: makeTags(human), From: placeRef(e)}, fresh)
				}
			case len(e.Tags) > 0:
				c.rate(e, Promoted{Text: present(e.Plain), Tags: e.Tags, From: placeRef(e)}, fresh)
			}
		}
		c.found = append(c.found, c.worthy(c.remarks(f, untagged), fresh)...)
	}
	if c.Buffer != "" {
		buffered := &file{Entries: Entries("memory/working-buffer.md", c.Buffer)}
		for i := range buffered.Entries {
			if e := governed(buffered, i); e != nil {
				c.capture(e, c.BufferRef, true)
			}
		}
	}
}

// pair joins a person's sentences with the decisions whose answers hold them.
func (c *curator) pair() {
	for i := range c.found {
		p := &c.found[i]
		_, answer, ok := choice.Parts(p.Text)
		if !ok {
			continue
		}
		said := " " + Key(answer) + " "
		for j := range c.found {
			if q := &c.found[j]; j != i && q.Tags.has(human) && q.Text != "" && strings.Contains(said, " "+Key(q.Text)+" ") {
				p.Tags, p.Score, q.Text = p.Tags.with(human), max(p.Score, q.Score), ""
			}
		}
	}
	c.found = slices.DeleteFunc(c.found, func(p Promoted) bool { return p.Text == "" })
}

// worthy returns the remarks of a log that are worth a place. Short neighbours of one sense below
// one heading are one entry.
func (c *curator) worthy(rs []*remark, fresh bool) []Promoted {
	var out []Promoted
	last := &remark{last: -1}
	for _, r := range rs {
		tags, score, why := c.weigh(r)
		text, ok := worded(r)
		if score < strong || !ok {
			continue
		}
		if fresh {
			score += scoreToday
		}
		if n := len(out) - 1; r.entry.StartLine == last.last+1 && slices.Equal(out[n].Tags, tags) && slices.Equal(last.above, r.above) && utf8.RuneCountInString(out[n].Text+text) < mostFact-2 {
			was := strings.TrimRight(out[n].Text, " ;.。")
			same := 0
			for same < min(len(was), len(text)) && was[same] == text[same] {
				same++
			}
			lead := strings.LastIndex(text[:same], ": ") + 1
			place, _, _ := strings.Cut(out[n].From, "-L")
			out[n].Text, out[n].From, out[n].Score = was+"; "+strings.TrimSpace(text[lead:]), place+"-L"+itoa(r.last), max(out[n].Score, score)
			last = r
			continue
		}
		p := Promoted{Text: text, Tags: tags, From: placeRef(r.entry), Score: score, Why: append(tags.names(), why), Supersedes: []string{}}
		if r.last > r.entry.EndLine {
			p.From += "-L" + itoa(r.last)
		}
		out, last = append(out, p), r
	}
	return slices.DeleteFunc(out, func(p Promoted) bool { return !c.fits(p.Text) || c.known.from[p.From] })
}

// quotesUser and quotesAgent begin a quotation in the working buffer.
const quotesUser, quotesAgent = "[user] ", "[agent] "

// capture rates a machine's note of a session, and the user's words in the working buffer.
func (c *curator) capture(e *Entry, ref string, fresh bool) {
	got := earned(e.Plain, e.Tags, func(sign string) bool { return c.failures[sign] > 1 })
	if said, ok := strings.CutPrefix(e.Plain, quotesUser); ok {
		if got = (earning{Text: said}); important(said) && !choice.Wonders(said) {
			got.Tags = makeTags(human)
		}
	}
	c.rate(e, Promoted{From: ref, Text: present(got.Text), Tags: got.Tags}, fresh)
}

// rate takes a tagged entry or a capture, whose tags are its score. An agent's statement stays in
// the log without support by a person's word, a commit or a call's result, however often the agent
// repeats the statement.
func (c *curator) rate(e *Entry, p Promoted, today bool) {
	if len(p.Tags) == 0 || agents(e) || e.State == stateSuperseded || e.State == stateOpen || e.Kind == markdownstore.UnitTable || !c.fits(p.Text, p.Tags...) || !c.fits(e.Plain, p.Tags...) {
		return
	}
	p.Supersedes, p.Why = []string{}, p.Tags.names()
	for _, t := range p.Tags {
		p.Score = max(p.Score, tagScore[t]) + tagScore[t]/4
	}
	if n := min(c.days[Key(e.Plain)]-1, mostRepeat); n > 0 {
		p.Why = append(p.Why, "repeated")
		p.Score += float64(n) * scoreRepeat
	}
	if today {
		p.Score += scoreToday
	}
	if _, answer, ok := choice.Parts(p.Text); ok && choice.Agrees(answer) {
		p.Score -= scoreAgreed
	}
	c.found = append(c.found, p)
}

// agents reports whether an entry is an agent's own statement.
func agents(e *Entry) bool {
	return choice.ByAgent(e.Plain) || strings.HasPrefix(e.Plain, quotesAgent) || strings.HasPrefix(e.ID, "me-")
}

// fits reports whether a text can be an entry that memory neither holds nor has forgotten. A
// person's decision may be a few words long.
func (c *curator) fits(text string, tags ...tag) bool {
	short := len(tags) > 1 && slices.Contains(tags, human) && wordCount(text) == leastFact-1
	return (short || !vague(text)) && !c.known.holds(text) && (c.Retired == nil || !c.Retired(KeyHash(text)))
}

// leastFact is the least number of words of a fact, since a shorter text comes from a form or a
// heartbeat. leastImplied is the least number for a text that only its heading calls a lesson.
const leastFact, leastImplied = 4, 6

// wordCount counts words.
func wordCount(text string) int { return weight(words(text)) / 2 }

// vague reports whether a text has no meaning by itself.
func vague(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return wordCount(text) < leastFact || last == ':' || last == '：'
}

// addDays returns the date n days after another.
func addDays(day string, n int) string {
	t, ok := markdownstore.ParseDate(day, time.UTC)
	if !ok {
		return day
	}
	return t.AddDate(0, 0, n).Format(time.DateOnly)
}
