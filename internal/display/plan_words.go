package display

import (
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
)

// done describes the changes that the plan made to the conversation.
func done(out *Plan) string {
	plan := out.Made
	planned, whole := plan.Budgets.PlannedInputTokens, uncut(plan)
	if made := plan.Layout.Made; made != nil {
		return Say("This call is cut from {token} to {}, since {}: {}.", whole, planned, reasonText(made.Reason), lessShown(plan))
	}
	if plan.Budgets.ContextWindow == 0 {
		return Say("This call has {token}; the window of {} is not known, so nothing is cut: {}.", planned, plan.Model, windowHint)
	}
	holds := Say("This call has {token}, {} of the window of {}", planned, percent(planned, plan.Budgets.ContextWindow), plan.Budgets.ContextWindow)
	switch over := over(&plan.Budgets); {
	case over > 0:
		return Say("{}, which is {token} too many; nothing could be cut.", holds, over)
	case plan.Layout.Cut.Do:
		return Say("{}; a cut was due, since {}, and was refused.", holds, reasonText(plan.Layout.Cut.Reason))
	case len(plan.Layout.Cuts) > 0:
		return Say("{}; nothing more is cut, and of what was cut before {}.", holds, lessShown(plan))
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
	return Say("{} shown shortened and {} left out", are(less, "page"), gone)
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
	bill := out.Made.Layout.Bill
	text := "The provider's cache plays no part in it"
	switch {
	case bill.ReadTokens > 0:
		text = Say("The provider's cache is warm and has {token} of it ({})", bill.ReadTokens, percent(bill.ReadTokens, bill.Total()))
	case bill.Write5mTokens+bill.Write1hTokens > 0:
		text = "The provider's cache has nothing of it, and takes it in for the calls that follow"
	}
	cost, plain := bill.CostUSD, bill.NoLayoutCostUSD
	if cost == nil || plain == nil {
		return Say("{}; what it costs is not known, since the price book has no prices for {}.", text, Clip(out.Made.Model, 40))
	}
	text += "; it costs " + dollars(cost)
	switch v := 1 - *cost/max(*plain, 1e-12); {
	case *plain <= 0 || v > -0.0005 && v < 0.0005:
	case v < 0:
		text += Say(", {} more than without a cache", Share(-v))
	default:
		text += Say(", {} less than without a cache", Share(v))
	}
	if fewer := uncut(out.Made) - out.Made.Budgets.PlannedInputTokens; out.Made.Layout.Made != nil && fewer > 0 {
		text += Say(", and the cut spares {token} a call", fewer)
	}
	return text + "."
}

// lookAt names the part of the explanation that needs attention most.
func lookAt(plan *api.ContextPlan) string {
	switch n := len(plan.Faults); {
	case n == 1:
		return Say("Look at Faults, which has one: {}.", plan.Faults[0].Code)
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
		return Say("Look at Faults, which has {}: {}.", n, names)
	}
	r, made := &plan.Retrieval, plan.Layout.Made
	switch {
	case over(&plan.Budgets) > 0:
		return "Look at Budget, and use a larger window, a smaller --reserve, or less text."
	case made == nil && plan.Layout.Cut.Do:
		return "Look at Cut, which names the rule that refused it."
	case r.Reason != "OK" && r.Reason != "NO_MATCH" && r.Detail != "" && (len(memoryRows(plan)) > 0 || r.Reason != "DISABLED"):
		return Say("Look at Memory, which was not searched as it could be: {}.", strings.TrimSuffix(r.Detail, "."))
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
