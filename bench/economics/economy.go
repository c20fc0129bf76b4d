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
	"github.com/memkernel/memkernel/replay"
)

// economy is the cost and the recall of a kernel under each [cachelayout.Economy], measured on
// recorded sessions.
type economy struct {
	// Made is the day of the measurement. Command is the command line that made the measurement.
	Made    string `json:"made"`
	Command string `json:"command"`
	// Sessions and Calls count the replayed sessions and calls. Regime names the prices.
	Sessions int          `json:"sessions"`
	Calls    int          `json:"calls"`
	Regime   string       `json:"regime"`
	Rows     []economyRow `json:"rows"`
}

// economyRow is one economy in one window, over all sessions.
type economyRow struct {
	// RoomTokens is the size of the window without the fixed part. Economy is the setting, or
	// append-late, which is not a setting but a comparison.
	RoomTokens int    `json:"room_tokens"`
	Economy    string `json:"economy"`
	// CostUSD is the whole bill for the answers and all input, including the fixed part and
	// summary calls. CostRatio is CostUSD divided by that of the economy "balanced".
	CostUSD   float64 `json:"cost_usd"`
	CostRatio float64 `json:"cost_ratio"`
	// ActionsReady is the share of tool calls for which the prompt held all of the input that had
	// been seen before. WorstReady is the lowest such share of a session. BlindEdits is the share
	// of edits of a line that had been seen before but was not in the prompt.
	ActionsReady float64 `json:"actions_ready"`
	WorstReady   float64 `json:"worst_ready"`
	BlindEdits   float64 `json:"blind_edits"`
	// ReferenceRecall is the share of all references that was shown. WorstRecall is the lowest
	// such share of a session.
	ReferenceRecall float64 `json:"reference_recall"`
	WorstRecall     float64 `json:"worst_recall"`
	Cuts            int     `json:"cuts"`
}

// economyFile is the file of a measurement.
const economyFile = "economy.json"

// settings lists the measured economies, the cheapest first.
var settings = []cachelayout.Economy{cachelayout.Save, "0.25", cachelayout.Balanced, "0.75", cachelayout.Keep}

// economyOptions returns the options of the runs for an [economy]. The runs cover all
// settings, and append-late for comparison. They use a window of today's size and a window that
// needs no cut.
func economyOptions() options {
	o := options{Rooms: []int{200_000, 1_000_000}, Regimes: regimes()[:1], NoCurve: true, Policies: []string{replay.AppendLate}}
	for _, e := range settings {
		o.Policies = append(o.Policies, replay.Memkernel+"-"+string(e))
	}
	return o
}

// Economy sums up a report by economy. The report must have been made with [economyOptions].
func (r *report) Economy(command string, now time.Time) (*economy, error) {
	e := &economy{Made: now.UTC().Format(time.DateOnly), Command: command, Sessions: len(r.Options.Sessions), Regime: r.Options.Regimes[0].Name}
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

func (r *report) economyRow(c cell, policy string) economyRow {
	s := r.sums(c, policy)
	if math.IsNaN(s.blind) {
		s.blind = 0 // there was no edit
	}
	row := economyRow{RoomTokens: c.room, Economy: strings.TrimPrefix(policy, replay.Memkernel+"-"), WorstReady: 1, WorstRecall: 1,
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

// writeEconomy writes a measurement into a folder.
func writeEconomy(e *economy, dir string) error {
	data, err := json.MarshalIndent(e, "", "  ")
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(dir, economyFile), append(data, '\n'), 0o644)
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

// economyMarkdown returns a measurement as a section of doc/economics.md.
func economyMarkdown(e *economy) string {
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
