package display

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/billing"
)

// PageStyle is the style of a page that stands alone. Colours are those of the window: of
// Okabe and Ito, which people who see colours differently can tell apart.
const PageStyle = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#e3e7eb;--back:#f6f7f9;--card:#fff;--accent:#5b45c2;
--tools:#a9b2bd;--system:#8a95a1;--carry:#009e73;--working_set:#0072b2;--retrieval:#e69f00;--newest:#e5cf1c;--read:#56b4e9;--write:#d55e00;--uncached:#cc79a7;--planned:#e69f00;--billed:#0072b2;--without:#d55e00}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaef;--soft:#9aa5b1;--line:#262d36;--back:#0e1116;--card:#161b22;--accent:#b3a4ff;
--tools:#56606c;--system:#6d7884;--carry:#1fb387;--working_set:#2f8fd0;--newest:#f0e442;--write:#e8731a;--billed:#56b4e9;--without:#e8731a}}
*{box-sizing:border-box}
body{font:13px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums;color:var(--ink);background:var(--back);max-width:1600px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:18px;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:13px;margin:0 0 8px}p{margin:0 0 6px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin-top:14px}
.scroll{overflow-x:auto;margin:0 -14px;padding:0 14px}
table{border-collapse:collapse;width:100%}
th,td{padding:4px 14px 4px 0;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child,.left{text-align:left}
td:first-child{max-width:18em;overflow:hidden;text-overflow:ellipsis}
th:last-child,td:last-child{padding-right:0}tr:last-child td{border-bottom:0}
th{color:var(--soft);font-weight:500;font-size:11.5px}
svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font-size:11px}
.axis{stroke:var(--line)}.key,.hint{color:var(--soft)}.key i{display:inline-block;width:9px;height:9px;border-radius:2px;margin:0 5px 0 14px}.key i:first-child{margin-left:0}
.plots{display:grid;gap:0 14px;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr))}
`

// StatsSections are the sections of a page of [PageStyle] on what was billed.
func StatsSections(st *billing.Report, where *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s%s.</p>\n", statsHead(st), period(st, where))
	if st.Total.Calls > 0 {
		pageTable(&b, "Plan against bill", []billing.Sum{st.Total})
		b.WriteString("<div class=\"plots\">\n")
		pagePlots(&b, st)
		b.WriteString("</div>\n")
		pageTable(&b, "By session", st.Sessions)
		pageTable(&b, "By day", st.Days)
		pageTable(&b, "By model", st.Models)
	}
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
	section := func(title, plot string) {
		fmt.Fprintf(b, "<section><h2>%s</h2>\n%s</section>\n", title, plot)
	}
	if len(planned) > 0 {
		section("Input tokens per planned call", linePlot("tokens", []series{{"planned", "var(--planned)", floats(planned)}, {"billed", "var(--billed)", floats(total)}}))
	}
	section("How the input was billed", barPlot("tokens", []series{{"cache read", "var(--read)", floats(read)}, {"written", "var(--write)", floats(write)}, {"uncached", "var(--uncached)", floats(plain)}}))
	section("Cost of input, added up, in dollars", linePlot("dollars", costSeries(st))+"<p class=\"key\">Calls are in the order of time. Calls without a price are in no cost.</p>\n")
}

// PagePlot is a plot of a page: of values by call, stacked or as lines.
type PagePlot struct {
	// Unit is tokens or dollars.
	Unit   string
	Lines  bool
	Series []PageSeries
}

// PageSeries is one line or one part of the bars; Colour is CSS.
type PageSeries struct {
	Name, Colour string
	Values       []float64
}

// SVG draws it, with its key.
func (p PagePlot) SVG() string {
	var all []series
	for _, s := range p.Series {
		all = append(all, series{s.Name, s.Colour, s.Values})
	}
	if p.Lines {
		return linePlot(p.Unit, all)
	}
	return barPlot(p.Unit, all)
}

// costSeries adds up what was planned, billed, and would have been billed without
// cuts, over calls that have each of them; where none has, it is the bill.
func costSeries(st *billing.Report) []series {
	if st.Total.Compared == 0 {
		out, sum := series{"billed", "var(--billed)", nil}, 0.0
		for i := range st.Calls {
			if cost := st.Calls[i].BilledCostUSD; cost != nil {
				sum += *cost
			}
			out.values = append(out.values, sum)
		}
		return []series{out}
	}
	out := []series{{"planned", "var(--planned)", nil}, {"billed", "var(--billed)", nil}, {"without memkernel", "var(--without)", nil}}
	var planned, billed, uncut float64
	for i := range st.Calls {
		r := &st.Calls[i]
		if r.Planned != nil && r.Planned.CostUSD != nil && r.BilledCostUSD != nil && r.WithoutUSD != nil {
			planned += *r.Planned.CostUSD
			billed += *r.BilledCostUSD
			uncut += *r.BilledCostUSD + *r.WithoutUSD - *r.BilledUSD // the answers cost the same
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
	fmt.Fprintf(b, "<section><h2>%s</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><tr><th></th>", html.EscapeString(title))
	for _, h := range []string{"calls", "turns", "planned input", "billed input", "hit ratio", "planned cost", "billed cost", "error, median", "cold expected", "cold seen", "cuts", "tokens saved", "bill", "without"} {
		fmt.Fprintf(b, "<th>%s</th>", h)
	}
	b.WriteString("</tr>\n")
	for i := range rows {
		s := &rows[i]
		fmt.Fprintf(b, "<tr><td>%s</td>", html.EscapeString(Printable(s.Name)))
		for _, c := range []string{Thousands(s.Calls), Thousands(s.Turns), Thousands(s.Planned.InputTokens), Thousands(s.Billed.InputTokens), OptionalShare(s.HitRatio),
			dollars(s.PlannedCostUSD), costOf(s), OptionalShare(s.InputError), Thousands(s.ColdExpected), Thousands(s.ColdSeen),
			Thousands(s.Cuts), Thousands(s.SavedTokens), dollars(s.BilledUSD), dollars(s.WithoutUSD)} {
			fmt.Fprintf(b, "<td>%s</td>", c)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table></div></section>\n")
}
