package retrieval

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/internal/textutil"
)

// stretch is a range of days. It includes from and excludes to.
type stretch struct{ from, to time.Time }

// when is the time that a question names.
type when struct {
	stretches []stretch
	// months are the months that the question names without a year. January is bit 1.
	months uint16
}

// named reports whether a question names any time.
func (w when) named() bool { return w.months != 0 || len(w.stretches) > 0 }

// People write about an event until some time after it: about as long as the event lasts, within
// these bounds. They mention an event of May also in June, and an event of one day within the week.
const (
	leastAfter = 7 * 24 * time.Hour
	mostAfter  = 31 * 24 * time.Hour
)

// near reports whether a note of the day date (YYYY-MM-DD) may be about the time: date is within
// the time, or soon after it.
func (w when) near(date string) bool {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil || !w.named() {
		return false
	}
	last := d.AddDate(0, 0, -d.Day()).Month()
	if w.months&(1<<d.Month()|1<<last) != 0 {
		return true
	}
	for _, s := range w.stretches {
		after := min(max(s.to.Sub(s.from), leastAfter), mostAfter)
		if !d.Before(s.from) && d.Before(s.to.Add(after)) {
			return true
		}
	}
	return false
}

// The forms of dates.
var (
	isoDate     = textutil.LazyRegexp(`\b((?:19|20)\d\d)[-/.](\d{1,2})(?:[-/.](\d{1,2}))?\b`)
	dottedDate  = textutil.LazyRegexp(`\b(\d{1,2})[./](\d{1,2})[./]((?:19|20)\d\d)\b`)
	chineseDate = textutil.LazyRegexp(`(?:((?:19|20)\d\d)\s*年\s*)?(\d{1,2}|十[一二]?|[一二三四五六七八九])\s*月(?:\s*(\d{1,2})\s*[日号])?`)
	yearAlone   = textutil.LazyRegexp(`(?:^|[^\d\p{L}.-])((?:19|20)\d\d)(?:年|$|[^\d\p{L}-])`)
	monthWord   = textutil.LazyRegexp(`(?i)(?:\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?)?(?:^|\b|\s)(` + oneOf(monthNames) + `)\b\.?(?:\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(?:of\s+|de\s+|del\s+)?((?:19|20)\d\d)\b)?`)
	beforeWords = textutil.LazyRegexp(`(?i)\b(` + count + `)\s+(` + oneOf(unitNames) + `)\s+(before|after|vor|nach|antes|después|despues)\b|(` + count + `)\s*个?\s*(天|日|周|星期|月|年)(之前|之后|前|后)`)
)

// whenOf parses the time that a question names. It guesses no year for months and days without a
// year. Relative times are counted from now.
func whenOf(text string, now time.Time) when {
	r := reader{text: text, today: time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)}
	r.dates()
	r.monthNames()
	r.mentions()
	r.years()
	r.shift()
	return r.when
}

// years reads years without a month or day. It does nothing if the text names another time.
func (r *reader) years() {
	if len(r.stretches) > 0 || r.months != 0 || !strings.ContainsAny(r.text, "0123456789") {
		return
	}
	for _, m := range yearAlone.FindAllStringSubmatch(r.text, -1) {
		r.add(date(numeral(m[1]), 1, 1), 1, 0, 0)
	}
}

// reader collects the times in a text. It blanks out the parts that it has read.
type reader struct {
	when
	text  string
	today time.Time
}

func date(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

// add adds a stretch of the given length that begins on the day from.
func (r *reader) add(from time.Time, years, months, days int) {
	r.stretches = append(r.stretches, stretch{from, from.AddDate(years, months, days)})
}

// each calls f for every match of a form and blanks the match out, unless f returns false.
func (r *reader) each(re *textutil.Regexp, f func(m []string) bool) {
	r.text = re.ReplaceAllStringFunc(r.text, func(s string) string {
		if f(re.FindStringSubmatch(s)) {
			return strings.Repeat(" ", len(s))
		}
		return s
	})
}

// ymd adds a date. y or d may be 0 if unknown.
func (r *reader) ymd(y, m, d int) bool {
	switch {
	case m < 1 || m > 12 || d > 31:
		return false
	case y > 0 && d > 0:
		r.add(date(y, m, d), 0, 0, 1)
	case y > 0:
		r.add(date(y, m, 1), 0, 1, 0)
	case d > 0:
		// The question most likely means the last such day before today.
		day := date(r.today.Year(), m, d)
		if day.After(r.today) {
			day = date(r.today.Year()-1, m, d)
		}
		r.add(day, 0, 0, 1)
		r.months |= 1 << m
	default:
		r.months |= 1 << m
	}
	return true
}

// dates reads dates in digits. Regular expressions are slow, so a text without digits is not
// matched.
func (r *reader) dates() {
	if strings.Contains(r.text, "月") {
		r.each(chineseDate, func(m []string) bool { return r.ymd(numeral(m[1]), numeral(m[2]), numeral(m[3])) })
	}
	if !strings.ContainsAny(r.text, "0123456789") {
		return
	}
	r.each(isoDate, func(m []string) bool { return r.ymd(numeral(m[1]), numeral(m[2]), numeral(m[3])) })
	r.each(dottedDate, func(m []string) bool { return r.ymd(numeral(m[3]), numeral(m[2]), numeral(m[1])) })
}

// monthNames reads months in words. May and March are also other words, so without a number next
// to them they need a capital letter or "in".
func (r *reader) monthNames() {
	if holdsAny(folded(r.text), slices.Collect(maps.Keys(monthNames))) {
		r.monthsIn()
	}
}

func (r *reader) monthsIn() {
	first := strings.TrimSpace(r.text)
	for _, at := range monthWord.FindAllStringSubmatchIndex(r.text, -1) {
		group := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return r.text[at[2*i]:at[2*i+1]]
		}
		word, day, year := group(2), numeral(group(1)+group(3)), numeral(group(4))
		if doubtful[strings.ToLower(word)] && day == 0 && year == 0 {
			before := strings.ToLower(strings.TrimSpace(r.text[:at[0]]))
			small := word[0] >= 'a'
			if small && !strings.HasSuffix(before, "in") || strings.HasPrefix(first, word) {
				continue
			}
		}
		r.ymd(year, monthNames[strings.ToLower(word)], day)
	}
	r.each(monthWord, func([]string) bool { return r.named() })
}

// mentions reads names of times, such as "three weeks ago" and "last Christmas".
func (r *reader) mentions() {
	for _, m := range analysis.DatesAsked(r.text, r.today) {
		r.text = strings.Replace(r.text, m.Text, strings.Repeat(" ", len(m.Text)), 1)
		r.add(m.From, 0, 0, int(m.To.Sub(m.From).Hours()/24)+1)
	}
}

// shift moves the times that follow "two days before" or "a week after". In Chinese the time
// comes before such words.
func (r *reader) shift() {
	if len(r.stretches) == 0 {
		return
	}
	m := beforeWords.FindStringSubmatch(r.text)
	if m == nil {
		return
	}
	n := numeral(m[1] + m[4])
	switch strings.ToLower(m[3] + m[6]) {
	case "before", "vor", "antes", "前", "之前":
		n = -n
	}
	by := [...]struct{ months, days int }{{0, n}, {0, 7 * n}, {n, 0}, {12 * n, 0}}[unitNames[strings.ToLower(m[2]+m[5])]-1]
	for i, s := range r.stretches {
		r.stretches[i] = stretch{s.from.AddDate(0, by.months, by.days), s.to.AddDate(0, by.months, by.days)}
	}
	r.months = 0
}

// numeral reads a number in digits or words. It returns 0 if s is not a number.
func numeral(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return numberNames[strings.ToLower(s)]
}
