package display

import (
	"cmp"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// Plan is a plan with the known facts about its call.
type Plan struct {
	Made *api.ContextPlan
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

// explanation is the sheet of a plan.
type explanation struct {
	*Sheet
	out  *Plan
	plan *api.ContextPlan
}

// Explain draws a plan: the content of the window, the decisions and their reasons, the state of
// the cache, and the expected cost of the call.
func Explain(s *Sheet, out *Plan) {
	x := &explanation{s, out, out.Made}
	x.header()
	x.window()
	x.budget()
	x.pages()
	x.memory()
	x.cut()
	x.breakpoints()
	x.bill()
	x.faults()
	x.paging()
}

// Summary writes the plan in a few lines.
func Summary(s *Sheet, out *Plan) {
	plan := out.Made
	budgets, bill := plan.Budgets, plan.Layout.Bill
	row := func(name, form string, values ...any) { s.Line("{%-9s} {}", name, s.Say(form, values...)) }
	row("session", "{}", Clip(plan.SessionKey, Columns-10))
	row("call", "{}{}", callName(out), AtTime(out.Now))
	row("model", "{}", Clip(plan.Model, Columns-10))
	row("plan", "{} of {} tokens ({}), {} reserved, {message}", budgets.PlannedInputTokens, budgets.ContextWindow, budgets.TokensAre, budgets.ReserveTokens, len(plan.Messages))
	if out.Implied {
		s.Hang("fixed     ", 10, "", "{}", FixedRemark(out.FixedTokens))
	}
	row("cut", "{}", cutName(plan))
	row("pages", "{}", pagesLine(plan))
	if m := memoryLine(plan); m != "" {
		row("memory", "{}", m)
	}
	row("cache", "{} read, {} written, {} uncached", bill.ReadTokens, bill.Write5mTokens+bill.Write1hTokens, bill.UncachedTokens)
	row("cost", "{}{}", bill.CostUSD, saving(bill.CostUSD, bill.NoLayoutCostUSD))
	if n := len(plan.Faults); n > 0 {
		row("faults", "{fault}", n)
	}
}

// header writes the head of the plan.
func (s *explanation) header() {
	plan, out := s.plan, s.out
	s.Line("{}  {}", inked{Bold, "memkernel plan"}, Clip(plan.SessionKey, s.Columns()-16))
	for _, sentence := range []string{done(out), saves(out), lookAt(plan)} { // its changes, its savings, and the warnings to look at
		s.Para(2, "", "{}", sentence)
	}
	s.Line("")
	if out.Dialect == "" {
		s.text("source", "no transcript")
	} else {
		s.text("source", "{}, {} view", out.Dialect, out.View)
	}
	s.text("call", "{}{}", callName(out), AtTime(out.Now))
	s.text("model", "{}{}", plan.Model, modelRemark(&out.Model))
	s.text("messages", "{} from the host, {} in the prompt", out.HostMessages, len(plan.Messages))
	s.text("tokens", "{} planned, counts are {}", plan.Budgets.PlannedInputTokens, plan.Budgets.TokensAre)
	if out.Implied {
		s.text("fixed part", "{}", FixedRemark(out.FixedTokens))
	}
	if !out.Committed {
		s.text("state", "nothing was written; pointers resolve once the plan is committed")
	} else {
		s.text("state", "committed as plan {}, generation {%d}", plan.ID, plan.Generation)
	}
}

func callName(t *Plan) string {
	if t.Call == 0 {
		return Say("the next one, after {recorded call}", t.Calls)
	}
	return Say("{} of {} recorded", t.Call, t.Calls)
}

func modelRemark(m *cachelayout.Model) string {
	switch {
	case m.ID == "" || m.AsOf == "" && !m.Priced():
		return " (not in the price book: behaviour assumed, cost unpriced)"
	case !m.Priced():
		return " (unpriced)"
	}
	return " (prices as of " + m.AsOf + ")"
}

// budget writes the arithmetic from the window down to the free tokens.
func (s *explanation) budget() {
	b := s.plan.Budgets
	s.section("Budget", "tokens")
	table := s.Table(2, []int{2, 14, -11, 3, s.Columns() - 33})
	row := func(sign, name string, n int, form string, values ...any) {
		table(sign, name, n, "", inked{Gray, s.Say(form, values...)})
	}
	if b.ContextWindow == 0 {
		row("", "planned", b.PlannedInputTokens, "of an unknown window")
		return
	}
	row("", "window", b.ContextWindow, "")
	row("-", "reserve", b.ReserveTokens, "kept for the answer")
	row("-", "margin", b.MarginTokens, "kept for the counts' own error ({})", b.TokensAre)
	limit := b.ContextWindow - b.ReserveTokens - b.MarginTokens
	row("=", "may be planned", limit, "")
	row("-", "planned", b.PlannedInputTokens, "{} of the window, {} before any cut", percent(b.PlannedInputTokens, b.ContextWindow), Share(b.Utilization))
	row("=", "free", limit-b.PlannedInputTokens, "")
}

// faults lists the faults by name.
func (s *explanation) faults() {
	faults := s.plan.Faults
	if len(faults) == 0 {
		s.section("Faults", "none")
		return
	}
	s.section("Faults", Plural(len(faults), "fault"))
	for _, f := range first(s.Sheet, faults) {
		detail := f.Detail
		if id := cmp.Or(f.Page, f.Key); id != "" && !strings.Contains(detail, id) {
			detail += " (" + id + ")"
		}
		s.Hang("  "+s.Paint(yellow, Left(string(f.Code), 22))+"  ", 26, "", "{}", detail)
	}
	s.more(len(faults))
}

// maxRows is the number of rows of a table shown without --all.
const maxRows = 10

// first returns the first rows of a table, or all with --all.
func first[T any](s *Sheet, rows []T) []T {
	if s.All {
		return rows
	}
	return rows[:min(len(rows), maxRows)]
}

// more writes the number of rows of a table that [first] left out.
func (s *Sheet) more(of int) {
	if of > maxRows && !s.All {
		s.Line("  {}", inked{Gray, s.Say("and {} more; --all shows them", of-maxRows)})
	}
}

// saving compares a cost with the cost without a layout.
func saving(cost, without *float64) string {
	switch {
	case cost == nil || without == nil || *without <= 0:
		return ""
	case *cost > *without:
		return Say(" ({} without caching, which would be {} cheaper)", without, Share(1 - *without / *cost))
	}
	return Say(" ({} without caching, {} saved)", without, Share(1 - *cost / *without))
}

func cutName(plan *api.ContextPlan) string {
	if made := plan.Layout.Made; made != nil {
		return Say("{}, from {} to {} tokens", made.Reason, made.Before, made.After)
	}
	return "none"
}

// FixedRemark explains the source of the fixed part, and how to set another size.
func FixedRemark(n int) string {
	return Say("{} tokens of system prompt and tools that the transcript doesn't hold, implied by its first billed call; --fixed-tokens={%d} says so by hand, and 0 leaves them out", n, n)
}
