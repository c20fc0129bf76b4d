package economics

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/replay"
)

// settings lists the measured economies, the cheapest first.
var settings = []cachelayout.Economy{cachelayout.Save, "0.25", cachelayout.Balanced, "0.75", cachelayout.Keep}

// EconomyOptions returns the options of the runs for a [document.Economy]. The runs cover all
// settings, and append-late for comparison. They use a window of today's size and a window that
// needs no cut.
func EconomyOptions() Options {
	o := Options{Rooms: []int{200_000, 1_000_000}, Regimes: Regimes()[:1], NoCurve: true, Policies: []string{replay.AppendLate}}
	for _, e := range settings {
		o.Policies = append(o.Policies, replay.Memkernel+"-"+string(e))
	}
	return o
}

// Economy sums up a report by economy. The report must have been made with [EconomyOptions].
func (r *Report) Economy(command string, now time.Time) (*document.Economy, error) {
	e := &document.Economy{Made: now.UTC().Format(time.DateOnly), Command: command, Sessions: len(r.Options.Sessions), Regime: r.Options.Regimes[0].Name}
	for _, c := range r.cells() {
		balanced := r.economyRow(c, replay.Memkernel+"-"+string(cachelayout.Balanced))
		for _, p := range r.Options.Policies {
			row := r.economyRow(c, p)
			row.CostRatio = rounded(over(row.CostUSD, balanced.CostUSD), 1e4)
			if math.IsNaN(row.CostRatio) {
				return nil, fmt.Errorf("economy: %s: a price is not known, or no call was planned", p)
			}
			e.Rows = append(e.Rows, row)
		}
	}
	e.Calls = r.sumOf(r.cells()[0], r.Options.Policies[0], func(t *replay.Totals) int { return t.Calls })
	return e, nil
}

func (r *Report) economyRow(c cell, policy string) document.EconomyRow {
	s := r.sums(c, policy)
	if math.IsNaN(s.blind) {
		s.blind = 0 // there was no edit
	}
	row := document.EconomyRow{RoomTokens: c.room, Economy: strings.TrimPrefix(policy, replay.Memkernel+"-"), WorstReady: 1, WorstRecall: 1,
		CostUSD: rounded(s.bill, 100), ActionsReady: rounded(s.ready, 1e4), BlindEdits: rounded(s.blind, 1e4), ReferenceRecall: rounded(s.shown, 1e4)}
	for _, w := range r.of(c, policy) {
		t := &w.Totals
		row.Cuts += t.Cuts
		if t.Actions > 0 {
			row.WorstReady = min(row.WorstReady, rounded(t.ActionsReady, 1e4))
		}
		if t.References > 0 {
			row.WorstRecall = min(row.WorstRecall, rounded(t.ReferenceRecall, 1e4))
		}
	}
	return row
}

// rounded rounds a figure to a multiple of 1/parts.
func rounded(v, parts float64) float64 { return math.Round(v*parts) / parts }

// WriteEconomy writes a measurement into a folder.
func WriteEconomy(e *document.Economy, dir string) error {
	data, err := json.MarshalIndent(e, "", "  ")
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(dir, document.EconomyFile), append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write measurement: %w", err)
	}
	return nil
}

const economyHead = `## The setting economy

Measured on %s with ` + "`%s`" + `:
%d sessions, %d calls, ` + "`%s`" + `. The bill is the sum over all sessions, followed by its
difference to balanced. Shares are those of all sessions, with the lowest session in brackets.

`

// EconomyMarkdown returns a measurement as a section of doc/economics.md.
func EconomyMarkdown(e *document.Economy) string {
	var b strings.Builder
	fmt.Fprintf(&b, economyHead, e.Made, e.Command, e.Sessions, e.Calls, e.Regime)
	b.WriteString("| fixed part + | economy | bill | actions ready | blind edits | references shown | cuts |\n|---|---|---|---|---|---|---|\n")
	for _, w := range e.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s (%s) | %s | %s (%s) | %d |\n", room(w.RoomTokens), w.Economy, fmt.Sprintf("$%.2f, %s", w.CostUSD, signed(w.CostRatio)), part(w.ActionsReady), part(w.WorstReady), part(w.BlindEdits), part(w.ReferenceRecall), part(w.WorstRecall), w.Cuts)
	}
	return b.String()
}

// room formats the size of a window.
func room(tokens int) string {
	if tokens%1_000_000 == 0 {
		return fmt.Sprintf("%dM", tokens/1_000_000)
	}
	return fmt.Sprintf("%dk", tokens/1000)
}
