package analysis

import (
	"strconv"
	"strings"
	"time"
)

// Span is a stretch of whole days, From and To inclusive.
type Span struct{ From, To time.Time }

// String returns a span as YYYY-MM-DD, YYYY-MM or YYYY if it is a day, a month or a
// year, else its first and its last day with a slash between them, as ISO 8601 has it.
func (s Span) String() string {
	next := s.To.AddDate(0, 0, 1)
	switch {
	case s.From.Equal(s.To):
		return s.From.Format(time.DateOnly)
	case s.From.Day() == 1 && s.From.AddDate(0, 1, 0).Equal(next):
		return s.From.Format("2006-01")
	case s.From.YearDay() == 1 && s.From.AddDate(1, 0, 0).Equal(next):
		return s.From.Format("2006")
	}
	return s.From.Format(time.DateOnly) + "/" + s.To.Format(time.DateOnly)
}

// Mention is a time that a text names.
type Mention struct {
	Span
	// Line is its line in the text, from 0.
	Line int
	// Text is how it is named there.
	Text string
	// Literal: the text has the date in full, year and all.
	Literal bool
}

// DatesIn finds the mentions in a text that is under headings and was written on a day,
// YYYY-MM-DD. A heading or line that begins with a full date replaces the day for the text under
// the heading or in the line. If no day is known, so does a heading with a date anywhere. Without
// a day there are no mentions.
//
// An index keeps words of them: [Version] must change when the mentions found here do.
func DatesIn(text string, trail []string, day string) []Mention {
	f := finder{}
	f.day, _ = time.Parse(time.DateOnly, day)
	for _, h := range trail {
		f.heading(h)
	}
	fenced := false
	for n := 0; text != ""; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		bare := strings.TrimLeft(line, " \t>")
		switch {
		case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
			fenced = !fenced
		case fenced:
		default:
			f.read(line, bare, n)
		}
	}
	return f.found
}

// DatesOf finds the mentions in one line that was written on a day.
func DatesOf(line string, day time.Time) []Mention {
	f := finder{day: midnight(day)}
	f.read(line, "", 0)
	return f.found
}

// finder collects the mentions of a text.
type finder struct {
	// day is the day on which it was written, zero if it is unknown; above is that
	// outside of the heading, of a level, that named it.
	day, above time.Time
	level      int
	found      []Mention
	words      []dateWord
}

// read finds the mentions of a line.
func (f *finder) read(line, bare string, n int) {
	if title := strings.TrimLeft(bare, "#"); len(title) < len(bare) {
		f.under(strings.TrimSpace(title), len(bare)-len(title))
	}
	day := f.day
	if d, ok := begins(bare); ok {
		day = d
	}
	if day.IsZero() {
		return
	}
	old := len(f.found)
	f.apart(line, day)
	f.together(line, day)
	for i := old; i < len(f.found); i++ {
		f.found[i].Line = n
	}
}

// under puts a heading of a level into force.
func (f *finder) under(h string, level int) {
	if f.level >= level {
		f.day, f.level = f.above, 0
	}
	was := f.day
	if f.heading(h); !f.day.Equal(was) && f.level == 0 {
		f.above, f.level = was, level
	}
}

// heading takes over the day that a heading names for the text under it.
func (f *finder) heading(h string) {
	if d, ok := begins(h); ok {
		f.day = d
	} else if d, ok := full(h); ok && f.day.IsZero() {
		f.day = d
	}
}

// add adds the text between two places of a line, unless it is code or part of a name.
func (f *finder) add(line string, from, to int, s Span, literal bool) {
	if from > 0 && strings.IndexByte("`=_/\\$@#.-", line[from-1]) >= 0 ||
		to < len(line) && strings.IndexByte("`=_/\\$@#", line[to]) >= 0 ||
		to+1 < len(line) && strings.IndexByte(".-:", line[to]) >= 0 && ofName(line[to+1]) ||
		strings.Count(line[:from], "`")%2 == 1 {
		return
	}
	f.found = append(f.found, Mention{Span: s, Text: line[from:to], Literal: literal})
}

func ofName(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// full returns the first date of the form YYYY-MM-DD in a text.
func full(s string) (time.Time, bool) {
	for i := 0; i+10 <= len(s); i++ {
		if s[i] != '1' && s[i] != '2' || s[i+4] != '-' || i > 0 && ofName(s[i-1]) || i+10 < len(s) && ofName(s[i+10]) && s[i+10] != 'T' {
			continue
		}
		if d, err := time.Parse(time.DateOnly, s[i:i+10]); err == nil && d.Year() >= 1900 {
			return d, true
		}
	}
	return time.Time{}, false
}

// begins returns the date that a line begins with, after the mark of an item, a box or a bracket.
func begins(line string) (time.Time, bool) {
	line = strings.TrimLeft(line, "-*+[]( x")
	return full(line[:min(len(line), 11)])
}

// DateWords returns the words by which a text is found for the times that it names, those
// of literal dates and the day that it was written on among them: YYYYMMDD for each day
// of a span up to a week or so, YYYYMM for its months, YYYY for a year. They are
// separated by spaces, each once.
func DateWords(text string, trail []string, day string) string {
	var w dayWords
	if d, err := time.Parse(time.DateOnly, day); err == nil {
		w.add(Span{d, d})
	}
	for _, m := range DatesIn(text, trail, day) {
		w.add(m.Span)
	}
	return strings.Join(w, " ")
}

// DateQuestion returns the words of a span by which texts of that time are found.
func DateQuestion(s Span) []string {
	var w dayWords
	switch days := s.days(); {
	case days > 92:
		for y := s.From.Year(); y <= s.To.Year() && len(w) < mostWords; y++ {
			w = append(w, strconv.Itoa(y))
		}
	case days > mostDays:
		w.months(s)
	default:
		w.eachDay(s)
	}
	return w
}

// mostDays is the length of the longest span of which each day is a word. mostWords is the
// largest number of words of a question's span.
const (
	mostDays  = 10
	mostWords = 12
)

func (s Span) days() int { return int(s.To.Sub(s.From).Hours()/24) + 1 }

type dayWords []string

func (w *dayWords) put(s string) {
	for _, have := range *w {
		if have == s {
			return
		}
	}
	*w = append(*w, s)
}

func (w *dayWords) add(s Span) {
	switch days := s.days(); {
	case days > 92:
		w.put(s.From.Format("2006"))
		return
	case days <= mostDays:
		w.eachDay(s)
	}
	w.months(s)
}

func (w *dayWords) eachDay(s Span) {
	for d := s.From; !d.After(s.To); d = d.AddDate(0, 0, 1) {
		w.put(d.Format("20060102"))
	}
}

func (w *dayWords) months(s Span) {
	for d := month(s.From, 0).From; !d.After(s.To); d = d.AddDate(0, 1, 0) {
		w.put(d.Format("200601"))
	}
}
