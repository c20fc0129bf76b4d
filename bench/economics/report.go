package economics

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/replay"
)

// The files that a report is written to.
const (
	markdownFile = "economics.md"
	pictureFile  = "economics.svg"
)

// Write writes the report and its picture into a folder. command is the command line that made the
// report, and now is the time at which it was made.
func (r *report) Write(dir, command string, now time.Time) error {
	if len(r.Points) > 0 {
		if err := atomicfile.WriteFile(filepath.Join(dir, pictureFile), []byte(svg(r.curves(), r.curveTitle())), 0o644); err != nil {
			return fmt.Errorf("write picture: %w", err)
		}
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, markdownFile), []byte(r.Markdown(command, now)), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (r *report) curveTitle() string {
	return fmt.Sprintf("Cost against recall, %d sessions, %s, fixed part + %dk", len(r.Options.Sessions), r.Options.Regimes[0].Name, curveRoom/1000)
}

// Markdown returns the report as text. The report has a table for each window and regime, the
// calls that no figure counts, and the points of the curve. doc/economics.md explains the
// columns.
func (r *report) Markdown(command string, now time.Time) string {
	var b strings.Builder
	calls := r.sumOf(r.cells()[0], r.Options.Policies[0], func(t *replay.Totals) int { return t.Calls })
	fmt.Fprintf(&b, "# What context policies cost and show\n\nMade on %s by `%s`: %d recorded sessions with %d model calls.\n", now.UTC().Format(time.DateOnly), command, len(r.Options.Sessions), calls)
	for _, c := range r.cells() {
		fmt.Fprintf(&b, "\n## %s\n\n", r.title(c))
		b.WriteString("| policy | bill | against append-late | dearest session | actions ready | blind edits | references shown |\n|---|---|---|---|---|---|---|\n")
		for _, p := range r.Options.Policies {
			s := r.sums(c, p)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", p, usd(s.bill), signed(over(s.bill, r.sums(c, replay.AppendLate).bill)),
				signed(spreadOf(r.each(c, p, billRatio), true).worst), part(s.ready), part(s.blind), pair(spreadOf(r.each(c, p, references), false), part))
		}
		b.WriteString(r.leftOut(c))
		if r.Options.Rowwise {
			b.WriteString(r.sessions(c))
		}
	}
	if len(r.Points) > 0 {
		fmt.Fprintf(&b, "\n## Cost against recall\n\n![%s](%s)\n\n| policy | figure | cost | references shown |\n|---|---|---|---|\n", r.curveTitle(), pictureFile)
		for _, c := range r.curves() {
			for _, p := range c.points {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.policy, p.figure, signed(p.cost), part(p.recall))
			}
		}
	}
	return b.String()
}

// sessions returns the rows of a cell, by session and policy. A share of lines or tokens is
// followed by its whole in brackets.
func (r *report) sessions(c cell) string {
	var b strings.Builder
	b.WriteString("\n| session | policy | bill | against append-late | cuts | actions ready | blind edits | blind, edited since read | quoted, unedited since read | quoted, edited since read | dead text | finished tasks | refused |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Options.Sessions {
		for _, p := range r.Options.Policies {
			w, late := r.of(c, p)[s.Name], r.of(c, replay.AppendLate)[s.Name]
			t, h, ratio, refused := &w.Totals, &w.Totals.Held, math.NaN(), 0
			if late != nil {
				ratio = billRatio(w, late)
			}
			for _, n := range t.Unplanned {
				refused += n
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s | %d of %d, %s | %d of %d | %s | %s | %s | %s | %d |\n", s.Name, p, usd(bill(w)), signed(ratio), t.Cuts, part(t.ActionsReady),
				t.BlindEdits, t.Edits, of(t.BlindEdits, t.Edits), h.Changed.Blind, h.Changed.Edits, shown(h.Fresh.Shown, h.Fresh.Lines), shown(h.Changed.Shown, h.Changed.Lines),
				shown(h.Dead.Shown, h.Dead.Tokens), shown(h.Finished.Shown, h.Finished.Tokens), refused)
		}
	}
	return b.String()
}

func of(n, all int) string { return part(over(float64(n), float64(all))) }

func shown(n, all int) string { return fmt.Sprintf("%s (%d)", of(n, all), all) }

// leftOut names the calls that some policy could not plan. These calls count for no policy.
func (r *report) leftOut(c cell) string {
	var b strings.Builder
	of := r.of(c, r.Options.Policies[0])
	for _, s := range r.Options.Sessions {
		w := of[s.Name]
		if w == nil || len(w.Totals.Unplanned) == 0 {
			continue
		}
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(w.Totals.Unplanned)) {
			why = append(why, fmt.Sprintf("%d `%s`", w.Totals.Unplanned[reason], reason))
		}
		fmt.Fprintf(&b, "\nCalls of %s that are in no figure: %s\n", s.Name, strings.Join(why, ", "))
	}
	return b.String()
}

// cell selects rows of one regime and room.
type cell struct {
	regime string
	room   int
}

// cells lists the grid's cells in the order of regimes and rooms.
func (r *report) cells() []cell {
	var out []cell
	for _, regime := range r.Options.Regimes {
		for _, room := range regime.rooms(r.Options.Rooms) {
			out = append(out, cell{regime.Name, room})
		}
	}
	return out
}

// title names a cell: prices, lifetime and window.
func (r *report) title(c cell) string {
	g := r.Options.Regimes[slices.IndexFunc(r.Options.Regimes, func(g regime) bool { return g.Name == c.regime })]
	window := fmt.Sprintf("fixed part + %dk", c.room/1000)
	if g.Window > 0 {
		window = fmt.Sprintf("a window of %dk", c.room/1000)
	}
	return fmt.Sprintf("%s (%s, cache entries that live %v), %s", c.regime, g.Model, g.TTL, window)
}

// of maps sessions to the rows of a policy in a cell.
func (r *report) of(c cell, policy string) map[string]*outcome {
	out := map[string]*outcome{}
	for i := range r.Rows {
		if w := &r.Rows[i]; w.Regime == c.regime && w.Room == c.room && w.Policy == policy {
			out[w.Session] = w
		}
	}
	return out
}

// each computes a figure per session from a policy's row and append-late's.
func (r *report) each(c cell, policy string, f func(own, late *outcome) float64) []float64 {
	own, base := r.of(c, policy), r.of(c, replay.AppendLate)
	var out []float64
	for _, s := range r.Options.Sessions {
		if a, b := own[s.Name], base[s.Name]; a != nil && b != nil {
			out = append(out, f(a, b))
		}
	}
	return out
}

// sumOf adds an integer figure up over the sessions.
func (r *report) sumOf(c cell, policy string, f func(t *replay.Totals) int) int {
	n := 0
	for _, w := range r.of(c, policy) {
		n += f(&w.Totals)
	}
	return n
}

// sums has a policy's figures over all sessions of a cell. bill is the whole bill. ready, blind and
// shown are the shares of ready actions, of blind edits and of shown references.
type sums struct{ bill, ready, blind, shown float64 }

func (r *report) sums(c cell, policy string) (s sums) {
	var actions, edits, references float64
	of := r.of(c, policy)
	for _, session := range r.Options.Sessions {
		w := of[session.Name]
		if w == nil {
			continue
		}
		t := &w.Totals
		s.bill += bill(w)
		s.ready, actions = s.ready+t.ActionsReady*float64(t.Actions), actions+float64(t.Actions)
		s.blind, edits = s.blind+float64(t.BlindEdits), edits+float64(t.Edits)
		s.shown, references = s.shown+t.ReferenceRecall*float64(t.References), references+float64(t.References)
	}
	return sums{s.bill, over(s.ready, actions), over(s.blind, edits), over(s.shown, references)}
}

// The figures of a row. A figure is NaN if its price is unknown or its divisor is 0.

func net(w *outcome) float64 { return value(w.Totals.NetCostUSD) }

// bill is the whole bill: fixed part, input, summary calls and answers.
func bill(w *outcome) float64              { return value(w.Totals.BillUSD()) }
func billRatio(own, late *outcome) float64 { return over(bill(own), bill(late)) }
func references(own, _ *outcome) float64   { return own.Totals.ReferenceRecall }

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

// spread has the median and the worst value of a figure over n sessions.
type spread struct {
	median, worst float64
	n             int
}

// spreadOf returns the spread of the values other than NaN. high reports whether a high value is
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

func pair(s spread, f func(float64) string) string {
	if s.n == 0 {
		return "–"
	}
	return f(s.median) + " (" + f(s.worst) + ")"
}

// signed formats a ratio as a change in percent.
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
	return fmt.Sprintf("$%.2f", v)
}
