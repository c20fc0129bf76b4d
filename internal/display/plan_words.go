package display

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
)

// words writes the plan in three sentences: its changes, its savings, and the warnings to look
// at.
func (s *sheet) words() {
	for _, sentence := range []string{done(s.out), saves(s.out), lookAt(s.out.Plan)} {
		s.say(2, "", sentence)
	}
	s.line()
}

// done describes the changes that the plan made to the conversation.
func done(out *Plan) string {
	plan := out.Plan
	planned, whole := plan.Budgets.PlannedInputTokens, uncut(plan)
	if made := plan.Layout.Made; made != nil {
		return fmt.Sprintf("This call is cut from %s to %s, since %s: %s.", Plural(whole, "token"), Thousands(planned), reasonText(made.Reason), lessShown(plan))
	}
	if plan.Budgets.ContextWindow == 0 {
		return fmt.Sprintf("This call has %s; the window of %s is not known, so nothing is cut: %s.", Plural(planned, "token"), Printable(plan.Model), windowHint)
	}
	holds := fmt.Sprintf("This call has %s, %s of the window of %s", Plural(planned, "token"), percent(planned, plan.Budgets.ContextWindow), Thousands(plan.Budgets.ContextWindow))
	switch over := over(&plan.Budgets); {
	case over > 0:
		return fmt.Sprintf("%s, which is %s too many; nothing could be cut.", holds, Plural(over, "token"))
	case plan.Layout.Cut.Do:
		return fmt.Sprintf("%s; a cut was due, since %s, and was refused.", holds, reasonText(plan.Layout.Cut.Reason))
	case len(plan.Layout.Cuts) > 0:
		return fmt.Sprintf("%s; nothing more is cut, and of what was cut before %s.", holds, lessShown(plan))
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
	return fmt.Sprintf("%s shown shortened and %s left out", are(less, "page"), Thousands(gone))
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
func saves(out *Plan) string {
	bill := out.Plan.Layout.Bill
	wrote := bill.Write5mTokens + bill.Write1hTokens
	var b strings.Builder
	switch {
	case bill.ReadTokens > 0:
		fmt.Fprintf(&b, "The provider's cache is warm and has %s of it (%s)", Plural(bill.ReadTokens, "token"), percent(bill.ReadTokens, bill.Total()))
	case wrote > 0:
		b.WriteString("The provider's cache has nothing of it, and takes it in for the calls that follow")
	default:
		b.WriteString("The provider's cache plays no part in it")
	}
	cost, plain := bill.CostUSD, bill.NoLayoutCostUSD
	if cost == nil || plain == nil {
		fmt.Fprintf(&b, "; what it costs is not known, since the price book has no prices for %s.", Clip(out.Plan.Model, 40))
		return b.String()
	}
	fmt.Fprintf(&b, "; it costs %s", dollars(cost))
	switch v := 1 - *cost/max(*plain, 1e-12); {
	case *plain <= 0 || v > -0.0005 && v < 0.0005:
	case v < 0:
		fmt.Fprintf(&b, ", %s more than without a cache", Share(-v))
	default:
		fmt.Fprintf(&b, ", %s less than without a cache", Share(v))
	}
	if fewer := uncut(out.Plan) - out.Plan.Budgets.PlannedInputTokens; out.Plan.Layout.Made != nil && fewer > 0 {
		fmt.Fprintf(&b, ", and the cut spares %s a call", Plural(fewer, "token"))
	}
	return b.String() + "."
}

// lookAt names the part of the explanation that needs attention most.
func lookAt(plan *api.ContextPlan) string {
	switch n := len(plan.Faults); {
	case n == 1:
		return fmt.Sprintf("Look at Faults, which has one: %s.", plan.Faults[0].Code)
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
		return fmt.Sprintf("Look at Faults, which has %s: %s.", Thousands(n), strings.Join(names, ", "))
	}
	r, made := &plan.Retrieval, plan.Layout.Made
	switch {
	case over(&plan.Budgets) > 0:
		return "Look at Budget, and use a larger window, a smaller --reserve, or less text."
	case made == nil && plan.Layout.Cut.Do:
		return "Look at Cut, which names the rule that refused it."
	case r.Reason != "OK" && r.Reason != "NO_MATCH" && r.Detail != "" && (len(memoryRows(plan)) > 0 || r.Reason != "DISABLED"):
		return fmt.Sprintf("Look at Memory, which was not searched as it could be: %s.", strings.TrimSuffix(r.Detail, "."))
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
	return Plural(n, noun) + " are"
}
