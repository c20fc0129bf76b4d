package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/billing"
)

// Stats prints the tables for a terminal of the style's width.
func Stats(w io.Writer, st *billing.Report, p Style) error {
	s := &sheet{Style: p}
	t := &st.Total
	s.line(p.Paint(Bold, "stats"), "  ", statsHead(st))
	if t.Calls == 0 {
		s.narrow("", 2, "nothing was observed with its usage yet, or nothing that the flags ask for")
		return Flush(w, &s.b)
	}
	s.againstBill(t)
	s.said(t)
	s.sums("by session", st.Sessions)
	s.sums("by day", st.Days)
	s.sums("by model", st.Models)
	return Flush(w, &s.b)
}

// narrow writes a text after a name. It fits a width of less than [Columns].
func (s *sheet) narrow(name string, indent int, text string) {
	for _, l := range Wrap(text, s.Width-indent) {
		s.line(Left(name, indent), l)
		name = ""
	}
}

// statsHead returns the numbers of calls, sessions and turns.
func statsHead(st *billing.Report) string {
	head := fmt.Sprintf("%s of %s", Plural(st.Total.Calls, "call"), Plural(len(st.Sessions), "session"))
	if st.Total.Turns > 0 {
		head += ", " + Plural(st.Total.Turns, "turn")
	}
	return head
}

// againstBill writes the plan next to the bill for the calls that have both. If no call has both,
// it writes the bill.
func (s *sheet) againstBill(t *billing.Sum) {
	compared := t.Compared > 0
	row := func(what string, planned, billed, by any) {
		cells := []any{what, planned, billed, by}
		if !compared {
			cells = []any{what, billed}
		} else if s.Width < 55 {
			cells = cells[:3]
		}
		s.line("  ", s.row([]int{16, -13, -13, -11}, cells...))
	}
	row("", inked{Gray, "planned"}, inked{Gray, "billed"}, inked{Gray, "off by"})
	b, cost := t.Billed, costOf(t)
	if compared {
		b, cost = t.BilledCompared, dollars(t.ComparedCostUSD)
	}
	tokens := func(what string, planned, billed int) {
		if planned != 0 || billed != 0 {
			row(what, planned, billed, signed(planned, billed))
		}
	}
	tokens("input tokens", t.Planned.InputTokens, b.InputTokens)
	tokens("  cache read", t.Planned.CacheReadTokens, b.CacheReadTokens)
	tokens("  write, short", t.Planned.CacheWrite5mTokens, b.CacheWrite5mTokens)
	tokens("  write, long", t.Planned.CacheWrite1hTokens, b.CacheWrite1hTokens)
	tokens("  uncached", t.Planned.UncachedTokens, b.UncachedTokens)
	row("cost of input", dollars(t.PlannedCostUSD), cost, "")
}

// said writes the facts that sums alone do not show.
func (s *sheet) said(t *billing.Sum) {
	line := func(name, text string) { s.narrow("  "+name, 18, text) }
	line("hit ratio", OptionalShare(t.HitRatio)+" of what was billed was read from the cache")
	if t.Compared > 0 {
		line("error per call", fmt.Sprintf("input %s, read %s, write %s (medians)", OptionalShare(t.InputError), OptionalShare(t.ReadError), OptionalShare(t.WriteError)))
		line("cold calls", fmt.Sprintf("%s expected, %s seen, %s of them expected", Thousands(t.ColdExpected), Thousands(t.ColdSeen), Thousands(t.ColdBoth)))
		line("cuts", fmt.Sprintf("%s kept %s tokens out of prompts", Thousands(t.Cuts), Thousands(t.SavedTokens)))
	}
	for _, f := range t.FirstSight {
		line("first sight", fmt.Sprintf("%s: %s, %s tokens kept out, %s fetched back", f.Kind, Plural(f.Results, "result"), Thousands(f.Tokens), Thousands(f.FetchedTokens)))
	}
	if len(t.Broke) > 0 {
		line("host", hostBroke(t.Broke))
	}
	if r := t.Reasoning; r.LeftOutItems+r.DroppedItems > 0 {
		line("reasoning", fmt.Sprintf("%s lost at cuts (%d left out, %d for the provider to drop): %s tokens that were billed as output for %s",
			Plural(r.LeftOutItems+r.DroppedItems, "item"), r.LeftOutItems, r.DroppedItems, Thousands(r.LeftOutTokens+r.DroppedTokens), dollars(r.LostUSD)))
	}
	if len(t.Reasoning.Removed) > 0 {
		line("removed", "by the provider: "+removedText(t.Reasoning.Removed)+" of reasoning")
	}
	if t.Estimated > 0 && t.BilledUSD != nil {
		line("bill", fmt.Sprintf("%s with the answers; without memkernel about %s", dollars(t.BilledUSD), dollars(t.WithoutUSD)))
	}
	if t.Unpriced > 0 {
		line("unpriced", Plural(t.Unpriced, "call")+" of models without a price, in no cost above")
	}
	if n := t.Calls - t.Compared; n > 0 {
		more := ""
		if t.Compared > 0 {
			more = fmt.Sprintf(", with %s tokens of input", Thousands(t.Billed.InputTokens-t.BilledCompared.InputTokens))
		}
		line("not compared", Plural(n, "call")+" without a known plan"+more)
	}
}

// hostBroke lists the number, the causes and the cost of cache breaks by a host.
func hostBroke(list []billing.Broken) string {
	var parts []string
	times := 0
	for _, b := range list {
		times += b.Times
		parts = append(parts, fmt.Sprintf("%s %dx %s tokens %s", Printable(b.What), b.Times, compact(b.Tokens), dollars(b.USD)))
	}
	return fmt.Sprintf("the host broke the cache %s: %s", Plural(times, "time"), strings.Join(parts, ", "))
}

// removedText lists removed items by reason.
func removedText(list []memkernel.Removal) string {
	var parts []string
	for _, r := range list {
		parts = append(parts, fmt.Sprintf("%s (%s)", Plural(r.Items, "item"), strings.ReplaceAll(Printable(r.Reason), "_", " ")))
	}
	return strings.Join(parts, ", ")
}

func OptionalShare(v *float64) string {
	if v == nil {
		return "-"
	}
	return Share(*v)
}

// compact shortens a count: 1234567 is 1.2M.
func compact(n int) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return Thousands(n)
}

// sums writes a table of sums. If the columns don't fit, it leaves out the last ones.
func (s *sheet) sums(title string, rows []billing.Sum) {
	const leastName = 20
	columns, room, n := []int{0, -7, -8, -9, -11, -9, -6, -8}, s.Width-2-leastName, 1
	for n < len(columns) && -columns[n] <= room {
		room += columns[n]
		n++
	}
	columns[0] = leastName + room
	s.line(s.Paint(Bold, title))
	row := s.table(2, columns, []any{"", "calls", "input", "hits", "cost", "error", "cold", "saved"}[:n]...)
	for i := range rows {
		r := &rows[i]
		row([]any{r.Name, r.Calls, compact(r.Billed.InputTokens), OptionalShare(r.HitRatio), costOf(r), OptionalShare(r.InputError), r.ColdSeen, compact(r.SavedTokens)}[:n]...)
	}
}

// costOf formats the cost of the calls of a sum. A plus means that some are unpriced.
func costOf(s *billing.Sum) string {
	if s.BilledCostUSD != nil && s.Unpriced > 0 {
		return dollars(s.BilledCostUSD) + "+"
	}
	return dollars(s.BilledCostUSD)
}

// signed formats the difference of a sum from the expected one in per cent.
func signed(got, want int) string {
	if want == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100*float64(got-want)/float64(want))
}
