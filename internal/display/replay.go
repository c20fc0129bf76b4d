package display

import (
	"fmt"
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

// Replay writes every figure of the policies side by side. If there are too many policies, it
// writes one line for each with the main figures.
func Replay(s *Sheet, doc *replay.Document) {
	if len(doc.Results) > replayWide {
		s.replayLines(doc.Results)
	} else if len(doc.Results) > 0 {
		s.replayColumns(doc.Results)
	}
	s.Para(2, Gray, "{}", replayNotes(doc))
}

// replayColumns writes a column for each policy.
func (s *Sheet) replayColumns(results []*replay.Result) {
	columns, head, all := []int{replayLabel + 2}, []any{"memkernel replay"}, [][][2]any{}
	for _, r := range results {
		columns, head, all = append(columns, -replayCol), append(head, r.Policy), append(all, figures(r))
	}
	s.raw(s.Paint(Bold, s.row(columns, head...)))
	s.Line("  {%-22s} {}", "model", Clip(results[0].Model, s.Columns()-replayLabel-3))
	row := s.Table(0, columns)
	for i, first := range all[0] {
		if first[0] == notPlanned && len(results[0].Unplanned) == 0 {
			continue
		}
		cells := []any{"  " + first[0].(string)}
		for _, f := range all {
			cells = append(cells, f[i][1])
		}
		row(cells...)
	}
}

// notPlanned is the name of the row for the calls that count for no policy. Without such calls
// the row is left out.
const notPlanned = "  not planned"

// figures returns the rows of the table: the name of each, and its value for a policy.
func figures(r *replay.Result) [][2]any {
	t := &r.Totals
	return [][2]any{
		{"window", r.ContextWindow},
		{"  fixed part", r.FixedTokens},
		{"calls", t.Calls},
		{notPlanned, len(r.Unplanned)},
		{"input tokens", t.InputTokens},
		{"  cache read", t.CacheReadTokens},
		{"  cache write", t.CacheWriteTokens},
		{"  uncached", t.UncachedTokens},
		{"hit ratio", Share(t.HitRatio)},
		{"  warm calls only", Share(t.WarmHitRatio)},
		{"cost", t.CostUSD},
		{"  net of fixed part", t.NetCostUSD},
		{"  with the answers", t.BillUSD()},
		{"  bound, net", r.Bound.NetCostUSD},
		{"cuts", t.Cuts},
		{"cold events", t.ColdEvents},
		{"calls after a gap", t.GapCalls},
		{"  input, net", t.GapInputTokens},
		{"  written, net", t.GapWriteTokens},
		{"overflows", t.Overflows},
		{"violations", t.Violations},
		{"faults", t.Faults},
		{"  controllable", t.Controllable},
		{"actions", t.Actions},
		{"  ready", Share(t.ActionsReady)},
		{"edits", t.Edits},
		{"  blind", t.BlindEdits},
		{"references", t.References},
		{"  shown", Share(t.ReferenceRecall)},
		{"  only named", Share(t.Named)},
		{"  behind a pointer", Share(t.Pointer)},
		{"edit anchors shown", Share(t.AnchorRecall)},
		{"pages to fetch back", t.Resolutions},
		{"  would cost", t.ResolutionsUSD},
		{"pages lost", t.Lost},
		{"  would cost", t.LostUSD},
	}
}

// replayNotes returns the caveats and the actual bill.
func replayNotes(doc *replay.Document) string {
	p, text := Style{}, "The table is simulated. "
	if d := doc.Door; d != nil {
		text = p.Say("{call} of this session went through memkernel: billed {}, without memkernel about {}. wrap, gain and ui show this bill; the table is simulated. ", d.Calls, d.BilledUSD, d.WithoutUSD)
	}
	text += "What is replayed is what was recorded: the agent could only use what its host's own compactions had left it. " +
		"Cost is of the input side, and of the summary calls of the policies that compact."
	if r := doc.Recorded; r.Calls > 0 {
		text += p.Say(" As recorded, {%d} calls with {} tokens of input and {compaction} were {}.", r.Calls, r.InputTokens, r.Compactions, r.CostUSD)
	}
	if len(doc.Results) > 0 && len(doc.Results[0].Unplanned) > 0 {
		text += " " + unplannedNote(doc.Results[0])
	}
	return text
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

// replayLines writes a line with the main figures for each policy.
func (s *Sheet) replayLines(results []*replay.Result) {
	first := results[0]
	s.Line("{}\n  {}, {} calls, window {}, fixed part {}\n", inked{Bold, "memkernel replay"}, Clip(first.Model, s.Columns()/2-4), first.Totals.Calls, first.ContextWindow, first.FixedTokens)
	var late *float64
	for _, r := range results {
		if r.Policy == replay.AppendLate {
			late = r.Totals.BillUSD()
		}
	}
	row := s.Table(2, []int{replayLabel - 4, -10, -9, -9, -9, -9, -6, -6}, "", "bill", "to late", "ready", "blind", "shown", "cuts", "over")
	for _, r := range results {
		t := &r.Totals
		row(r.Policy, inCents(t.BillUSD()), changed(t.BillUSD(), late), Share(t.ActionsReady), Share(float64(t.BlindEdits)/float64(max(t.Edits, 1))),
			Share(t.ReferenceRecall), t.Cuts, t.Overflows)
	}
	bound := replay.Totals{CostUSD: first.Bound.CostUSD, OutputCostUSD: first.Totals.OutputCostUSD}
	row("bound", inCents(bound.BillUSD()))
	s.Line("")
	s.Para(2, Gray, "bill: input, summary calls and answers; to late: against append-late's. ready: tool calls whose input that was seen before all stood in the prompt. "+
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
