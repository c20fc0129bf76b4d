package display

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/replay"
)

// replayLines writes a line with the main figures for each policy.
func (s *sheet) replayLines(results []*replay.Result) {
	first := results[0]
	s.line(s.Paint(Bold, "memkernel replay"))
	s.linef("  %s, %s calls, window %s, fixed part %s", Clip(first.Model, s.Columns()/2-4), Thousands(first.Totals.Calls), Thousands(first.ContextWindow), Thousands(first.FixedTokens))
	s.line()
	var late *float64
	for _, r := range results {
		if r.Policy == replay.AppendLate {
			late = r.Totals.BillUSD()
		}
	}
	row := s.table(2, []int{replayLabel - 4, -10, -9, -9, -9, -9, -6, -6}, "", "bill", "to late", "ready", "blind", "shown", "cuts", "over")
	for _, r := range results {
		t := &r.Totals
		row(r.Policy, inCents(t.BillUSD()), changed(t.BillUSD(), late), Share(t.ActionsReady), Share(float64(t.BlindEdits)/float64(max(t.Edits, 1))),
			Share(t.ReferenceRecall), t.Cuts, t.Overflows)
	}
	bound := replay.Totals{CostUSD: first.Bound.CostUSD, OutputCostUSD: first.Totals.OutputCostUSD}
	row("bound", inCents(bound.BillUSD()))
	s.line()
	s.say(2, Gray, "bill: input, summary calls and answers; to late: against append-late's. ready: tool calls whose input that was seen before all stood in the prompt. "+
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
