package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// Plan is a plan with the known facts about its call.
type Plan struct {
	Plan *api.ContextPlan
	// Model is the price book's row.
	Model cachelayout.Model
	// Dialect and View describe the transcript. Dialect is "" without one.
	Dialect transcript.Dialect
	View    transcript.View
	// Call is the number of the call, from 1, or 0 for a future call. Calls is the number of
	// calls in the view.
	Call, Calls int
	// Now is the time of the planned call.
	Now time.Time
	// HostMessages is the number of messages from the host, including a prompt.
	HostMessages int
	// FixedTokens is the size of the prompt parts that the transcript doesn't hold. Implied is
	// set if the size was derived from the recorded usage.
	FixedTokens int
	Implied     bool
	Committed   bool
}

// sheet collects the lines of an explanation.
type sheet struct {
	Style
	b   strings.Builder
	out *Plan
	all bool
}

// Explain draws a plan: the content of the window, the decisions and their reasons, the state of
// the cache, and the expected cost of the call. With all it shows every row of every table.
func Explain(w io.Writer, out *Plan, p Style, all bool) error {
	s := &sheet{Style: p, out: out, all: all}
	s.header()
	s.window()
	s.budget()
	s.pages()
	s.memory()
	s.cut()
	s.breakpoints()
	s.bill()
	s.faults()
	s.paging()
	return Flush(w, &s.b)
}

// Summary writes the plan in a few lines.
func Summary(w io.Writer, out *Plan) error {
	plan := out.Plan
	budgets := plan.Budgets
	var b strings.Builder
	fmt.Fprintf(&b, "session   %s\n", Clip(plan.SessionKey, Columns-10))
	fmt.Fprintf(&b, "call      %s%s\n", callName(out), AtTime(out.Now))
	fmt.Fprintf(&b, "model     %s\n", Clip(plan.Model, Columns-10))
	fmt.Fprintf(&b, "plan      %s of %s tokens (%s), %s reserved, %s\n", Thousands(budgets.PlannedInputTokens), Thousands(budgets.ContextWindow), budgets.TokensAre,
		Thousands(budgets.ReserveTokens), Plural(len(plan.Messages), "message"))
	if out.Implied {
		Style{}.hang(&b, "fixed     ", 10, "", FixedRemark(out.FixedTokens))
	}
	fmt.Fprintf(&b, "cut       %s\n", cutName(plan))
	fmt.Fprintf(&b, "pages     %s\n", pagesLine(plan))
	if m := memoryLine(plan); m != "" {
		fmt.Fprintf(&b, "memory    %s\n", m)
	}
	bill := plan.Layout.Bill
	fmt.Fprintf(&b, "cache     %s read, %s written, %s uncached\n", Thousands(bill.ReadTokens), Thousands(bill.Write5mTokens+bill.Write1hTokens), Thousands(bill.UncachedTokens))
	fmt.Fprintf(&b, "cost      %s%s\n", dollars(bill.CostUSD), saving(bill.CostUSD, bill.NoLayoutCostUSD))
	if n := len(plan.Faults); n > 0 {
		fmt.Fprintf(&b, "faults    %s\n", Plural(n, "fault"))
	}
	return Flush(w, &b)
}

// line writes a line. Its parts may be coloured.
func (s *sheet) line(parts ...string) {
	s.b.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	s.b.WriteByte('\n')
}

func (s *sheet) linef(format string, args ...any) { s.line(fmt.Sprintf(format, args...)) }

// say writes a text as [Style.para] does.
func (s *sheet) say(indent int, ink ink, text string) { s.para(&s.b, indent, ink, text) }

// lead writes a text as [Style.hang] does.
func (s *sheet) lead(head string, indent int, ink ink, text string) {
	s.hang(&s.b, head, indent, ink, text)
}

// section begins a part of the sheet, with a remark at the right edge.
func (s *sheet) section(title, remark string) {
	remark = Clip(remark, s.Columns()-Width(title)-2)
	gap := s.Columns() - Width(title) - Width(remark)
	s.line()
	s.line(s.Paint(Bold, title), strings.Repeat(" ", max(gap, 1)), s.Paint(Gray, remark))
}

// text writes a sentence under a section, wrapped, after a short label.
func (s *sheet) text(label, sentence string, as ink) {
	const indent = 15
	s.lead("  "+s.Paint(Gray, Left(label, indent-2)), indent, as, sentence)
}

// header writes the head of the plan.
func (s *sheet) header() {
	plan := s.out.Plan
	s.line(s.Paint(Bold, "memkernel plan"), "  ", Clip(plan.SessionKey, s.Columns()-16))
	s.words()
	source := "no transcript"
	if d := s.out.Dialect; d != "" {
		source = fmt.Sprintf("%s, %s view", d, s.out.View)
	}
	s.text("source", source, "")
	s.text("call", callName(s.out)+AtTime(s.out.Now), "")
	s.text("model", plan.Model+modelRemark(s.out), "")
	s.text("messages", fmt.Sprintf("%s from the host, %s in the prompt", Thousands(s.out.HostMessages), Thousands(len(plan.Messages))), "")
	s.text("tokens", fmt.Sprintf("%s planned, counts are %s", Thousands(plan.Budgets.PlannedInputTokens), plan.Budgets.TokensAre), "")
	if s.out.Implied {
		s.text("fixed part", FixedRemark(s.out.FixedTokens), "")
	}
	if !s.out.Committed {
		s.text("state", "nothing was written; pointers resolve once the plan is committed", "")
	} else {
		s.text("state", fmt.Sprintf("committed as plan %s, generation %d", plan.ID, plan.Generation), "")
	}
}

func callName(t *Plan) string {
	if t.Call == 0 {
		return fmt.Sprintf("the next one, after %s", Plural(t.Calls, "recorded call"))
	}
	return fmt.Sprintf("%s of %s recorded", Thousands(t.Call), Thousands(t.Calls))
}

// Plural returns "1 call" or "7 calls", "1 entry" or "7 entries".
func Plural(n int, noun string) string {
	switch stem, y := strings.CutSuffix(noun, "ry"); {
	case n == 1:
		return "1 " + noun
	case y:
		return Thousands(n) + " " + stem + "ries"
	}
	return Thousands(n) + " " + noun + "s"
}

// AtTime formats a moment after a comma, or returns "" if it is not known.
func AtTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", at" + moment(t)
}

// moment formats a moment after a space, or returns "" if it is not known.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(" 2006-01-02 15:04:05 UTC")
}

func modelRemark(out *Plan) string {
	m := out.Model
	switch {
	case m.ID == "" || m.AsOf == "" && !m.Priced():
		return " (not in the price book: behaviour assumed, cost unpriced)"
	case !m.Priced():
		return " (unpriced)"
	}
	return fmt.Sprintf(" (prices as of %s)", m.AsOf)
}

// budget writes the arithmetic from the window down to the free tokens.
func (s *sheet) budget() {
	b := s.out.Plan.Budgets
	s.section("Budget", "tokens")
	table := s.table(2, []int{2, 14, -11, 3, s.Columns() - 33})
	row := func(sign, name string, n int, remark string) {
		table(sign, name, n, "", inked{Gray, remark})
	}
	if b.ContextWindow == 0 {
		row("", "planned", b.PlannedInputTokens, "of an unknown window")
		return
	}
	row("", "window", b.ContextWindow, "")
	row("-", "reserve", b.ReserveTokens, "kept for the answer")
	row("-", "margin", b.MarginTokens, fmt.Sprintf("kept for the counts' own error (%s)", b.TokensAre))
	limit := b.ContextWindow - b.ReserveTokens - b.MarginTokens
	row("=", "may be planned", limit, "")
	row("-", "planned", b.PlannedInputTokens, fmt.Sprintf("%s of the window, %s before any cut", percent(b.PlannedInputTokens, b.ContextWindow), Share(b.Utilization)))
	row("=", "free", limit-b.PlannedInputTokens, "")
}

// faults lists the faults by name.
func (s *sheet) faults() {
	faults := s.out.Plan.Faults
	if len(faults) == 0 {
		s.section("Faults", "none")
		return
	}
	s.section("Faults", Plural(len(faults), "fault"))
	for _, f := range first(s, faults) {
		detail := f.Detail
		if id := cmp.Or(f.Page, f.Key); id != "" && !strings.Contains(detail, id) {
			detail += " (" + id + ")"
		}
		s.lead("  "+s.Paint(yellow, Left(string(f.Code), 22))+"  ", 26, "", detail)
	}
	s.more(len(faults))
}

// maxRows is the number of rows of a table shown without --all.
const maxRows = 10

// first returns the first rows of a table, or all with --all.
func first[T any](s *sheet, rows []T) []T {
	if s.all {
		return rows
	}
	return rows[:min(len(rows), maxRows)]
}

// more writes the number of rows of a table that [first] left out.
func (s *sheet) more(of int) {
	if of > maxRows && !s.all {
		s.line("  ", s.Paint(Gray, fmt.Sprintf("and %s more; --all shows them", Thousands(of-maxRows))))
	}
}

// saving compares a cost with the cost without a layout.
func saving(cost, without *float64) string {
	if cost == nil || without == nil || *without <= 0 {
		return ""
	}
	if *cost > *without {
		return fmt.Sprintf(" (%s without caching, which would be %s cheaper)", dollars(without), Share(1 - *without / *cost))
	}
	return fmt.Sprintf(" (%s without caching, %s saved)", dollars(without), Share(1 - *cost / *without))
}

func cutName(plan *api.ContextPlan) string {
	if made := plan.Layout.Made; made != nil {
		return fmt.Sprintf("%s, from %s to %s tokens", made.Reason, Thousands(made.Before), Thousands(made.After))
	}
	return "none"
}

// FixedRemark explains the source of the fixed part, and how to set another size.
func FixedRemark(n int) string {
	return fmt.Sprintf("%s tokens of system prompt and tools that the transcript doesn't hold, implied by its first billed call; --fixed-tokens=%d says so by hand, and 0 leaves them out", Thousands(n), n)
}
