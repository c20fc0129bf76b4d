package economics

import (
	"math"
	"slices"

	"github.com/memkernel/memkernel/replay"
)

// spread is a figure over sessions: its median and its worst value.
type spread struct {
	median, worst float64
	n             int
}

// spreadOf takes the values that are numbers. high reports whether a high value is
// bad.
func spreadOf(values []float64, high bool) spread {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(v) == 0 {
		return spread{math.NaN(), math.NaN(), 0}
	}
	slices.Sort(v)
	s := spread{median: (v[(len(v)-1)/2] + v[len(v)/2]) / 2, worst: v[0], n: len(v)}
	if high {
		s.worst = v[len(v)-1]
	}
	return s
}

// cell selects rows of one regime and room.
type cell struct {
	regime string
	room   int
}

// of maps sessions to the rows of a policy in a cell.
func (r *Report) of(c cell, policy string) map[string]*Row {
	out := map[string]*Row{}
	for i := range r.Rows {
		if w := &r.Rows[i]; w.Regime == c.regime && w.Room == c.room && w.Policy == policy {
			out[w.Session] = w
		}
	}
	return out
}

// each computes a figure per session from a policy's row and append-late's.
func (r *Report) each(c cell, policy string, f func(own, late *Row) float64) []float64 {
	return r.against(c, policy, replay.AppendLate, f)
}

// against is each with another policy to compare with.
func (r *Report) against(c cell, policy, other string, f func(own, other *Row) float64) []float64 {
	own, base := r.of(c, policy), r.of(c, other)
	var out []float64
	for _, s := range r.Options.Sessions {
		if a, b := own[s.Name], base[s.Name]; a != nil && b != nil {
			out = append(out, f(a, b))
		}
	}
	return out
}

// The figures of a row. NaN is one that the session doesn't have: a price that
// is unknown, or nothing to divide by.
func net(w *Row) float64   { return value(w.Totals.NetCostUSD) }
func bound(w *Row) float64 { return value(w.Bound.NetCostUSD) }

// whole returns the net cost plus what it would cost to get back what was needed
// and was not shown.
func whole(w *Row) float64 {
	return net(w) + value(w.Totals.ResolutionsUSD) + value(w.Totals.LostUSD)
}

// bill is the whole one: fixed part, input, summary calls and answers.
func bill(w *Row) float64 { return value(w.Totals.BillUSD()) }

func billRatio(own, late *Row) float64 { return over(bill(own), bill(late)) }
func ready(own, _ *Row) float64 {
	if own.Totals.Actions == 0 {
		return math.NaN()
	}
	return own.Totals.ActionsReady
}

// bills sums the whole bills up.
func (r *Report) bills(c cell, policy string) (usd float64) {
	for _, w := range r.of(c, policy) {
		usd += bill(w)
	}
	return usd
}

// readyOf is the share of all actions that were ready, blindOf that of all edits whose
// line was not shown.
func (r *Report) readyOf(c cell, policy string) float64 {
	all, ready := 0.0, 0.0
	for _, w := range r.of(c, policy) {
		all, ready = all+float64(w.Totals.Actions), ready+w.Totals.ActionsReady*float64(w.Totals.Actions)
	}
	return over(ready, all)
}

func (r *Report) blindOf(c cell, policy string) float64 {
	edits := r.sumOf(c, policy, func(t *replay.Totals) int { return t.Edits })
	return over(float64(r.sumOf(c, policy, func(t *replay.Totals) int { return t.BlindEdits })), float64(edits))
}

func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

func over(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

func netRatio(own, late *Row) float64   { return over(net(own), net(late)) }
func wholeRatio(own, late *Row) float64 { return over(whole(own), whole(late)) }

func inputRatio(own, late *Row) float64 {
	return over(float64(own.Totals.NetInputTokens), float64(late.Totals.NetInputTokens))
}

// gapInputRatio returns what the first calls after gaps held.
func gapInputRatio(own, late *Row) float64 {
	if own.Totals.GapCalls == 0 {
		return math.NaN()
	}
	return over(float64(own.Totals.GapInputTokens), float64(late.Totals.GapInputTokens))
}

// gapRatio returns what the first calls after gaps had to write.
func gapRatio(own, late *Row) float64 {
	if own.Totals.GapCalls == 0 {
		return math.NaN()
	}
	return over(float64(own.Totals.GapWriteTokens), float64(late.Totals.GapWriteTokens))
}

func references(own, _ *Row) float64 { return own.Totals.ReferenceRecall }
func anchors(own, _ *Row) float64    { return own.Totals.AnchorRecall }
func warmHits(own, _ *Row) float64   { return own.Totals.WarmHitRatio }

func caused(own, _ *Row) float64 {
	if own.Totals.RecordedReads == 0 {
		return math.NaN()
	}
	return own.Totals.CausedShare
}

// sumOf adds an integer figure up over the sessions.
func (r *Report) sumOf(c cell, policy string, f func(t *replay.Totals) int) int {
	n := 0
	for _, w := range r.of(c, policy) {
		n += f(&w.Totals)
	}
	return n
}
