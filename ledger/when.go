package ledger

import (
	"slices"
	"strings"
	"time"
)

// SaysTime reports whether a text names a day, a time of day, a weekday or a month.
func SaysTime(text string) bool {
	ts := tokens(text)
	return slices.ContainsFunc(ts, func(t token) bool { return t.weekday > 0 || t.month > 0 && t.raw != t.low }) || len(timesIn(ts)) > 0
}

// timeAt is a day or a time of day, from one token of a text to another one.
type timeAt struct {
	Value
	from, to int
}

func timesIn(ts []token) (out []timeAt) {
	for i := 0; i < len(ts); i++ {
		if v, n := lexiconOf().valueAt(ts[i:]); n > 0 && (v.Kind == kindDate || v.Kind == kindClock) {
			out = append(out, timeAt{v, i, i + n})
			i += n - 1
		}
	}
	return out
}

// staleAfter is how long what was said as of a day holds without being looked at, our choice.
const staleAfter = 180 * 24 * time.Hour

// Stale returns the day since which a line is out of date, and whether the line calls the day one
// that is yet to come: "As of 2023-02-01 we use Jenkins", "Next release: 2023-03-10". It returns ""
// if the line is up to date or tells of the past.
func Stale(line string, now time.Time) (day string, ahead bool) {
	if !strings.Contains(line, "20") || strings.Contains(line, "~~") {
		return "", false
	}
	ts := tokens(line)
	for _, t := range timesIn(ts) {
		at, err := time.Parse(time.DateOnly, t.Text)
		if t.Kind != kindDate || err != nil || t.from == 0 {
			continue
		}
		before := lows(ts[:t.from])
		m := meanings()
		said, _ := m["told"].find(lows(ts))
		if said >= 0 {
			continue
		}
		if i, n := m["as of"].find(before[max(0, len(before)-3):]); i >= 0 && i+n == min(len(before), 3) && now.Sub(at) > staleAfter {
			return t.Text, false
		}
		if i, _ := m["ahead"].find(before[max(0, len(before)-leadToDay):]); i >= 0 && now.Sub(at) > 48*time.Hour {
			return t.Text, true
		}
	}
	return "", false
}

// leadToDay is the most words between a word for what is ahead and its day, our choice.
const leadToDay = 6
