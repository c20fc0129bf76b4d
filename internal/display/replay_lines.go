package display

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/replay"
)

// replayField is a column of the table that has a line for each policy.
type replayField struct {
	name  string
	width int
	of    func(r, late *replay.Result) string
}

var replayFields = []replayField{
	{"bill", 10, func(r, _ *replay.Result) string { return inCents(r.Totals.BillUSD()) }},
	{"to late", 9, func(r, late *replay.Result) string {
		if late == nil {
			return "–"
		}
		return changed(r.Totals.BillUSD(), late.Totals.BillUSD())
	}},
	{"ready", 9, func(r, _ *replay.Result) string { return Share(r.Totals.ActionsReady) }},
	{"blind", 9, func(r, _ *replay.Result) string {
		return Share(float64(r.Totals.BlindEdits) / float64(max(r.Totals.Edits, 1)))
	}},
	{"shown", 9, func(r, _ *replay.Result) string { return Share(r.Totals.ReferenceRecall) }},
	{"cuts", 6, func(r, _ *replay.Result) string { return Thousands(r.Totals.Cuts) }},
	{"over", 6, func(r, _ *replay.Result) string { return Thousands(r.Totals.Overflows) }},
}

// replayLines writes a line with the main figures for each policy.
func replayLines(b *strings.Builder, results []*replay.Result, p Style) {
	first := results[0]
	b.WriteString(p.Paint(Bold, "memkernel replay") + "\n")
	fmt.Fprintf(b, "  %s, %s calls, window %s, fixed part %s\n\n", Clip(first.Model, p.Columns()/2-4), Thousands(first.Totals.Calls), Thousands(first.ContextWindow), Thousands(first.FixedTokens))
	b.WriteString("  " + Left("", replayLabel-4))
	for _, f := range replayFields {
		b.WriteString(p.Paint(Gray, Right(f.name, f.width)))
	}
	b.WriteString("\n")
	var late *replay.Result
	for _, r := range results {
		if r.Policy == replay.AppendLate {
			late = r
		}
	}
	for _, r := range results {
		b.WriteString("  " + Left(r.Policy, replayLabel-4))
		for _, f := range replayFields {
			b.WriteString(Right(f.of(r, late), f.width))
		}
		b.WriteString("\n")
	}
	bound := replay.Totals{CostUSD: first.Bound.CostUSD, OutputCostUSD: first.Totals.OutputCostUSD}
	fmt.Fprintf(b, "  %s%s\n\n", Left("bound", replayLabel-4), Right(inCents(bound.BillUSD()), 10))
	p.para(b, 2, Gray, "bill: input, summary calls and answers; to late: against append-late's. ready: tool calls whose input that was seen before all stood in the prompt. "+
		"blind: edits of a line that was seen before and not shown. shown: references of the agent's answers, as far as they stood. "+
		"over: prompts over window − reserve. Every figure is printed for up to three policies at a time.")
}

// inCents prints a cost in whole cents.
func inCents(v *float64) string {
	if v == nil {
		return "unpriced"
	}
	s := fmt.Sprintf("$%.2f", *v)
	if *v < 0 {
		s = fmt.Sprintf("−$%.2f", -*v)
	}
	return strings.Replace(s, "−$0.00", "$0.00", 1)
}

// changed formats the difference of a cost from another, in per cent.
func changed(v, to *float64) string {
	if v == nil || to == nil || *to == 0 {
		return "–"
	}
	s := strings.Replace(fmt.Sprintf("%+.1f %%", 100*(*v / *to - 1)), "-", "−", 1)
	return strings.NewReplacer("+0.0 %", "0 %", "−0.0 %", "0 %").Replace(s)
}
