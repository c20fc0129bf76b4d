package economics

import (
	"fmt"
	"math"
	"strings"

	"github.com/memkernel/memkernel/replay"
)

// target is something that the kernel should reach in a cell. Floors are a little
// above what a rough simulation of ten recorded sessions reached; aims are meant to
// hurt, and none is proved possible.
type target struct {
	cell
	name string
	// floor and aim are changes or shares, as measured is; higher reports whether
	// more is better.
	floor, aim, measured float64
	higher               bool
	print                func(float64) string
	// least is the share of references that has to be shown beside, 0 for none: a
	// saving at the price of lost references doesn't count.
	least float64
}

// judged are the rooms that have targets; smaller ones are reported.
const (
	midRoom   = 128_000
	largeRoom = 200_000
)

// allowance is how many references may be shown less at the larger room.
const allowance = 0.03

// verdict returns which mark the measured figure meets.
func (t *target) verdict(shown float64) string {
	meets := func(mark float64) bool {
		if t.higher {
			return t.measured >= mark
		}
		return t.measured <= mark
	}
	switch {
	case math.IsNaN(t.measured):
		return "not measured"
	case t.least > 0 && shown < t.least:
		return "too little shown"
	case meets(t.aim):
		return "aim met"
	case meets(t.floor):
		return "floor met"
	}
	return "missed"
}

// targets measures the kernel in every cell that has targets. The first regime's
// are those of a short lifetime; the others may never be dearer.
func (r *Report) targets() []target {
	var out []target
	for i, regime := range r.Options.Regimes {
		for _, room := range r.Options.Rooms {
			if c := (cell{regime.Name, room}); room != midRoom && room != largeRoom {
				continue
			} else if i == 0 {
				out = append(out, r.costTarget(c), r.boundTarget(c))
				out = append(out, r.soundTargets(c)...)
			} else {
				out = append(out, r.otherTargets(c)...)
			}
		}
	}
	return append(out, r.curveTarget())
}

// least returns what has to be shown for a saving to count.
func (r *Report) least(c cell) float64 {
	late := spreadOf(r.each(c, replay.AppendLate, references), false).median
	if c.room == largeRoom {
		return late - allowance
	}
	return late
}

func (r *Report) median(c cell, f func(own, late *Row) float64) float64 {
	return spreadOf(r.each(c, replay.Memkernel, f), true).median
}

func (r *Report) costTarget(c cell) target {
	t := target{c, "cost, against append-late", 0.88, 0.70, r.median(c, netRatio), false, signed, r.least(c)}
	if c.room == largeRoom {
		t.floor, t.aim = 0.75, 0.60
	}
	return t
}

// boundTarget returns how much of the way from append-late to the bound is
// gone.
func (r *Report) boundTarget(c cell) target {
	closed := func(own, late *Row) float64 { return over(net(late)-net(own), net(late)-bound(own)) }
	t := target{c, "gap to the bound that is closed", 0.45, 0.70, r.median(c, closed), true, part, r.least(c)}
	if c.room != largeRoom {
		t.floor, t.aim = math.NaN(), math.NaN()
	}
	return t
}

// soundTargets returns those that do not depend on prices.
func (r *Report) soundTargets(c cell) []target {
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	sum := func(f func(t *replay.Totals) int) float64 { return float64(r.sumOf(c, replay.Memkernel, f)) }
	oracle := spreadOf(r.against(c, replay.Memkernel, replay.Oracle, netRatio), true).median
	return []target{
		{c, "read by the first call after a gap, net", 0.60, 0.30, r.median(c, gapInputRatio), false, signed, 0},
		{c, "written by it", 0.50, 0.20, r.median(c, gapRatio), false, signed, 0},
		{c, "caused re-reads, of recorded reads", 0.10, 0.03, r.median(c, caused), false, part, 0},
		{c, "warm hit ratio", 0.95, 0.98, r.median(c, warmHits), true, part, 0},
		{c, "cost over the oracle's, as much shown", 1.25, 1.08, oracle, false, times, 0},
		{c, "overflows, and calls that don't fit", 0, 0, sum(func(t *replay.Totals) int { return t.Overflows + t.Unplanned[replay.DoesNotFit] }), false, whole, 0},
		{c, "broken rules of the provider", 0, 0, sum(func(t *replay.Totals) int { return t.Violations }), false, whole, 0},
	}
}

// otherTargets returns those of the other prices.
func (r *Report) otherTargets(c cell) []target {
	costs := spreadOf(r.each(c, replay.Memkernel, netRatio), true)
	return []target{
		{c, "cost, against append-late", 1, 0.85, costs.median, false, signed, r.least(c)},
		{c, "the dearest session's cost", 1, 0.85, costs.worst, false, signed, 0},
	}
}

// curveTarget returns what is shown for append-late's money, along the curve.
func (r *Report) curveTarget() target {
	c := cell{r.Options.Regimes[0].Name, curveRoom}
	late := spreadOf(r.each(c, replay.AppendLate, references), false).median
	t := target{c, "references shown for append-late's cost, above its own", 0.03, 0.06, math.NaN(), true, points, 0}
	for _, cv := range r.curves() {
		if cv.policy != replay.Memkernel {
			continue
		}
		for _, p := range cv.points {
			if shown := p.recall - late; p.cost <= 1 && !(shown <= t.measured) {
				t.measured = shown
			}
		}
	}
	return t
}

func points(v float64) string { return fmt.Sprintf("%+.1f points", 100*v) }

// targetTable lists the targets, what was measured, and what was shown beside.
func (r *Report) targetTable() string {
	if !r.has(replay.Memkernel, replay.AppendLate, replay.Oracle) {
		return "The targets need memkernel, append-late and oracle among the policies.\n"
	}
	var b strings.Builder
	b.WriteString("| target | prices | room | floor | aim | measured | | shown: late | memkernel |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, t := range r.targets() {
		late := spreadOf(r.each(t.cell, replay.AppendLate, references), false).median
		ours := spreadOf(r.each(t.cell, replay.Memkernel, references), false).median
		mark := func(v float64) string {
			if math.IsNaN(v) {
				return "–"
			}
			return t.print(v)
		}
		verdict := t.verdict(ours)
		if math.IsNaN(t.floor) {
			verdict = "reported"
		}
		fmt.Fprintf(&b, "| %s | %s | %dk | %s | %s | %s | %s | %s | %s |\n", t.name, t.regime, t.room/1000, mark(t.floor), mark(t.aim), mark(t.measured), verdict, part(late), part(ours))
	}
	return b.String()
}
