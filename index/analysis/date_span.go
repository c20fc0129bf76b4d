package analysis

import "time"

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// The units that times are counted in.
const (
	unitDay = iota + 1
	unitWeek
	unitMonth
	unitYear
	unitWeekend
)

func oneDay(d time.Time, n int) Span { d = d.AddDate(0, 0, n); return Span{d, d} }

// month is the month n months from a day.
func month(d time.Time, n int) Span {
	first := time.Date(d.Year(), d.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	return Span{first, first.AddDate(0, 1, -1)}
}

func year(y int) Span {
	return Span{time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(y, 12, 31, 0, 0, 0, 0, time.UTC)}
}

// weekday is the day of a week n weeks from a day's, Monday as 0. Weeks begin with it.
func weekday(d time.Time, n, wd int) Span { return oneDay(d, 7*n+wd-place(d)) }

// place is a day's place in its week, Monday as 0.
func place(d time.Time) int { return (int(d.Weekday()) + 6) % 7 }

// unit is the calendar unit n of them from a day; ok is false where people mean
// different ones.
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
		// On Wednesday, the next weekend may be the one to come or that after it.
		return Span{weekday(d, n, 5).From, weekday(d, n, 6).To}, n < 0 || place(d) >= 5
	}
	return Span{}, false
}

// mostAway is how many units away a time is at most.
const mostAway = 99

// away is the time n units from a day, as vaguely as people mean it: a week is the days
// round the one that is meant, a month the whole of it.
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

// lastDay is the last such day of the week before a day, nextDay the next one. On
// Monday, next Friday may be in this week or in the next: ok is false.
func lastDay(d time.Time, wd int) (Span, bool) { return oneDay(d, -1-(place(d)-wd+6)%7), true }

func nextDay(d time.Time, wd int) (Span, bool) {
	return weekday(d, 1, wd), wd <= place(d)
}

// lastMonth and nextMonth are the months of a name before and after a day's. In
// August, last May may be this year's or that of the year before: ok is false.
func lastMonth(d time.Time, m int) (Span, bool) {
	return month(d, m-int(d.Month())-12), m >= int(d.Month())
}

func nextMonth(d time.Time, m int) (Span, bool) {
	return month(d, m-int(d.Month())+12), m <= int(d.Month())
}

// dayOf is a day of a month in a year; ok is false if there is none. In year 0 it is the
// nearest to a day.
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

// weekOf is the nth week of a month of a year, 0 for the nearest, the first one beginning with its first day.
func weekOf(d time.Time, n, m, y int) (Span, bool) {
	first, ok := dayOf(d, y, m, 7*(n-1)+1)
	return Span{first.From, first.From.AddDate(0, 0, 6)}, ok && n >= 1 && n <= 4
}

// easter is Easter Sunday (the Gregorian computus of Meeus, Jones and Butcher).
func easter(y int) time.Time {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Date(y, time.Month(n/31), n%31+1, 0, 0, 0, 0, time.UTC)
}

// feast is a day of every year: of a month, or so many days from Easter.
type feast struct{ month, day int }

func (f feast) in(y int) (time.Time, bool) {
	if f.month == 0 {
		return easter(y).AddDate(0, 0, f.day), true
	}
	return time.Date(y, time.Month(f.month), f.day, 0, 0, 0, 0, time.UTC), true
}

// soon is how near a feast is that is named without saying which.
const soon = 31 * 24 * time.Hour

// feastNear is the feast nearest to a day, if it is near.
func feastNear(d time.Time, f feast) (Span, bool) {
	s, _ := nearest(d, f.in)
	return s, s.From.Sub(d).Abs() <= soon
}

// feastFrom is the last feast before a day (way −1) or the next after it (1).
func feastFrom(d time.Time, f feast, way int) (Span, bool) {
	t, _ := f.in(d.Year())
	if way < 0 && !t.Before(d) || way > 0 && !t.After(d) {
		t, _ = f.in(d.Year() + way)
	}
	return Span{t, t}, true
}
