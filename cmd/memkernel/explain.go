package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel"
)

// columns is the width that every line keeps to.
const columns = 80

// sheet collects the lines of an explanation.
type sheet struct {
	painter
	b   strings.Builder
	out *planned
	all bool
}

// explain draws a plan: what the window holds, what was decided and why, where
// the cache stands and what the call should cost.
func explain(out *planned, p painter, all bool) []byte {
	s := &sheet{painter: p, out: out, all: all}
	s.header()
	s.window()
	s.budget()
	s.pages()
	s.memory()
	s.cut()
	s.deferred()
	s.breakpoints()
	s.bill()
	s.faults()
	s.recorded()
	return []byte(s.b.String())
}

// line writes a line; its parts may be coloured.
func (s *sheet) line(parts ...string) {
	s.b.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	s.b.WriteByte('\n')
}

func (s *sheet) linef(format string, args ...any) { s.line(fmt.Sprintf(format, args...)) }

// section begins a part of the sheet, with a remark at the right edge.
func (s *sheet) section(title, remark string) {
	remark = clip(remark, columns-width(title)-2)
	gap := columns - width(title) - width(remark)
	s.line()
	s.line(s.do(bold, title), strings.Repeat(" ", max(gap, 1)), s.do(gray, remark))
}

// text writes a sentence under a section, wrapped, behind a short label.
func (s *sheet) text(label, sentence string, as style) {
	const indent = 15
	for i, l := range wrap(sentence, columns-indent) {
		head := ""
		if i == 0 {
			head = label
		}
		if as != "" {
			l = s.do(as, l)
		}
		s.line("  ", s.do(gray, left(head, indent-2)), l)
	}
}

// header says what was planned.
func (s *sheet) header() {
	plan, t := s.out.plan, s.out.target
	s.line(s.do(bold, "memkernel plan"), "  ", clip(plan.SessionKey, columns-16))
	source := "no transcript"
	if d := s.out.session.Dialect; d != "" {
		source = fmt.Sprintf("%s, %s view", d, s.out.view)
	}
	s.text("source", source, "")
	s.text("call", callName(t)+atTime(s.out.request.Now), "")
	s.text("model", plan.Model+modelRemark(s.out), "")
	s.text("messages", fmt.Sprintf("%s from the host, %s in the prompt", thousands(len(s.out.request.Messages)+prompts(s.out)), thousands(len(plan.Messages))), "")
	s.text("tokens", fmt.Sprintf("%s planned, counts are %s", thousands(plan.Budgets.PlannedInputTokens), plan.Budgets.TokensAre), "")
	if s.out.implied {
		s.text("fixed part", fixedRemark(s.out.request.FixedTokens), "")
	}
	if s.out.peek {
		s.text("state", "nothing was written; pointers resolve once the plan is committed", "")
	} else {
		s.text("state", fmt.Sprintf("committed as plan %s, generation %d", plan.ID, plan.Generation), "")
	}
}

func prompts(out *planned) int {
	if out.request.Prompt != "" {
		return 1
	}
	return 0
}

func callName(t target) string {
	if t.call == 0 {
		return fmt.Sprintf("the next one, after %s", plural(t.of, "recorded call"))
	}
	return fmt.Sprintf("%s of %s recorded", thousands(t.call), thousands(t.of))
}

// plural is "1 call" or "7 calls".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

func atTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", at " + t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func modelRemark(out *planned) string {
	m := out.model
	switch {
	case m.ID == "" || m.AsOf == "" && !m.Priced():
		return " (not in the price book: behaviour assumed, cost unpriced)"
	case !m.Priced():
		return " (unpriced)"
	}
	return fmt.Sprintf(" (prices as of %s)", m.AsOf)
}

// budget is the arithmetic from the window down to what is free.
func (s *sheet) budget() {
	b := s.out.plan.Budgets
	s.section("Budget", "tokens")
	row := func(sign, name string, n int, remark string) {
		s.line("  ", sign, " ", left(name, 14), right(thousands(n), 11), "   ", s.do(gray, clip(remark, columns-33)))
	}
	row(" ", "window", b.ContextWindow, "")
	row("-", "reserve", b.ReserveTokens, "kept for the answer")
	row("-", "margin", b.MarginTokens, fmt.Sprintf("kept for the counts' own error (%s)", b.TokensAre))
	limit := b.ContextWindow - b.ReserveTokens - b.MarginTokens
	row("=", "may be planned", limit, "")
	row("-", "planned", b.PlannedInputTokens, fmt.Sprintf("%s of the window, %s before any cut", percent(b.PlannedInputTokens, b.ContextWindow), share(b.Utilization)))
	row("=", "free", limit-b.PlannedInputTokens, "")
}

// deferred sums up what waits for a cut. Where nothing does it says nothing.
func (s *sheet) deferred() {
	rows := s.out.plan.Deferred
	if len(rows) == 0 {
		return
	}
	saved := 0
	for i := range rows {
		saved += rows[i].SavedTokens
	}
	s.section("Deferred", fmt.Sprintf("%s, %s tokens", plural(len(rows), "change"), thousands(saved)))
	s.text("waits for", rows[0].Waits, "")
	shown := rows
	if !s.all && len(shown) > maxRows {
		shown = shown[:maxRows]
	}
	for _, r := range shown {
		s.line("  ", left(r.Page, 24), s.do(gray, left(r.Why, 24)), s.level(r.To.String(), 12), right(thousands(r.SavedTokens), 16))
	}
	s.more(len(rows), len(shown))
}

// faults are what went wrong, by name.
func (s *sheet) faults() {
	faults := s.out.plan.Faults
	if len(faults) == 0 {
		s.section("Faults", "none")
		return
	}
	s.section("Faults", plural(len(faults), "fault"))
	show := faults
	if !s.all && len(show) > maxRows {
		show = show[:maxRows]
	}
	for _, f := range show {
		detail := f.Detail
		if id := first(f.Page, f.Key); id != "" && !strings.Contains(detail, id) {
			detail += " (" + id + ")"
		}
		for i, l := range wrap(detail, columns-26) {
			code := string(f.Code)
			if i > 0 {
				code = ""
			}
			s.line("  ", s.do(yellow, left(code, 22)), "  ", l)
		}
	}
	s.more(len(faults), len(show))
}

// maxRows is how many rows of a table are shown without --all.
const maxRows = 10

// more says what was left out of a table.
func (s *sheet) more(of, shown int) {
	if of > shown {
		s.line("  ", s.do(gray, fmt.Sprintf("and %s more; --all shows them", thousands(of-shown))))
	}
}

// summaryText is the plan in a few lines.
func summaryText(out *planned) string {
	plan := out.plan
	b := plan.Budgets
	var w strings.Builder
	fmt.Fprintf(&w, "session   %s\n", clip(plan.SessionKey, columns-10))
	fmt.Fprintf(&w, "call      %s%s\n", callName(out.target), atTime(out.request.Now))
	fmt.Fprintf(&w, "model     %s\n", clip(plan.Model, columns-10))
	fmt.Fprintf(&w, "plan      %s of %s tokens (%s), %s reserved, %s\n", thousands(b.PlannedInputTokens), thousands(b.ContextWindow), b.TokensAre,
		thousands(b.ReserveTokens), plural(len(plan.Messages), "message"))
	if out.implied {
		for i, l := range wrap(fixedRemark(out.request.FixedTokens), columns-10) {
			fmt.Fprintf(&w, "%s%s\n", left([]string{"fixed", ""}[min(i, 1)], 10), l)
		}
	}
	fmt.Fprintf(&w, "cut       %s\n", cutName(plan))
	fmt.Fprintf(&w, "pages     %s\n", pagesLine(plan))
	if m := memoryLine(plan); m != "" {
		fmt.Fprintf(&w, "memory    %s\n", m)
	}
	bill := plan.Layout.Bill
	fmt.Fprintf(&w, "cache     %s read, %s written, %s uncached\n", thousands(bill.ReadTokens), thousands(bill.Write5mTokens+bill.Write1hTokens), thousands(bill.UncachedTokens))
	fmt.Fprintf(&w, "cost      %s%s\n", dollars(bill.CostUSD), saving(bill.CostUSD, bill.NoLayoutCostUSD))
	if n := len(plan.Faults); n > 0 {
		fmt.Fprintf(&w, "faults    %s\n", plural(n, "fault"))
	}
	return w.String()
}

// saving compares a cost with that of no layout.
func saving(cost, without *float64) string {
	if cost == nil || without == nil || *without <= 0 {
		return ""
	}
	if *cost > *without {
		return fmt.Sprintf(" (%s without caching, which would be %s cheaper)", dollars(without), share(1 - *without / *cost))
	}
	return fmt.Sprintf(" (%s without caching, %s saved)", dollars(without), share(1 - *cost / *without))
}

func cutName(plan *kernel.ContextPlan) string {
	if made := plan.Layout.Made; made != nil {
		return fmt.Sprintf("%s, from %s to %s tokens", made.Reason, thousands(made.Before), thousands(made.After))
	}
	return "none"
}
