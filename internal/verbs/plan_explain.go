package verbs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
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

// explanation is the sheet of a plan.
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
	x.budget()
	x.pages()
	x.memory()
	x.cut()
	x.breakpoints()
	x.bill()
	x.faults()
	x.paging()
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
	for _, sentence := range []string{done(out), saves(out), lookAt(plan)} { // its changes, its savings, and the warnings to look at
		s.Para(2, "", "{}", sentence)
	}
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

// budget writes the arithmetic from the window down to the free tokens.
func (s *explanation) budget() {
	b := s.plan.Budgets
	s.Section("Budget", "tokens")
	table := s.Table(2, []int{2, 14, -11, 3, s.Columns() - 33})
	row := func(sign, name string, n int, form string, values ...any) {
		table(sign, name, n, "", display.Inked("gray", s.Say(form, values...)))
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
	row("-", "planned", b.PlannedInputTokens, "{} of the window, {} before any cut", percent(b.PlannedInputTokens, b.ContextWindow), display.Share(b.Utilization))
	row("=", "free", limit-b.PlannedInputTokens, "")
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

// saving compares a cost with the cost without a layout.
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
		return display.Say("This call is cut from {token} to {}, since {}: {}.", whole, planned, reasonText(made.Reason), lessShown(plan))
	}
	if plan.Budgets.ContextWindow == 0 {
		return display.Say("This call has {token}; the window of {} is not known, so nothing is cut: {}.", planned, plan.Model, windowHint)
	}
	holds := display.Say("This call has {token}, {} of the window of {}", planned, percent(planned, plan.Budgets.ContextWindow), plan.Budgets.ContextWindow)
	switch over := over(&plan.Budgets); {
	case over > 0:
		return display.Say("{}, which is {token} too many; nothing could be cut.", holds, over)
	case plan.Layout.Cut.Do:
		return display.Say("{}; a cut was due, since {}, and was refused.", holds, reasonText(plan.Layout.Cut.Reason))
	case len(plan.Layout.Cuts) > 0:
		return display.Say("{}; nothing more is cut, and of what was cut before {}.", holds, lessShown(plan))
	}
	return holds + "; nothing is cut."
}

// lessShown describes the number of pages that are not shown in full.
func lessShown(plan *api.ContextPlan) string {
	_, less, gone := pageCounts(plan)
	switch {
	case less == 0 && gone == 0:
		return "every page is still shown in full"
	case gone == 0:
		return are(less, "page") + " shown shortened"
	case less == 0:
		return are(gone, "page") + " left out"
	}
	return display.Say("{} shown shortened and {} left out", are(less, "page"), gone)
}

// uncut returns the tokens that the call would have without a cut.
func uncut(plan *api.ContextPlan) int {
	return int(plan.Budgets.Utilization*float64(plan.Budgets.ContextWindow) + 0.5)
}

// over returns the number of tokens by which a plan exceeds its room in the window.
func over(b *api.Budgets) int {
	return max(b.PlannedInputTokens-(b.ContextWindow-b.ReserveTokens-b.MarginTokens), 0)
}

// saves describes the cost of the call, compared with the cost without a cache and without a cut.
func saves(out *planned) string {
	bill := out.Made.Layout.Bill
	text := "The provider's cache plays no part in it"
	switch {
	case bill.ReadTokens > 0:
		text = display.Say("The provider's cache is warm and has {token} of it ({})", bill.ReadTokens, percent(bill.ReadTokens, bill.Total()))
	case bill.Write5mTokens+bill.Write1hTokens > 0:
		text = "The provider's cache has nothing of it, and takes it in for the calls that follow"
	}
	cost, plain := bill.CostUSD, bill.NoLayoutCostUSD
	if cost == nil || plain == nil {
		return display.Say("{}; what it costs is not known, since the price book has no prices for {}.", text, display.Clip(out.Made.Model, 40))
	}
	text += "; it costs " + display.Say("{}", cost)
	switch v := 1 - *cost/max(*plain, 1e-12); {
	case *plain <= 0 || v > -0.0005 && v < 0.0005:
	case v < 0:
		text += display.Say(", {} more than without a cache", display.Share(-v))
	default:
		text += display.Say(", {} less than without a cache", display.Share(v))
	}
	if fewer := uncut(out.Made) - out.Made.Budgets.PlannedInputTokens; out.Made.Layout.Made != nil && fewer > 0 {
		text += display.Say(", and the cut spares {token} a call", fewer)
	}
	return text + "."
}

// lookAt names the part of the explanation that needs attention most.
func lookAt(plan *api.ContextPlan) string {
	switch n := len(plan.Faults); {
	case n == 1:
		return display.Say("Look at Faults, which has one: {}.", plan.Faults[0].Code)
	case n > 1:
		codes := map[fault.Code]bool{}
		var names []string
		for _, f := range plan.Faults {
			if !codes[f.Code] {
				codes[f.Code], names = true, append(names, string(f.Code))
			}
		}
		if len(names) > 3 {
			names = append(names[:3], "…")
		}
		return display.Say("Look at Faults, which has {}: {}.", n, names)
	}
	r, made := &plan.Retrieval, plan.Layout.Made
	switch {
	case over(&plan.Budgets) > 0:
		return "Look at Budget, and use a larger window, a smaller --reserve, or less text."
	case made == nil && plan.Layout.Cut.Do:
		return "Look at Cut, which names the rule that refused it."
	case r.Reason != "OK" && r.Reason != "NO_MATCH" && r.Detail != "" && (len(memoryRows(plan)) > 0 || r.Reason != "DISABLED"):
		return display.Say("Look at Memory, which was not searched as it could be: {}.", strings.TrimSuffix(r.Detail, "."))
	case made != nil:
		return "Look at Pages for what is shortened and left out."
	}
	return "Nothing in it needs attention."
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

func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return display.Plural(n, noun) + " are"
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

// textIn is text in an ink.
func (s *explanation) textIn(ink, label, form string, values ...any) {
	const indent = 15
	s.Hang("  "+s.Paint("gray", display.Left(label, indent-2)), indent, ink, form, values...)
}
