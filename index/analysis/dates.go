package analysis

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Span is a period of whole days, from From to To inclusive.
type Span struct{ From, To time.Time }

// String returns a span as YYYY-MM-DD, YYYY-MM or YYYY if it is a day, a month or a year. Otherwise it
// returns the first and the last day with a slash between them, as in ISO 8601.
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
	// Line is the line of the mention in the text, from 0.
	Line int
	// Text is the wording, such as "last week".
	Text string
	// Literal reports whether the text has the full date with its year.
	Literal bool
}

// DatesIn returns the times that a text mentions. trail holds the headings above the text, and day,
// YYYY-MM-DD or "", is the day on which it was written. For the text under a heading that begins with
// a full date, that date replaces day. So does the date at the beginning of a line for the line. If
// day is "", a date anywhere in a heading is used. Text without a day has no mentions.
//
// An index holds words for the mentions, so [Version] must change if DatesIn finds others.
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

// DatesAsked returns the times that a question mentions, which is asked on day. Unlike in a text, the
// name of a feast means the last one, "today" is a mention, "the last week" is the week before this
// one, and capitals don't matter.
func DatesAsked(question string, day time.Time) []Mention {
	f := finder{day: midnight(day), asked: true}
	f.read(question, "", 0)
	return f.found
}

// finder collects the mentions of a text.
type finder struct {
	// day is the day on which the current text was written, zero if it is unknown. If a heading
	// names day, level is the heading's level, and above is the day that is valid after its section.
	day, above time.Time
	level      int
	found      []Mention
	words      []dateWord
	// asked is true for a question.
	asked bool
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

// under takes a heading of a level into account: it ends the sections of this level and below, and
// may change the day.
func (f *finder) under(h string, level int) {
	if f.level >= level {
		f.day, f.level = f.above, 0
	}
	was := f.day
	if f.heading(h); !f.day.Equal(was) && f.level == 0 {
		f.above, f.level = was, level
	}
}

// heading sets the day if the heading names one.
func (f *finder) heading(h string) {
	if d, ok := begins(h); ok {
		f.day = d
	} else if d, ok := full(h); ok && f.day.IsZero() {
		f.day = d
	}
}

// add adds the mention line[from:to], unless it is code or part of a name.
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

// begins returns the date at the beginning of a line. A list marker, a checkbox or a bracket may
// precede the date.
func begins(line string) (time.Time, bool) {
	line = strings.TrimLeft(line, "-*+[]( x")
	return full(line[:min(len(line), 11)])
}

// DateWords returns the words by which a search finds a text for the times that it mentions and for
// the day on which it was written. A span of up to mostDays days has the words YYYYMMDD of its days
// and YYYYMM of its months, a longer one those of its months, and one of over 92 days the word YYYY.
// The words are separated by spaces. None is repeated.
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

// Words returns the words of a question's span, by which a search finds texts about that time.
func (s Span) Words() []string {
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
	if !slices.Contains(*w, s) {
		*w = append(*w, s)
	}
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

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// The units of time.
const (
	unitDay = iota + 1
	unitWeek
	unitMonth
	unitYear
	unitWeekend
)

func oneDay(d time.Time, n int) Span { d = d.AddDate(0, 0, n); return Span{d, d} }

// month returns the month that is n months after the month of d.
func month(d time.Time, n int) Span {
	first := time.Date(d.Year(), d.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	return Span{first, first.AddDate(0, 1, -1)}
}

func year(y int) Span {
	return Span{time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(y, 12, 31, 0, 0, 0, 0, time.UTC)}
}

// weekday returns a day of the week that is n weeks after the week of d. wd is 0 for Monday, with which
// weeks begin.
func weekday(d time.Time, n, wd int) Span { return oneDay(d, 7*n+wd-place(d)) }

// place returns the weekday of a day, 0 for Monday.
func place(d time.Time) int { return (int(d.Weekday()) + 6) % 7 }

// unit returns the calendar unit that is n units after the unit of d. ok is false if people mean
// different units by it.
func unit(d time.Time, u, n int) (Span, bool) {
	switch u {
	case unitDay:
		return oneDay(d, n), true
	case unitWeek:
		return Span{weekday(d, n, 0).From, weekday(d, n, 6).To}, true
	case unitMonth:
		return month(d, n), true
	case unitYear:
		return year(d.Year() + n), true
	case unitWeekend:
		// On Wednesday, "next weekend" may be the coming weekend or the one after it.
		return Span{weekday(d, n, 5).From, weekday(d, n, 6).To}, n < 0 || place(d) >= 5
	}
	return Span{}, false
}

// mostAway bounds the number of units in "n units ago".
const mostAway = 99

// away returns the time that is n units after d, as vaguely as people mean it. "Two weeks ago" is a
// span of seven days, and "two months ago" is a whole month.
func away(d time.Time, u, n int) (Span, bool) {
	if n == 0 || n > mostAway || n < -mostAway {
		return Span{}, false
	}
	if u == unitWeek {
		m := d.AddDate(0, 0, 7*n)
		return Span{m.AddDate(0, 0, -3), m.AddDate(0, 0, 3)}, true
	}
	return unit(d, u, n)
}

// lastDay returns the last day with a weekday before d. nextDay returns that weekday in the week after
// d. For nextDay, ok is false if the weekday is still to come in the week of d: on Monday, "next
// Friday" is ambiguous.
func lastDay(d time.Time, wd int) (Span, bool) { return oneDay(d, -1-(place(d)-wd+6)%7), true }

func nextDay(d time.Time, wd int) (Span, bool) {
	return weekday(d, 1, wd), wd <= place(d)
}

// lastMonth and nextMonth return the month m of the year before and after the year of d. ok is false if
// the same name may mean a month of d's own year: in August, "last May" is ambiguous.
func lastMonth(d time.Time, m int) (Span, bool) {
	return month(d, m-int(d.Month())-12), m >= int(d.Month())
}

func nextMonth(d time.Time, m int) (Span, bool) {
	return month(d, m-int(d.Month())+12), m <= int(d.Month())
}

// dayOf returns a day of a month of year y. If y is 0, it returns the one that is nearest to d. ok is
// false if there is no such day.
func dayOf(d time.Time, y, m, day int) (Span, bool) {
	at := func(y int) (time.Time, bool) {
		t := time.Date(y, time.Month(m), day, 0, 0, 0, 0, time.UTC)
		return t, m >= 1 && m <= 12 && t.Day() == day && int(t.Month()) == m
	}
	if y != 0 {
		t, ok := at(y)
		return Span{t, t}, ok
	}
	return nearest(d, at)
}

// nearest returns the occurrence of a yearly event that is nearest to a day.
func nearest(d time.Time, at func(y int) (time.Time, bool)) (best Span, ok bool) {
	for y := d.Year() - 1; y <= d.Year()+1; y++ {
		if t, is := at(y); is && (!ok || t.Sub(d).Abs() < best.From.Sub(d).Abs()) {
			best, ok = Span{t, t}, true
		}
	}
	return best, ok
}

// weekOf returns the nth week of a month of year y. The first week begins on the first day of the
// month. If y is 0, the month is the one that is nearest to d.
func weekOf(d time.Time, n, m, y int) (Span, bool) {
	first, ok := dayOf(d, y, m, 7*(n-1)+1)
	return Span{first.From, first.From.AddDate(0, 0, 6)}, ok && n >= 1 && n <= 4
}

// easter returns Easter Sunday of a year (the Gregorian computus of Meeus, Jones and Butcher).
func easter(y int) time.Time {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Date(y, time.Month(n/31), n%31+1, 0, 0, 0, 0, time.UTC)
}

// feast is a day of every year. If month is 0, day counts the days after Easter Sunday.
type feast struct{ month, day int }

func (f feast) in(y int) (time.Time, bool) {
	if f.month == 0 {
		return easter(y).AddDate(0, 0, f.day), true
	}
	return time.Date(y, time.Month(f.month), f.day, 0, 0, 0, 0, time.UTC), true
}

// soon is the largest distance of a feast that a text names without "last" or "next".
const soon = 31 * 24 * time.Hour

// feastNear returns the occurrence of a feast that is nearest to d. ok is false if it is not near.
func feastNear(d time.Time, f feast) (Span, bool) {
	s, _ := nearest(d, f.in)
	return s, s.From.Sub(d).Abs() <= soon
}

// feastFrom returns the last occurrence of a feast before d if way is -1, or the next one after d if
// way is 1.
func feastFrom(d time.Time, f feast, way int) (Span, bool) {
	t, _ := f.in(d.Year())
	if way < 0 && !t.Before(d) || way > 0 && !t.After(d) {
		t, _ = f.in(d.Year() + way)
	}
	return Span{t, t}, true
}
