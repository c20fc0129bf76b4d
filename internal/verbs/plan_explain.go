package verbs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// planned is a plan with the known facts about its call.
type planned struct {
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

	request api.PlanRequest
	session *transcript.Session // empty without a transcript
}

// explanation writes the sections of plan --explain to a sheet.
type explanation struct {
	*display.Sheet
	out  *planned
	plan *api.ContextPlan
}

// explainPlan draws a plan: the content of the window, the decisions and their reasons, the state of
// the cache, and the expected cost of the call.
func explainPlan(s *display.Sheet, out *planned) {
	x := &explanation{s, out, out.Made}
	x.header()
	x.window()
	x.pages()
	x.memory()
	x.cut()
	x.breakpoints()
	x.bill()
	x.faults()
}

// summarizePlan writes the plan in a few lines.
func summarizePlan(s *display.Sheet, out *planned) {
	plan := out.Made
	budgets, bill := plan.Budgets, plan.Layout.Bill
	row := func(name, form string, values ...any) { s.Line("{%-9s} {}", name, s.Say(form, values...)) }
	row("session", "{}", display.Clip(plan.SessionKey, display.Columns-10))
	row("call", "{}{}", callName(out), atTime(out.Now))
	row("model", "{}", display.Clip(plan.Model, display.Columns-10))
	row("plan", "{} of {} tokens ({}), {} reserved, {message}", budgets.PlannedInputTokens, budgets.ContextWindow, budgets.TokensAre, budgets.ReserveTokens, len(plan.Messages))
	if out.Implied {
		s.Hang("fixed     ", 10, "", "{}", fixedRemark(out.FixedTokens))
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
	s.Line("{}  {}", display.Inked("bold", "memkernel plan"), display.Clip(plan.SessionKey, s.Columns()-16))
	s.Para(2, "", "{}", done(out))
	s.Line("")
	if out.Dialect == "" {
		s.text("source", "no transcript")
	} else {
		s.text("source", "{}, {} view", out.Dialect, out.View)
	}
	s.text("call", "{}{}", callName(out), atTime(out.Now))
	s.text("model", "{}{}", plan.Model, modelRemark(&out.Model))
	s.text("messages", "{} from the host, {} in the prompt", out.HostMessages, len(plan.Messages))
	s.text("tokens", "{} planned, counts are {}", plan.Budgets.PlannedInputTokens, plan.Budgets.TokensAre)
	if out.Implied {
		s.text("fixed part", "{}", fixedRemark(out.FixedTokens))
	}
	if !out.Committed {
		s.text("state", "nothing was written; pointers resolve once the plan is committed")
	} else {
		s.text("state", "committed as plan {}, generation {%d}", plan.ID, plan.Generation)
	}
}

func callName(t *planned) string {
	if t.Call == 0 {
		return display.Say("the next one, after {recorded call}", t.Calls)
	}
	return display.Say("{} of {} recorded", t.Call, t.Calls)
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

// faults lists the faults by name.
func (s *explanation) faults() {
	faults := s.plan.Faults
	if len(faults) == 0 {
		s.Section("Faults", "none")
		return
	}
	s.Section("Faults", display.Plural(len(faults), "fault"))
	for _, f := range first(s.Sheet, faults) {
		detail := f.Detail
		if id := cmp.Or(f.Page, f.Key); id != "" && !strings.Contains(detail, id) {
			detail += " (" + id + ")"
		}
		s.Hang("  "+s.Paint("yellow", display.Left(string(f.Code), 22))+"  ", 26, "", "{}", detail)
	}
	more(s.Sheet, len(faults))
}

// maxRows is the number of rows of a table shown without --all.
const maxRows = 10

// first returns the first rows of a table, or all with --all.
func first[T any](s *display.Sheet, rows []T) []T {
	if s.All {
		return rows
	}
	return rows[:min(len(rows), maxRows)]
}

// more writes the number of rows of a table that [first] left out.
func more(s *display.Sheet, of int) {
	if of > maxRows && !s.All {
		s.Line("  {}", display.Inked("gray", s.Say("and {} more; --all shows them", of-maxRows)))
	}
}

// saving returns a remark that compares a cost with the cost of the same call without caching.
func saving(cost, without *float64) string {
	switch {
	case cost == nil || without == nil || *without <= 0:
		return ""
	case *cost > *without:
		return display.Say(" ({} without caching, which would be {} cheaper)", without, display.Share(1 - *without / *cost))
	}
	return display.Say(" ({} without caching, {} saved)", without, display.Share(1 - *cost / *without))
}

func cutName(plan *api.ContextPlan) string {
	if made := plan.Layout.Made; made != nil {
		return display.Say("{}, from {} to {} tokens", made.Reason, made.Before, made.After)
	}
	return "none"
}

// fixedRemark explains the source of the fixed part, and how to set another size.
func fixedRemark(n int) string {
	return display.Say("{} tokens of system prompt and tools that the transcript doesn't hold, implied by its first billed call; --fixed-tokens={%d} says so by hand, and 0 leaves them out", n, n)
}

// done describes the changes that the plan made to the conversation.
func done(out *planned) string {
	plan := out.Made
	planned, whole := plan.Budgets.PlannedInputTokens, uncut(plan)
	if made := plan.Layout.Made; made != nil {
		return display.Say("This call is cut from {token} to {}, since {}; pages: {}.", whole, planned, reasonText(made.Reason), pagesLine(plan))
	}
	if plan.Budgets.ContextWindow == 0 {
		return display.Say("This call has {token}; the window of {} is not known, so nothing is cut: {}.", planned, plan.Model, windowHint)
	}
	holds := display.Say("This call has {token}, {} of the window of {}", planned, percent(planned, plan.Budgets.ContextWindow), plan.Budgets.ContextWindow)
	b := &plan.Budgets
	switch over := b.PlannedInputTokens - (b.ContextWindow - b.ReserveTokens - b.MarginTokens); {
	case over > 0:
		return display.Say("{}, which is {token} too many; nothing could be cut.", holds, over)
	case plan.Layout.Cut.Do:
		return display.Say("{}; a cut was due, since {}, and was refused.", holds, reasonText(plan.Layout.Cut.Reason))
	case len(plan.Layout.Cuts) > 0:
		return display.Say("{}; nothing more is cut; pages: {}.", holds, pagesLine(plan))
	}
	return holds + "; nothing is cut."
}

// uncut returns the tokens that the call would have without a cut.
func uncut(plan *api.ContextPlan) int {
	return int(plan.Budgets.Utilization*float64(plan.Budgets.ContextWindow) + 0.5)
}

// pageCounts returns the numbers of pages in full, pages shown shorter, and pages left out. The
// summary of the pages that are left out counts as shown in full.
func pageCounts(plan *api.ContextPlan) (full, less, gone int) {
	for _, r := range plan.Debug.Included {
		if r.Level == pagevm.Full || r.Kind == cachelayout.RegionCarry {
			full++
		} else {
			less++
		}
	}
	return full, less, len(plan.Debug.Excluded) - len(leftOut(plan))
}

// percent formats part of whole in per cent, with one digit.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// atTime formats a moment after a comma, or returns "" if it is not known.
func atTime(t time.Time) string { return momentAfter(", at", t) }

// momentAfter formats a moment after a text, or returns "" if it is not known.
func momentAfter(text string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return text + display.Say("{}", t)
}

// text writes a sentence under a section, wrapped, after a short label.
func (s *explanation) text(label, form string, values ...any) { s.textIn("", label, form, values...) }

// textIn is like text, and writes the sentence in an ink such as "yellow".
func (s *explanation) textIn(ink, label, form string, values ...any) {
	const indent = 15
	s.Hang("  "+s.Paint("gray", display.Left(label, indent-2)), indent, ink, form, values...)
}
