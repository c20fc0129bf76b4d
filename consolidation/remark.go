package consolidation

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/markdownstore"
)

// A log that people and agents write by themselves is read as remarks. A remark says one thing of
// one subject. Its words decide its worth, and not the form of its line.

// remark is one thing that a log says.
type remark struct {
	entry *Entry
	// last is the last line of the remark.
	last int
	// above are the label of the remark's list and the headings above it, the nearest first.
	above []string
	// label is the remark's own label, and text is the whole remark with its label. spoken reports
	// whether the text is a person's words.
	label, text string
	spoken      bool
	// field reports whether the label is a field of a form: several sections of the log have it.
	field bool

	words []string
	cues  cue
	// under are the cues of the label. names and values count the names in the text, and the
	// values among them.
	under         cue
	names, values int
}

// read sets the label, the words, the cues and the counts of a remark from its text.
func (r *remark) read() *remark {
	r.label, _ = label(r.text)
	plain := personWithin.ReplaceAllString(r.text, "")
	r.words, r.cues = words(plain), cuesOf(plain)
	r.names, r.values = len(nameIn.FindAllString(r.text, -1)), len(valueIn.FindAllString(r.text, -1))
	r.names += r.values
	r.under = headed(r.label)
	return r
}

var (
	// personWithin matches a word for a person that is a part of another word: "human-in-the-loop".
	personWithin = textutil.LazyRegexp("(?i)\\b(?:human|user|customer|client|owner|operator)-[\\w-]+")
	// valueIn matches values that one looks up: addresses, paths, prices, versions, identifiers.
	valueIn = textutil.LazyRegexp("https?://\\S+|[\\w.+-]+@[\\w-]+\\.\\w+|(?:^|[\\s(\"'=`])(?:~?/|[A-Z]:\\\\)[\\w.~\\\\/-]{3,}|[$€£¥]\\s?\\d|\\d\\s?[€円元]|\\b\\d+(?:\\.\\d+)+|\\b[\\w-]+\\.[a-z]{2,5}\\b|\\b\\d{4,5}\\b|\\b[0-9a-f]{6,}-?[0-9a-f-]*\\b|\\b[a-zA-Z]+\\d+\\b")
	// nameIn matches names: code, and words with a capital within a sentence.
	nameIn = textutil.LazyRegexp("`[^`]+`" + `|\b[a-z]+[A-Z]\w*|\w+_\w+|[\p{L}\d,)*_] +[*_"“(]*\p{Lu}[\p{L}\d-]+|[\p{Han}\p{Hiragana}\p{Katakana}]\s*[A-Za-z][\w.-]+`)
)

// has reports whether a remark has a cue.
func (r *remark) has(c cue) bool { return r.cues&c != 0 }

// starts reports whether one of a remark's first words has a cue.
func (r *remark) starts(c cue, within int) bool {
	return cuesIn(r.words, within)&c != 0
}

// mostLead is the most words, and mostHeading the most bytes, of a label or a heading that names the
// subject of the text below it.
const mostLead, mostHeading = 9, 80

// remarks reads a log. Entries that a caller does not choose are left out.
func (c *curator) remarks(f *file, choose func(i int) bool) []*remark {
	var out []*remark
	leads := listLabels(f.Entries)
	for i := range f.Entries {
		if !choose(i) {
			continue
		}
		e := governed(f, i)
		if e == nil || agents(e) || e.State != stateNone && e.State != stateDone || len(e.Tags) > 0 {
			continue
		}
		for _, p := range pieced(e) {
			out = append(out, c.said(p, leads[i])...)
		}
	}
	fields, seen := map[string]int{}, map[[2]string]bool{} // the sections that have a label
	for _, r := range out {
		if r.label != "" && len(r.above) > 0 && !seen[[2]string{r.label, r.above[0]}] {
			seen[[2]string{r.label, r.above[0]}] = true
			fields[r.label]++
		}
	}
	for _, r := range out {
		r.field = fields[r.label] >= formFiles && r.under&^headPassing == 0
	}
	return joined(out)
}

// said returns the remarks of one item or paragraph. An item that is short enough is one remark.
// A longer one is read in runs of sentences.
func (c *curator) said(e *Entry, lead string) []*remark {
	plain := oneLine(c.unformed(e))
	if plain == "" {
		return nil
	}
	above := slices.Clone(e.Trail)
	if lead != "" {
		above = append(above, lead)
	}
	slices.Reverse(above)
	if who, words := label(plain); wordCount(who) == 1 && cuesOf(who)&cuePerson != 0 && important(words) {
		return []*remark{(&remark{entry: e, last: e.EndLine, above: above, text: words, spoken: true}).read()}
	}
	n := mostFact
	if name, _ := label(plain); e.Kind != markdownstore.UnitItem && name == "" {
		n = mostFact / 3 // prose says several things
	}
	var out []*remark
	for _, text := range runs(plain, n) {
		out = append(out, (&remark{entry: e, last: e.EndLine, above: above, text: text}).read())
	}
	return out
}

// runs cuts a text into runs of sentences of at most about n characters each. A run begins where a
// sentence needs no other sentence before it.
func runs(text string, n int) []string {
	if utf8.RuneCountInString(text) <= n {
		return []string{text}
	}
	var out []string
	for s := range textutil.Sentences(text) {
		if last := len(out) - 1; last >= 0 && utf8.RuneCountInString(out[last]+s) < mostFact && (leans(s) || utf8.RuneCountInString(out[last]+s) < n && n == mostFact) {
			out[last] += " " + s
			continue
		}
		out = append(out, s)
	}
	return out
}

// leans reports whether a sentence needs the sentence before it.
func leans(s string) bool { return startOf(s)&(cueLeaning|cueExcept|cueOpening) != 0 }

// joined joins remarks that belong together: a cause, its remedy and its lesson in neighbouring
// lines, or the first sentences of these.
func joined(rs []*remark) []*remark {
	var out []*remark
	for _, r := range rs {
		if n := len(out) - 1; n >= 0 && out[n].under&headCause != 0 && r.under&(headRemedy|headCause|headLesson) != 0 && slices.Equal(out[n].entry.Trail, r.entry.Trail) && r.entry.StartLine <= out[n].last+2 {
			was, is := out[n].text, r.text
			if utf8.RuneCountInString(was+is) >= mostFact {
				was, is = slices.Collect(textutil.Sentences(was))[0], slices.Collect(textutil.Sentences(is))[0]
			}
			if was = strings.TrimRight(was, " ;,"); utf8.RuneCountInString(was+is) < mostFact {
				out[n].text, out[n].last = was+ending(was)+" "+is, r.last
				out[n].read()
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// headed returns the cues that a heading or a label gives to the text below or after it. It returns 0
// for a text that is too long for a heading. A heading that reports a request gives no cue of a wish,
// a decision or a lesson.
func headed(s string) cue {
	if len(s) > 2*mostHeading || s == "" {
		return 0
	}
	of := cuesOf(s)
	cues := of &^ (headPassing - 1) &^ headAny
	if of&cuePerson != 0 && of&cueAsk != 0 {
		cues &^= headWish | headDecision | headLesson // "The user asked"
	}
	return cues
}

// around looks at the label of a remark and at the headings above it, the nearest first. near has the
// cues of the first one that gives any. passing reports whether the label or the nearest heading
// announces what holds for the day only, and outer whether any does before near is found. copied
// reports whether any announces copies of other texts.
func (r *remark) around() (near cue, passing, outer, copied bool) {
	of := r.above
	if r.label != "" {
		of = append([]string{r.label}, r.above...)
	}
	for i, s := range of {
		h := headed(s)
		if i == 0 && r.label != "" && wordCount(s) > 2 {
			h &^= headPassing // such a label speaks of something
		}
		if h&headPassing != 0 && (h&(headDecision|headWish|headLesson) == 0 || cuesOf(s)&cueMoment != 0) && near == 0 {
			passing, outer = passing || i == 0 || i == 1 && r.label != "", true
		}
		copied = copied || h&headDump != 0
		if near == 0 {
			near = h &^ (headPassing | headDump)
		}
	}
	return near, passing, outer, copied
}

// subject returns the nearest label or heading above a remark that names something, without the
// words that every heading has.
func (r *remark) subject() string {
	for i, h := range r.above {
		if i == len(r.above)-1 && len(r.above) > 1 && (firstDate(h) != "" || namesDay(h, r.entry.Date)) {
			continue
		}
		h = headingNoise.ReplaceAllString(strings.ReplaceAll(h, "**", ""), "")
		h = strings.Trim(strings.NewReplacer("（）", "", "()", "").Replace(h), " *_:：—–-|·,;")
		if name, rest := label(h); tagging(name) { // "Decision: where the queue is shown"
			h = rest
		}
		if h != "" && wordCount(h) <= mostLead && telling(h) {
			return h
		}
	}
	return ""
}

// namesDay reports whether a heading has the year and the day of a date, as in "Friday, March 6, 2026"
// or "2026年3月6日".
func namesDay(heading, date string) bool {
	if len(date) != len(time.DateOnly) {
		return false
	}
	numbers := strings.FieldsFunc(heading, func(r rune) bool { return r < '0' || r > '9' })
	return slices.Contains(numbers, date[:4]) && (slices.Contains(numbers, date[8:]) || slices.Contains(numbers, strings.TrimPrefix(date[8:], "0")))
}

// headingNoise matches the parts of a heading that do not name its subject: its number, its signs,
// its dates and times, and its remarks in parentheses.
var headingNoise = textutil.LazyRegexp("(?i)\\s*[-—–|]?\\s*(?:\\d{4}-\\d{2}-\\d{2}|~?\\d{1,2}:\\d{2}(?::\\d{2})?)(?:\\s*[ap]m)?(?:\\s*(?:utc|gmt|[a-z]{1,2}[sd]?t|jst|cet|cest))?\\b(?:\\s*[-—–|:]+)?|" +
	"^\\[[^\\]]*\\]|^[^\\p{L}\\p{N}`~/\\[]*(?:\\d{1,3}(?:[.):]\\s+|\\x{FE0F}?\\x{20E3}))?[^\\p{L}\\p{N}`~/\\[]*|\\s[(（\\[].*$")

// telling reports whether a heading names a subject. It does not if it has only words that many
// headings have, such as "Notes".
func telling(h string) bool {
	ws := words(h)
	of := mentions(ws)
	for i, w := range ws {
		r, _ := utf8.DecodeRuneInString(w)
		if !unicode.IsLetter(r) || len(w) < 2 || ledger.Weightless(w) {
			continue
		}
		if !slices.ContainsFunc(of, func(m mention) bool { return m.from <= i && i < m.to && m.cue >= headPassing }) {
			return true
		}
	}
	return false
}

// label returns the label of an entry and the rest after the label. A label is the beginning
// before a colon or in bold letters. name is "" if the entry has no label.
func label(plain string) (name, rest string) {
	if strings.HasPrefix(plain, `"`) || strings.HasPrefix(plain, "“") {
		return "", plain
	}
	if strings.HasPrefix(plain, "**") {
		if at := strings.Index(plain[2:], "**"); at > 0 && at < 90 && wordCount(plain[2:2+at]) <= mostLead && !strings.HasSuffix(plain[2:2+at], ".") {
			return strings.Trim(plain[2:2+at], "*_ :："), strings.TrimLeft(plain[at+4:], ":：*_ —–-→")
		}
	}
	at := strings.IndexAny(plain, ":：")
	if at <= 0 || at > 60 || strings.HasPrefix(plain[at:], "://") || wordCount(plain[:at]) > 5 || strings.ContainsAny(plain[:at], "`.。") {
		return "", plain
	}
	return strings.Trim(plain[:at], "*_ "), strings.TrimLeft(plain[at:], ":：*_ ")
}

// listLabels returns for each entry the label of its list. The label is the item in which the
// entry is nested, or the line before the list if that line ends with a colon.
func listLabels(entries []*Entry) []string {
	out := make([]string, len(entries))
	type open struct {
		indent int
		label  string
	}
	var over []open
	last := 0
	for i, e := range entries {
		if i > 0 && !slices.Equal(e.Trail, entries[i-1].Trail) {
			over = nil
		}
		mark := bullet.FindString(firstLine(e.Text))
		indent, item := len(mark)-len(strings.TrimLeft(mark, " \t")), strings.TrimSpace(mark) != ""
		if !item {
			indent = -1
			if e.StartLine > last+2 {
				over = nil
			}
		}
		for len(over) > 0 && over[len(over)-1].indent >= indent {
			over = over[:len(over)-1]
		}
		if len(over) > 0 && item {
			out[i] = over[len(over)-1].label
		}
		name := strings.TrimRight(e.Plain, "*_ ")
		if name = strings.Trim(name, "*_ :："); leads(e.Plain) || item && wordCount(name) <= mostLead {
			over = append(over, open{indent, name})
		} else if indent >= 0 && len(over) > 0 {
			over = append(over, open{indent, over[len(over)-1].label})
		}
		last = e.EndLine
	}
	return out
}

// pieced returns the items of an entry that holds several, such as a list that follows its label
// without a blank line. Each item becomes a separate entry.
func pieced(e *Entry) (out []*Entry) {
	lines := strings.Split(e.Text, "\n")
	from := 0
	for i := 1; i <= len(lines); i++ {
		if i == len(lines) || strings.TrimSpace(bullet.FindString(lines[i])) != "" || strings.HasPrefix(lines[i], "**") {
			p := *e
			p.Text, p.StartLine, p.EndLine = strings.Join(lines[from:i], "\n"), e.StartLine+from, e.StartLine+i-1
			p.Plain, p.Tags = content(p.Text)
			p.Tags = e.Tags.with(p.Tags...)
			out, from = append(out, &p), i
		}
	}
	if len(out) < 2 {
		return []*Entry{e}
	}
	return out
}

// formFiles is the number of days that must have a line for the line to come from a form. It is also
// the number of sections of one log that must have a label for the label to be a form's field.
const formFiles = 3

// formKey returns the words of a line without its numbers, which differ from day to day in a form.
func formKey(line string) string {
	return strings.Join(slices.DeleteFunc(words(line), func(w string) bool { return strings.ContainsFunc(w, unicode.IsDigit) }), " ")
}

// formsOf returns the lines and headings that come from a form, by their [formKey]. It reads the logs
// up to a day, and leaves out the captures of sessions.
func (s *Snapshot) formsOf(day string) map[string]bool {
	last, days, out := map[string]string{}, map[string]int{}, map[string]bool{}
	for _, f := range s.Files {
		for _, e := range f.Entries {
			if !promotes(f, day) || strings.HasPrefix(e.ID, "fl-") {
				continue
			}
			for _, l := range append(strings.Split(e.Text, "\n"), e.Trail...) {
				if k := formKey(l); k != "" && last[k] != f.Date {
					last[k] = f.Date
					days[k]++
					out[k] = days[k] >= formFiles
				}
			}
		}
	}
	return out
}

// unformed returns an entry's content without a form's lines. A line whose label reveals its worth
// is kept, however many files have it.
func (c *curator) unformed(e *Entry) string {
	lines := strings.Split(e.Text, "\n")
	kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
		said, _ := label(strings.TrimLeft(l, "-*+ "))
		return c.forms[formKey(l)] && headed(said)&^headPassing == 0
	})
	if len(kept) == len(lines) {
		return e.Plain
	}
	plain, _ := content(strings.Join(kept, "\n"))
	return plain
}

// qualifies reports whether a text restricts the text before it. Such a text says nothing alone,
// and the text before it means something else without it.
func qualifies(text string) bool { return startOf(text)&(cueExcept|cueOpening) != 0 }

// restricts reports whether a heading or a lead limits when or whether the text below it holds.
func restricts(text string) bool { return cuesOf(text)&(cueOnly|cueExcept) != 0 }

// governed returns an entry with the text of its file that governs it: the lead of its list or
// the heading above, if they restrict it, and an item, a nested block or a paragraph right after
// it that does so. The result is nil for an entry that only restricts another entry.
func governed(f *file, i int) *Entry {
	e := f.Entries[i]
	if qualifies(e.Plain) && i > 0 && sameTrail(f.Entries[i-1], e) && !leads(f.Entries[i-1].Plain) {
		return nil
	}
	text := e.Plain
	for j := i + 1; !leads(text) && j < len(f.Entries) && sameTrail(e, f.Entries[j]) && qualifies(f.Entries[j].Plain); j++ {
		text = strings.TrimRight(text, " ;,")
		text += ending(text) + " " + f.Entries[j].Plain
	}
	lead := leadOf(f, i)
	if n := len(e.Trail); lead == "" && n > 0 {
		if h := strings.TrimRight(oneLine(e.Trail[n-1]), " :："); restricts(h) && !tagging(h) {
			lead = h + ":"
		}
	}
	if lead != "" {
		text = lead + " " + text
	}
	if text == e.Plain {
		return e
	}
	whole := *e
	whole.Plain = text
	return &whole
}

// ending returns the sign that a text lacks to end a sentence.
func ending(text string) string {
	if last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " *_`)\"'")); strings.ContainsRune(".。!?:", last) {
		return ""
	}
	return "."
}

func sameTrail(a, b *Entry) bool { return a.Path == b.Path && slices.Equal(a.Trail, b.Trail) }

// leadOf returns the paragraph that introduces the list of an item and restricts it, "" if no
// paragraph does.
func leadOf(f *file, i int) string {
	if f.Entries[i].Kind != markdownstore.UnitItem {
		return ""
	}
	for j := i - 1; j >= 0 && sameTrail(f.Entries[j], f.Entries[i]); j-- {
		if e := f.Entries[j]; e.Kind != markdownstore.UnitItem {
			if lead := strings.TrimSpace(e.Plain); leads(lead) && restricts(lead) && !tagging(lead) {
				return lead
			}
			return ""
		}
	}
	return ""
}

// tagging reports whether a label or a heading only means the same as a tag, such as "Decision".
func tagging(label string) bool {
	return headed(label)&(headDecision|headLesson) != 0 && !telling(label)
}
