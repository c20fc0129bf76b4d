package display

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/replay"
)

// The columns of the table, in characters, and the number of policies in one row.
const (
	replayLabel = 22
	replayCol   = 18
	replayWide  = 3
)

// replayRow is a line of the table.
type replayRow struct {
	name string
	of   func(r *replay.Result) string
}

// Replay writes every figure of the policies side by side. If there are too many policies, it
// writes one line for each with the main figures.
func Replay(w io.Writer, doc *replay.Document, p Style) error {
	results := doc.Results
	var b strings.Builder
	if len(results) > replayWide {
		replayLines(&b, results, p)
	} else {
		replayColumns(&b, results, p)
	}
	p.para(&b, 2, Gray, replayNotes(doc))
	return Flush(w, &b)
}

// replayColumns writes a column for each policy.
func replayColumns(b *strings.Builder, results []*replay.Result, p Style) {
	b.WriteString(p.Paint(Bold, Left("memkernel replay", replayLabel+2)))
	for _, r := range results {
		b.WriteString(p.Paint(Bold, Right(r.Policy, replayCol)))
	}
	b.WriteString("\n")
	for _, r := range results[:min(1, len(results))] {
		b.WriteString("  " + Left("model", replayLabel) + " " + Clip(r.Model, p.Columns()-replayLabel-3) + "\n")
	}
	for _, row := range replayRows {
		if row.name == notPlanned && len(results) > 0 && len(results[0].Unplanned) == 0 {
			continue
		}
		b.WriteString("  " + Left(row.name, replayLabel))
		for _, r := range results {
			b.WriteString(Right(row.of(r), replayCol))
		}
		b.WriteString("\n")
	}
}

func number(of func(t *replay.Totals) int) func(*replay.Result) string {
	return func(r *replay.Result) string { return Thousands(of(&r.Totals)) }
}

func money(of func(t *replay.Totals) *float64) func(*replay.Result) string {
	return func(r *replay.Result) string { return dollars(of(&r.Totals)) }
}

func ratio(of func(t *replay.Totals) float64) func(*replay.Result) string {
	return func(r *replay.Result) string { return Share(of(&r.Totals)) }
}

// bill returns the whole bill: input, summaries and answers.
func bill(t *replay.Totals) *float64 {
	if t.CostUSD == nil || t.OutputCostUSD == nil {
		return nil
	}
	whole := *t.CostUSD + *t.OutputCostUSD
	return &whole
}

// notPlanned is the name of the row for the calls that count for no policy. Without such calls
// the row is left out.
const notPlanned = "  not planned"

var replayRows = []replayRow{
	{"window", func(r *replay.Result) string { return Thousands(r.ContextWindow) }},
	{"  fixed part", func(r *replay.Result) string { return Thousands(r.FixedTokens) }},
	{"calls", number(func(t *replay.Totals) int { return t.Calls })},
	{notPlanned, func(r *replay.Result) string { return Thousands(len(r.Unplanned)) }},
	{"input tokens", number(func(t *replay.Totals) int { return t.InputTokens })},
	{"  cache read", number(func(t *replay.Totals) int { return t.CacheReadTokens })},
	{"  cache write", number(func(t *replay.Totals) int { return t.CacheWriteTokens })},
	{"  uncached", number(func(t *replay.Totals) int { return t.UncachedTokens })},
	{"hit ratio", ratio(func(t *replay.Totals) float64 { return t.HitRatio })},
	{"  warm calls only", ratio(func(t *replay.Totals) float64 { return t.WarmHitRatio })},
	{"cost", money(func(t *replay.Totals) *float64 { return t.CostUSD })},
	{"  net of fixed part", money(func(t *replay.Totals) *float64 { return t.NetCostUSD })},
	{"  with the answers", money(func(t *replay.Totals) *float64 { return bill(t) })},
	{"  bound, net", func(r *replay.Result) string { return dollars(r.Bound.NetCostUSD) }},
	{"cuts", number(func(t *replay.Totals) int { return t.Cuts })},
	{"cold events", number(func(t *replay.Totals) int { return t.ColdEvents })},
	{"calls after a gap", number(func(t *replay.Totals) int { return t.GapCalls })},
	{"  input, net", number(func(t *replay.Totals) int { return t.GapInputTokens })},
	{"  written, net", number(func(t *replay.Totals) int { return t.GapWriteTokens })},
	{"overflows", number(func(t *replay.Totals) int { return t.Overflows })},
	{"violations", number(func(t *replay.Totals) int { return t.Violations })},
	{"faults", number(func(t *replay.Totals) int { return t.Faults })},
	{"  controllable", number(func(t *replay.Totals) int { return t.Controllable })},
	{"actions", number(func(t *replay.Totals) int { return t.Actions })},
	{"  ready", ratio(func(t *replay.Totals) float64 { return t.ActionsReady })},
	{"edits", number(func(t *replay.Totals) int { return t.Edits })},
	{"  blind", number(func(t *replay.Totals) int { return t.BlindEdits })},
	{"references", number(func(t *replay.Totals) int { return t.References })},
	{"  shown", ratio(func(t *replay.Totals) float64 { return t.ReferenceRecall })},
	{"  only named", ratio(func(t *replay.Totals) float64 { return t.Named })},
	{"  behind a pointer", ratio(func(t *replay.Totals) float64 { return t.Pointer })},
	{"edit anchors shown", ratio(func(t *replay.Totals) float64 { return t.AnchorRecall })},
	{"pages to fetch back", number(func(t *replay.Totals) int { return t.Resolutions })},
	{"  would cost", money(func(t *replay.Totals) *float64 { return t.ResolutionsUSD })},
	{"pages lost", number(func(t *replay.Totals) int { return t.Lost })},
	{"  would cost", money(func(t *replay.Totals) *float64 { return t.LostUSD })},
}

// replayNotes returns the caveats and the actual bill.
func replayNotes(doc *replay.Document) string {
	s, results := "The table is simulated. ", doc.Results
	if d := doc.Door; d != nil {
		s = fmt.Sprintf("%s of this session went through memkernel: billed %s, without memkernel about %s. wrap, gain and ui show this bill; the table is simulated. ", Plural(d.Calls, "call"), dollars(d.BilledUSD), dollars(d.WithoutUSD))
	}
	s += "What is replayed is what was recorded: the agent could only use what its host's own compactions had left it. " +
		"Cost is of the input side, and of the summary calls of the policies that compact."
	if r := doc.Recorded; r.Calls > 0 {
		s += fmt.Sprintf(" As recorded, %d calls with %s tokens of input and %s were %s.", r.Calls, Thousands(r.InputTokens), Plural(r.Compactions, "compaction"), dollars(r.CostUSD))
	}
	if len(results) > 0 && len(results[0].Unplanned) > 0 {
		s += " " + unplannedNote(results[0])
	}
	return s
}

// unplannedNote names the calls that were left out, with the reason.
func unplannedNote(r *replay.Result) string {
	by := map[string][]string{}
	for _, u := range r.Unplanned {
		by[u.Reason] = append(by[u.Reason], strconv.Itoa(u.Index+1))
	}
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		list := by[reason]
		if len(list) > 5 {
			list = append(list[:5:5], "…")
		}
		why = append(why, fmt.Sprintf("%d %s (call %s)", len(by[reason]), reason, strings.Join(list, ", ")))
	}
	s := fmt.Sprintf("%d calls could not be planned and count for no policy: %s.", len(r.Unplanned), strings.Join(why, ", "))
	for _, u := range r.Unplanned {
		if u.Detail != "" {
			return s + " The first: " + Printable(u.Detail) + "."
		}
	}
	return s
}
