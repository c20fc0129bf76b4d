package reuse

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Rate is how often a cell's units were needed, pooled over sessions.
type Rate struct {
	Cell
	Count
	// PerUnit is hits per thousand units, PerToken hits per million tokens. Low
	// and High bound the first when any one session is left out.
	PerUnit, PerToken, Low, High float64
}

// Rates pools sessions, in the order of tables, rows and columns.
func Rates(sessions []Counts) []Rate {
	sum := Counts{}
	for _, s := range sessions {
		for k, c := range s {
			sum.add(k, c)
		}
	}
	out := make([]Rate, 0, len(sum))
	for k, c := range sum {
		r := Rate{Cell: k, Count: c, PerUnit: per(1e3*c.Hits, c.Units), PerToken: per(1e6*c.Hits, c.Tokens), Low: math.Inf(1)}
		for _, s := range sessions {
			without := per(1e3*(c.Hits-s[k].Hits), c.Units-s[k].Units)
			r.Low, r.High = min(r.Low, without), max(r.High, without)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Rate) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return out
}

func per(hits, units float64) float64 {
	if units < 0.5 {
		return 0
	}
	return hits / units
}

// sortKey orders buckets by their number.
func (r *Rate) sortKey() string {
	from := 0
	fmt.Sscanf(r.Col, "%d", &from)
	return fmt.Sprintf("%s|%s|%06d", r.Table, r.Row, from)
}

// String returns the rate as a line of the table.
func (r *Rate) String() string {
	return fmt.Sprintf("%-32s %-26s %-10s hits %7.1f  per 1000 units %7.2f (%.2f to %.2f)  per 1M tokens %6.1f",
		r.Table, r.Row, r.Col, r.Hits, r.PerUnit, r.Low, r.High, r.PerToken)
}
