package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
)

// dated is an expression of time in a text and the date that it means. The expression is relative
// to the day on which the text was written ("yesterday", "letzte Woche"), or lacks the year ("on
// 7 May").
type dated struct {
	// Line is the line of the expression, counted like the hit's lines.
	Line int `json:"line"`
	// Text is the expression, in the words of the text.
	Text string `json:"text"`
	// Date is YYYY-MM-DD, YYYY-MM or YYYY. For any other period it is the first day and the last
	// day, with a slash between them.
	Date string `json:"date"`
}

// told holds the times that a text of a given day names.
type told struct {
	day   string
	times []analysis.Mention
}

// times returns the times that a text names. trail are the headings above the text. day is the
// day on which it was written.
func (r *read) times(text string, trail []string, day string) []analysis.Mention {
	if t := r.told.Load(); t != nil && t.day == day {
		return t.times
	}
	t := &told{day, analysis.DatesIn(text, trail, day)}
	for i := range t.times {
		t.times[i].Text = strings.Clone(t.times[i].Text) // and not the whole text
	}
	r.told.Store(t)
	return t.times
}

// datesOf returns the times that a hit names, except full dates such as "2026-03-01".
func datesOf(h *Hit) (out []dated) {
	var times []analysis.Mention
	if h.piece != nil {
		times = h.piece.times(h.Text, h.Trail, h.Date)
	} else {
		times = analysis.DatesIn(h.Text, h.Trail, h.Date)
	}
	for _, m := range times {
		if !m.Literal {
			out = append(out, dated{h.StartLine + m.Line, m.Text, m.String()})
		}
	}
	return out
}

// appendDates adds the dates that are named in the shown lines of a segment.
func appendDates(to []dated, s segment) []dated {
	for _, d := range s.hit.Dates {
		if !slices.Contains(to, d) && slices.ContainsFunc(s.lines, func(l line) bool { return l.no == d.Line && strings.Contains(l.text, d.Text) }) {
			to = append(to, d)
		}
	}
	return to
}

// DatesText returns the dates in one line: "yesterday = 2023-05-07; last week =
// 2023-05-01/2023-05-07". An expression that means different days in two lines is preceded by its
// line.
func DatesText(ds []dated) string {
	var parts []string
	for _, d := range ds {
		s := d.Text + " = " + d.Date
		if slices.ContainsFunc(ds, func(o dated) bool { return o.Date != d.Date && strings.EqualFold(o.Text, d.Text) }) {
			s = fmt.Sprintf("L%d %s", d.Line, s)
		}
		if !slices.ContainsFunc(parts, func(p string) bool { return strings.EqualFold(p, s) }) {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// date finds the passages that mention the time that the question names, and computes the weight of
// such a mention.
func (r *refiner) date() {
	if !r.when.named() || r.sig.Time == 0 {
		return
	}
	n := 0
	for _, p := range r.places {
		for _, m := range p.times(p.text(), p.trail, p.chunk.hit.Date) {
			p.dated = p.dated || r.when.covers(m.Span)
		}
		if p.dated {
			n++
		}
	}
	r.day = idf(r.total(), float64(n))
}

// covers reports whether a span that a text mentions matches the time: the span is within the
// time, or is a few days long and overlaps the time.
func (w when) covers(m analysis.Span) bool {
	if w.months&(1<<m.From.Month()) != 0 && m.From.Month() == m.To.Month() && m.From.Year() == m.To.Year() {
		return true
	}
	few := m.To.Sub(m.From) < leastAfter
	return slices.ContainsFunc(w.stretches, func(s stretch) bool {
		if few {
			return m.From.Before(s.to) && !m.To.Before(s.from)
		}
		return !m.From.Before(s.from) && m.To.Before(s.to)
	})
}

// monthYears is the number of years for which a month without a year is looked for. mostDayWords
// is the largest number of words that are looked for.
const (
	monthYears   = 3
	mostDayWords = 12
)

// words returns the words by which an index finds texts of the time. now is the moment of the
// question.
func (w when) words(now time.Time) (out []string) {
	for _, s := range w.stretches {
		out = append(out, analysis.Span{From: s.from, To: s.to.AddDate(0, 0, -1)}.Words()...)
	}
	for m := time.January; m <= time.December; m++ {
		for y := range monthYears {
			if w.months&(1<<m) != 0 {
				out = append(out, fmt.Sprintf("%d%02d", now.Year()-y, m))
			}
		}
	}
	return out[:min(len(out), mostDayWords)]
}
