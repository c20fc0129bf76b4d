package economics

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/replay"
)

// billTable returns what every policy comes to in one window and regime: the whole bill, and
// what agents had for it.
func (r *Report) billTable(c cell) string {
	var b strings.Builder
	b.WriteString("| policy | whole bill | against append-late | its dearest session | actions ready | median (least) | blind edits | references shown |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	late := r.bills(c, replay.AppendLate)
	for _, p := range r.Options.Policies {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", p, usd(r.bills(c, p)), signed(over(r.bills(c, p), late)),
			signed(spreadOf(r.each(c, p, billRatio), true).worst), part(r.readyOf(c, p)), percent(spreadOf(r.each(c, p, ready), false)),
			part(r.blindOf(c, p)), percent(spreadOf(r.each(c, p, references), false)))
	}
	return b.String()
}

// policyTable returns the table of one window and regime, a line per policy.
func (r *Report) policyTable(c cell) string {
	var b strings.Builder
	b.WriteString("| policy | cost | and getting back | input | after a gap, written | warm hits | references shown | anchors | caused re-reads | to fetch | lost | cuts | overflows | violations | faults |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range r.Options.Policies {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %d | %d | %d | %d | %d | %d |\n", p,
			change(spreadOf(r.each(c, p, netRatio), true)), change(spreadOf(r.each(c, p, wholeRatio), true)),
			change(spreadOf(r.each(c, p, inputRatio), true)), change(spreadOf(r.each(c, p, gapRatio), true)),
			percent(spreadOf(r.each(c, p, warmHits), false)), percent(spreadOf(r.each(c, p, references), false)),
			percent(spreadOf(r.each(c, p, anchors), false)), percent(spreadOf(r.each(c, p, caused), true)),
			r.sumOf(c, p, func(t *replay.Totals) int { return t.Resolutions }), r.sumOf(c, p, func(t *replay.Totals) int { return t.Lost }),
			r.sumOf(c, p, func(t *replay.Totals) int { return t.Cuts }), r.sumOf(c, p, func(t *replay.Totals) int { return t.Overflows }),
			r.sumOf(c, p, func(t *replay.Totals) int { return t.Violations }), r.sumOf(c, p, func(t *replay.Totals) int { return t.Controllable }))
	}
	return b.String()
}

// gapTable returns the distance to oracle and bound, a line per session.
func (r *Report) gapTable(c cell) string {
	late, ours, best := r.of(c, replay.AppendLate), r.of(c, replay.Memkernel), r.of(c, replay.Oracle)
	var b strings.Builder
	b.WriteString("| session | calls | fixed part | append-late | memkernel | oracle | bound | memkernel over oracle | over bound | shown: late | memkernel | oracle |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Options.Sessions {
		l, o, x := late[s.Name], ours[s.Name], best[s.Name]
		if l == nil || o == nil || x == nil {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", s.Name, o.Totals.Calls, o.FixedTokens,
			usd(net(l)), usd(net(o)), usd(net(x)), usd(bound(o)), times(over(net(o), net(x))), times(over(net(o), bound(o))),
			part(l.Totals.ReferenceRecall), part(o.Totals.ReferenceRecall), part(x.Totals.ReferenceRecall))
	}
	a := spreadOf(r.against(c, replay.Memkernel, replay.Oracle, netRatio), true)
	z := spreadOf(r.each(c, replay.Memkernel, func(own, _ *Row) float64 { return over(net(own), bound(own)) }), true)
	fmt.Fprintf(&b, "| median (worst) | | | | | | | %s (%s) | %s (%s) | | | |\n", times(a.median), times(a.worst), times(z.median), times(z.worst))
	return b.String()
}

// cells lists the grid's cells, by regime and room.
func (r *Report) cells() []cell {
	var out []cell
	for _, regime := range r.Options.Regimes {
		for _, room := range regime.rooms(r.Options.Rooms) {
			out = append(out, cell{regime.Name, room})
		}
	}
	return out
}

// regime returns a regime by name.
func (r *Report) regime(name string) Regime {
	i := slices.IndexFunc(r.Options.Regimes, func(g Regime) bool { return g.Name == name })
	return r.Options.Regimes[i]
}

// title names a cell: prices and window.
func (r *Report) title(c cell) string {
	if r.regime(c.regime).Window > 0 {
		return fmt.Sprintf("%s, a window of %dk", c.regime, c.room/1000)
	}
	return fmt.Sprintf("%s, fixed part + %dk", c.regime, c.room/1000)
}

// distances returns where the kernel's cost above the oracle and the bound comes from in a
// session; none if the kernel was not run.
func (r *Report) distances(c cell, session string) []replay.Distance {
	var results []*replay.Result
	for _, p := range []string{replay.Memkernel, replay.Oracle} {
		if w := r.of(c, p)[session]; w != nil {
			results = append(results, &replay.Result{Policy: p, Parts: w.Parts, Bound: w.Bound})
		}
	}
	return replay.Distances(results)
}

// distanceTable says where the kernel's cost above the oracle comes from, a line per
// session and their sum, and the same for the bound in sum.
func (r *Report) distanceTable(c cell) string {
	var b strings.Builder
	b.WriteString("| session | memkernel over | in all | selection | fixed part | cuts | gaps | rest |\n|---|---|---|---|---|---|---|---|\n")
	line := func(name, to string, p replay.Parts) {
		total := value(p.Total())
		share := func(v *float64) string {
			if v == nil || total == 0 {
				return usd(value(v))
			}
			return fmt.Sprintf("%s (%s)", usd(*v), strings.Replace(fmt.Sprintf("%.0f %%", 100**v/total), "-", "−", 1))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", name, to, usd(total), share(p.SelectionUSD), share(p.FixedUSD), share(p.CutsUSD), share(p.GapsUSD), share(p.RestUSD))
	}
	sums := map[string]replay.Parts{}
	for _, s := range r.Options.Sessions {
		for _, d := range r.distances(c, s.Name) {
			if sum, ok := sums[d.To]; ok {
				sums[d.To] = sum.Add(d.Parts)
			} else {
				sums[d.To] = d.Parts
			}
			if d.To == replay.Oracle {
				line(s.Name, d.To, d.Parts)
			}
		}
	}
	for _, to := range []string{replay.Oracle, replay.ToBound} {
		if sum, ok := sums[to]; ok {
			line("all", to, sum)
		}
	}
	return b.String()
}

// curve is a policy's line in the picture.
type curve struct {
	policy string
	points []point
}

// point is a policy with one figure: its median cost over append-late, and the
// median share of references that it shows.
type point struct {
	figure       string
	cost, recall float64
}

// curves takes the points together by policy.
func (r *Report) curves() []curve {
	late := map[string]*Row{}
	by := map[string][]*Row{}
	for i := range r.Points {
		w := &r.Points[i]
		if by[w.Policy] = append(by[w.Policy], w); w.Policy == replay.AppendLate {
			late[w.Session] = w
		}
	}
	var out []curve
	for _, f := range figures {
		c := curve{policy: f.policy}
		for _, n := range f.figures {
			var cost, shown []float64
			for _, w := range by[f.policy+"-"+n] {
				if l := late[w.Session]; l != nil {
					cost, shown = append(cost, over(net(w), net(l))), append(shown, w.Totals.ReferenceRecall)
				}
			}
			if p := (point{n, spreadOf(cost, true).median, spreadOf(shown, false).median}); !math.IsNaN(p.cost + p.recall) {
				c.points = append(c.points, p)
			}
		}
		if len(c.points) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// curveTable returns the curve in figures.
func curveTable(curves []curve) string {
	var b strings.Builder
	b.WriteString("| policy | figure | cost | references shown |\n|---|---|---|---|\n")
	for _, c := range curves {
		for _, p := range c.points {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.policy, p.figure, signed(p.cost), part(p.recall))
		}
	}
	return b.String()
}

// change prints a ratio as a change, median and worst.
func change(s spread) string { return pair(s, signed) }

// percent prints a share, median and worst.
func percent(s spread) string { return pair(s, part) }

func pair(s spread, f func(float64) string) string {
	if s.n == 0 {
		return "–"
	}
	return f(s.median) + " (" + f(s.worst) + ")"
}

func signed(ratio float64) string {
	if math.IsNaN(ratio) {
		return "–"
	}
	n := math.Round(100 * (ratio - 1))
	if n == 0 {
		return "0 %"
	}
	return strings.Replace(fmt.Sprintf("%+.0f %%", n), "-", "−", 1)
}

func part(share float64) string {
	if math.IsNaN(share) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

func usd(v float64) string {
	if math.IsNaN(v) {
		return "unpriced"
	}
	return strings.Replace(strings.Replace(fmt.Sprintf("$%.2f", v), "$-", "−$", 1), "−$0.00", "$0.00", 1)
}

func times(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f×", v)
}

// has reports whether all of the policies were run.
func (r *Report) has(policies ...string) bool {
	return !slices.ContainsFunc(policies, func(p string) bool { return !slices.Contains(r.Options.Policies, p) })
}
