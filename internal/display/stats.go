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
	columns := p.Width
	b := &strings.Builder{}
	t := &st.Total
	fmt.Fprintf(b, "%s  %s\n", p.Paint(Bold, "stats"), statsHead(st))
	if t.Calls == 0 {
		for _, l := range Wrap("nothing was observed with its usage yet, or nothing that the flags ask for", columns-2) {
			b.WriteString("  " + l + "\n")
		}
		return Flush(w, b)
	}
	againstBill(b, t, p, columns)
	said(b, t, p, columns)
	sums(b, "by session", st.Sessions, p, columns)
	sums(b, "by day", st.Days, p, columns)
	sums(b, "by model", st.Models, p, columns)
	return Flush(w, b)
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
func againstBill(b *strings.Builder, t *billing.Sum, p Style, columns int) {
	const name, number, off = 16, 13, 11
	compared := t.Compared > 0
	wide := compared && columns >= 2+name+2*number+off
	line := func(what, planned, billed, by string) string {
		out := Left(what, name)
		if compared {
			out += Right(planned, number)
		}
		if out += Right(billed, number); wide {
			out += Right(by, off)
		}
		return strings.TrimRight(out, " ")
	}
	fmt.Fprintf(b, "  %s\n", p.Paint(Gray, line("", "planned", "billed", "off by")))
	billed, cost := t.Billed, costOf(t)
	if compared {
		billed, cost = t.BilledCompared, dollars(t.ComparedCostUSD)
	}
	for _, row := range []struct {
		what            string
		planned, billed int
	}{
		{"input tokens", t.Planned.InputTokens, billed.InputTokens},
		{"  cache read", t.Planned.CacheReadTokens, billed.CacheReadTokens},
		{"  write, short", t.Planned.CacheWrite5mTokens, billed.CacheWrite5mTokens},
		{"  write, long", t.Planned.CacheWrite1hTokens, billed.CacheWrite1hTokens},
		{"  uncached", t.Planned.UncachedTokens, billed.UncachedTokens},
	} {
		if row.planned != 0 || row.billed != 0 {
			b.WriteString("  " + line(row.what, Thousands(row.planned), Thousands(row.billed), signed(row.planned, row.billed)) + "\n")
		}
	}
	fmt.Fprintf(b, "  %s\n", line("cost of input", dollars(t.PlannedCostUSD), cost, ""))
}

// said writes the facts that sums alone do not show.
func said(b *strings.Builder, t *billing.Sum, p Style, columns int) {
	line := func(name, text string) {
		for _, l := range Wrap(text, columns-18) {
			fmt.Fprintf(b, "  %s%s\n", Left(name, 16), l)
			name = ""
		}
	}
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
func sums(b *strings.Builder, title string, rows []billing.Sum, p Style, columns int) {
	cells := []struct {
		head  string
		width int
		of    func(s *billing.Sum) string
	}{
		{"calls", 7, func(s *billing.Sum) string { return Thousands(s.Calls) }},
		{"input", 8, func(s *billing.Sum) string { return compact(s.Billed.InputTokens) }},
		{"hits", 9, func(s *billing.Sum) string { return OptionalShare(s.HitRatio) }},
		{"cost", 11, costOf},
		{"error", 9, func(s *billing.Sum) string { return OptionalShare(s.InputError) }},
		{"cold", 6, func(s *billing.Sum) string { return Thousands(s.ColdSeen) }},
		{"saved", 8, func(s *billing.Sum) string { return compact(s.SavedTokens) }},
	}
	const leastName = 20
	room := columns - 2 - leastName
	n := 0
	for n < len(cells) && cells[n].width <= room {
		room -= cells[n].width
		n++
	}
	head := Left("", leastName+room)
	for _, c := range cells[:n] {
		head += Right(c.head, c.width)
	}
	fmt.Fprintf(b, "%s\n  %s\n", p.Paint(Bold, title), p.Paint(Gray, head))
	for i := range rows {
		line := Left(rows[i].Name, leastName+room)
		for _, c := range cells[:n] {
			line += Right(c.of(&rows[i]), c.width)
		}
		b.WriteString("  " + line + "\n")
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
