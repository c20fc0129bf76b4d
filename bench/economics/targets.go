package economics

import (
	"fmt"
	"math"
	"strings"

	"github.com/memkernel/memkernel/bench/replay"
)

// target is something that the kernel should reach.
type target struct {
	name string
	// floor and aim are changes or shares, as measured is; higher tells that more is
	// better.
	floor, aim, measured float64
	higher               bool
	print                func(float64) string
	source               string
}

// The targets that do not come out of a run.
//
// The shares of input and of first writes after a gap are the design goals that the
// kernel was begun with. Costs are what the best simple policy of a simulation on
// ten recorded sessions reached, by window. Hit ratios: a long simulated warm
// session, and the median of four published long sessions (96.6, 97.9, 98.2 and
// 99.4 %).
const (
	floorSteady, aimSteady = 0.6, 0.3
	floorGap, aimGap       = 0.5, 0.2
	floorHits, aimHits     = 0.95, 0.98
	aimReferences          = 0.95
)

// floorCost is by room; between the simulated windows the nearer one holds.
func floorCost(room int) float64 {
	if room >= 164_000 {
		return 0.72
	}
	return 0.87
}

// verdict says which mark the measured figure meets.
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

// targets measures the kernel in one cell.
func (r *Report) targets(c cell) []target {
	ours, late := replay.Memkernel, replay.AppendLate
	med := func(policy string, f func(own, late *Row) float64) float64 {
		return spreadOf(r.each(c, policy, f), true).median
	}
	sum := func(f func(t *replay.Totals) int) float64 { return float64(r.sumOf(c, ours, f)) }
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	return []target{
		{"input in the second half of long sessions, against append-late", floorSteady, aimSteady, med(ours, steadyRatio), false, signed, "design goal"},
		{"written by the first call after a gap, net, against append-late", floorGap, aimGap, med(ours, gapRatio), false, signed, "design goal"},
		{"cost, net, against append-late", floorCost(c.room), med(replay.Oracle, netRatio), med(ours, netRatio), false, signed, "simulation; the oracle here"},
		{"cost with getting back, against append-late", 1, med(replay.Oracle, wholeRatio), med(ours, wholeRatio), false, signed, "append-late; the oracle here"},
		{"references shown", med(late, references), aimReferences, med(ours, references), true, part, "append-late here; nineteen of twenty"},
		{"worst session's references shown", spreadOf(r.each(c, late, references), false).worst, med(late, references), spreadOf(r.each(c, ours, references), false).worst, true, part, "append-late's worst and median here"},
		{"caused re-reads, of recorded reads", med(late, caused), 0, med(ours, caused), false, part, "append-late here; none"},
		{"warm hit ratio", floorHits, aimHits, med(ours, warmHits), true, part, "simulated; published sessions"},
		{"overflows", 0, 0, sum(func(t *replay.Totals) int { return t.Overflows }), false, whole, "none may be"},
		{"broken rules of the provider", 0, 0, sum(func(t *replay.Totals) int { return t.Violations }), false, whole, "none may be"},
	}
}

// targetTable stands the targets of all rooms of the first regime side by side.
func (r *Report) targetTable() string {
	if !r.has(replay.Memkernel, replay.AppendLate, replay.Oracle) {
		return "The targets need memkernel, append-late and oracle among the policies.\n"
	}
	var b strings.Builder
	b.WriteString("| target | room | floor | aim | measured | | from |\n|---|---|---|---|---|---|---|\n")
	var all [][]target
	for _, room := range r.Options.Rooms {
		all = append(all, r.targets(cell{r.Options.Regimes[0].Name, room}))
	}
	for i := range all[0] {
		for k, room := range r.Options.Rooms {
			t := &all[k][i]
			fmt.Fprintf(&b, "| %s | %dk | %s | %s | %s | %s | %s |\n", t.name, room/1000, t.print(t.floor), t.print(t.aim), t.print(t.measured), t.verdict(), t.source)
		}
	}
	return b.String()
}
