package display

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/billing"
)

const pageHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>memkernel stats</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root{color-scheme:light dark;--ink:#222;--soft:#777;--line:#ddd;--back:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#ddd;--soft:#999;--line:#444;--back:#181818}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .5rem;text-align:right;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}
th{color:var(--soft);font-weight:normal}
svg{width:100%;height:auto}svg text{fill:var(--soft);font-size:11px}
.axis{stroke:var(--line)}.key{color:var(--soft)}.key i{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}
</style></head><body>
`

// StatsPage is a page that needs nothing but itself: no network and no script.
func StatsPage(st *billing.Report, where *time.Location) string {
	var b strings.Builder
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "<h1>memkernel stats</h1>\n<p>%s%s.</p>\n", statsHead(st), period(st, where))
	if st.Total.Calls > 0 {
		pageTable(&b, "Plan against bill", []billing.Sum{st.Total})
		pagePlots(&b, st)
		pageTable(&b, "By session", st.Sessions)
		pageTable(&b, "By day", st.Days)
		pageTable(&b, "By model", st.Models)
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

// period says from when to when.
func period(st *billing.Report, where *time.Location) string {
	if len(st.Calls) == 0 || st.Calls[0].Time.IsZero() {
		return ""
	}
	day := func(t time.Time) string { return t.In(where).Format("2006-01-02 15:04") }
	return ", " + day(st.Calls[0].Time) + " to " + day(st.Calls[len(st.Calls)-1].Time)
}

func pagePlots(b *strings.Builder, st *billing.Report) {
	n := len(st.Calls)
	var planned, total []int
	read, write, plain := make([]int, n), make([]int, n), make([]int, n)
	for i := range st.Calls {
		u := &st.Calls[i].Usage
		if st.Calls[i].Plan != "" || st.Calls[i].PlannedInputTokens > 0 {
			planned, total = append(planned, st.Calls[i].PlannedInputTokens), append(total, u.InputTotal())
		}
		read[i], write[i], plain[i] = u.CacheReadTokens, u.CacheWrite5mTokens+u.CacheWrite1hTokens, u.InputTokens
	}
	if len(planned) > 0 {
		b.WriteString("<h2>Input tokens per planned call</h2>\n")
		b.WriteString(linePlot("tokens", []series{{"planned", "#1f77b4", floats(planned)}, {"billed", "#d62728", floats(total)}}))
	}
	b.WriteString("<h2>How the input was billed</h2>\n")
	b.WriteString(barPlot("tokens", []series{{"cache read", "#2ca02c", floats(read)}, {"written", "#ff7f0e", floats(write)}, {"uncached", "#d62728", floats(plain)}}))
	b.WriteString("<h2>Cost of input, added up, in dollars</h2>\n")
	b.WriteString(linePlot("dollars", costSeries(st)))
	b.WriteString("<p class=\"key\">Calls are in the order of time. Calls without a price are in no cost.</p>\n")
}

// costSeries adds up what was planned, billed, and would have been billed without
// cuts, over calls that have each of them; where none has, it is the bill.
func costSeries(st *billing.Report) []series {
	if st.Total.Compared == 0 {
		out, sum := series{"billed", "#d62728", nil}, 0.0
		for i := range st.Calls {
			if cost := st.Calls[i].BilledCostUSD; cost != nil {
				sum += *cost
			}
			out.values = append(out.values, sum)
		}
		return []series{out}
	}
	out := []series{{"planned", "#1f77b4", nil}, {"billed", "#d62728", nil}, {"without cuts", "#9467bd", nil}}
	var planned, billed, uncut float64
	for i := range st.Calls {
		r := &st.Calls[i]
		if r.Planned != nil && r.Planned.CostUSD != nil && r.BilledCostUSD != nil && r.SavedCostUSD != nil {
			planned += *r.Planned.CostUSD
			billed += *r.BilledCostUSD
			uncut += *r.BilledCostUSD + *r.SavedCostUSD
		}
		for s, v := range []float64{planned, billed, uncut} {
			out[s].values = append(out[s].values, v)
		}
	}
	return out
}

func floats(v []int) []float64 {
	out := make([]float64, len(v))
	for i, n := range v {
		out[i] = float64(n)
	}
	return out
}

func pageTable(b *strings.Builder, title string, rows []billing.Sum) {
	fmt.Fprintf(b, "<h2>%s</h2>\n<table><tr><th></th>", html.EscapeString(title))
	for _, h := range []string{"calls", "turns", "planned input", "billed input", "hit ratio", "planned cost", "billed cost", "error, median", "cold expected", "cold seen", "cuts", "tokens saved", "saved"} {
		fmt.Fprintf(b, "<th>%s</th>", h)
	}
	b.WriteString("</tr>\n")
	for i := range rows {
		s := &rows[i]
		fmt.Fprintf(b, "<tr><td>%s</td>", html.EscapeString(Printable(s.Name)))
		for _, c := range []string{Thousands(s.Calls), Thousands(s.Turns), Thousands(s.Planned.InputTokens), Thousands(s.Billed.InputTokens), optionalShare(s.HitRatio),
			dollars(s.PlannedCostUSD), costOf(s), optionalShare(s.InputError), Thousands(s.ColdExpected), Thousands(s.ColdSeen),
			Thousands(s.Cuts), Thousands(s.SavedTokens), dollars(s.SavedCostUSD)} {
			fmt.Fprintf(b, "<td>%s</td>", c)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}
