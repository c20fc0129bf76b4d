package economics

import (
	"fmt"
	"math"
	"strings"

	"github.com/memkernel/memkernel/replay"
)

// target is something that the kernel should reach in a cell. Aims are meant to hurt, and
// none is proved possible.
type target struct {
	cell
	name string
	// floor and aim are changes or shares, as measured is; higher reports whether
	// more is better.
	floor, aim, measured float64
	higher               bool
	print                func(float64) string
}

// judged are the rooms that have targets; smaller ones are reported.
const (
	midRoom   = 128_000
	largeRoom = 200_000
)

// verdict returns which mark the measured figure meets.
func (t *target) verdict() string {
	meets := func(mark float64) bool {
		if t.higher {
			return t.measured >= mark
		}
		return t.measured <= mark
	}
	switch {
	case math.IsNaN(t.measured):
		return "not measured"
	case meets(t.aim):
		return "aim met"
	case meets(t.floor):
		return "floor met"
	}
	return "missed"
}

// targets measures the kernel in every cell that has targets.
func (r *Report) targets() []target {
	var out []target
	for i, regime := range r.Options.Regimes {
		for _, room := range regime.rooms(r.Options.Rooms) {
			c := cell{regime.Name, room}
			switch {
			case regime.Window > 0:
				out = append(out, r.billTargets(c)...)
			case room != midRoom && room != largeRoom:
			case i == 0:
				out = append(out, r.billTargets(c)...)
				out = append(out, r.boundTarget(c))
				out = append(out, r.soundTargets(c)...)
			default:
				out = append(out, r.billTargets(c)...)
			}
		}
	}
	return append(out, r.curveTarget())
}

func (r *Report) median(c cell, f func(own, late *Row) float64) float64 {
	return spreadOf(r.each(c, replay.Memkernel, f), true).median
}

// bills has the marks of the whole bill against append-late, by regime and room.
var bills = map[cell][2]float64{{"claude-5m", largeRoom}: {0.83, 0.75}, {"openai-272k", 0}: {0.73, 0.65}}

// billTargets are those of the whole bill and of what agents have for it.
func (r *Report) billTargets(c cell) []target {
	marks, known := bills[cell{c.regime, 0}]
	if !known {
		marks, known = bills[c]
	}
	if !known {
		marks = [2]float64{math.NaN(), math.NaN()}
	}
	late := spreadOf(r.each(c, replay.AppendLate, ready), false)
	ours := spreadOf(r.each(c, replay.Memkernel, ready), false)
	return []target{
		{c, "whole bill, against append-late", marks[0], marks[1], over(r.bills(c, replay.Memkernel), r.bills(c, replay.AppendLate)), false, signed},
		{c, "the dearest session's whole bill", 1.03, 1, spreadOf(r.each(c, replay.Memkernel, billRatio), true).worst, false, signed},
		{c, "blind edits", 0.01, 0.003, r.blindOf(c, replay.Memkernel), false, part},
		{c, "actions ready, median, against append-late's", late.median, math.Max(0.98, late.median), ours.median, true, part},
		{c, "actions ready, the session with the least", late.worst, math.Max(0.93, late.worst), ours.worst, true, part},
	}
}

// boundTarget returns how much of the way from append-late to the bound is
// gone.
func (r *Report) boundTarget(c cell) target {
	closed := func(own, late *Row) float64 { return over(net(late)-net(own), net(late)-bound(own)) }
	t := target{c, "gap to the bound that is closed", 0.45, 0.60, r.median(c, closed), true, part}
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
		{c, "read by the first call after a gap, net", 0.60, 0.30, r.median(c, gapInputRatio), false, signed},
		{c, "written by it", 0.50, 0.20, r.median(c, gapRatio), false, signed},
		{c, "caused re-reads, of recorded reads", 0.10, 0.03, r.median(c, caused), false, part},
		{c, "warm hit ratio", 0.95, 0.98, r.median(c, warmHits), true, part},
		{c, "cost over the oracle's, as much shown", 1.25, 1.08, oracle, false, times},
		{c, "overflows, and calls that don't fit", 0, 0, sum(func(t *replay.Totals) int { return t.Overflows + t.Unplanned[replay.DoesNotFit] }), false, whole},
		{c, "broken rules of the provider", 0, 0, sum(func(t *replay.Totals) int { return t.Violations }), false, whole},
	}
}

// curveTarget returns what is shown for append-late's money, along the curve.
func (r *Report) curveTarget() target {
	c := cell{r.Options.Regimes[0].Name, curveRoom}
	late := spreadOf(r.each(c, replay.AppendLate, references), false).median
	t := target{c, "references shown for append-late's cost, above its own", 0.03, 0.06, math.NaN(), true, points}
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
	b.WriteString("| target | prices | room | floor | aim | measured | | ready: late | memkernel |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, t := range r.targets() {
		late, ours := r.readyOf(t.cell, replay.AppendLate), r.readyOf(t.cell, replay.Memkernel)
		mark := func(v float64) string {
			if math.IsNaN(v) {
				return "–"
			}
			return t.print(v)
		}
		verdict := t.verdict()
		if math.IsNaN(t.floor) {
			verdict = "reported"
		}
		fmt.Fprintf(&b, "| %s | %s | %dk | %s | %s | %s | %s | %s | %s |\n", t.name, t.regime, t.room/1000, mark(t.floor), mark(t.aim), mark(t.measured), verdict, part(late), part(ours))
	}
	return b.String()
}
