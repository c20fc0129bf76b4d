package verbs

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// plan100 is a plan of 60,000 tokens in a window of 100,000, priced and warm.
func plan100(change func(*api.ContextPlan)) *planned {
	cost, plain := 0.02, 0.1
	p := &api.ContextPlan{Outline: api.Outline{Model: "m-1", Retrieval: api.Retrieval{Reason: "OK"},
		Budgets: api.Budgets{ContextWindow: 100_000, ReserveTokens: 10_000, PlannedInputTokens: 60_000, Utilization: 0.6}},
		Details: api.Details{Layout: api.Layout{Bill: cachelayout.Bill{ReadTokens: 45_000, Write5mTokens: 15_000, CostUSD: &cost, NoLayoutCostUSD: &plain}}}}
	if change != nil {
		change(p)
	}
	return &planned{Made: p}
}

func pages(less, gone int) func(*api.ContextPlan) {
	return func(p *api.ContextPlan) {
		for range less {
			p.Debug.Included = append(p.Debug.Included, api.Included{Kind: "evidence", Level: pagevm.Pointer})
		}
		for range gone {
			p.Debug.Excluded = append(p.Debug.Excluded, api.Excluded{Kind: "evidence"})
		}
		p.Budgets.Utilization = 0.95
		p.Layout.Made = &pagevm.CutPoint{Reason: cachelayout.ReasonForced}
	}
}

// TestWords: a sentence that holds for every kind of plan, with the plan's own numbers.
func TestWords(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*api.ContextPlan)
		want   string
	}{
		"no cut":    {nil, "This call has 60,000 tokens, 60.0 % of the window of 100,000; nothing is cut."},
		"cut, many": {pages(30, 386), "This call is cut from 95,000 tokens to 60,000, since the prompt would be over its limit; pages: 0 in full, 30 degraded, 386 dropped."},
		"cut before": {func(p *api.ContextPlan) {
			pages(1, 2)(p)
			p.Layout.Made, p.Layout.Cuts = nil, make([]pagevm.CutPoint, 1)
		}, "; nothing more is cut; pages: 0 in full, 1 degraded, 2 dropped."},
		"refused": {func(p *api.ContextPlan) { p.Layout.Cut.Do, p.Layout.Cut.Reason = true, cachelayout.ReasonHighWater },
			"; a cut was due, since the prompt reached its high-water mark, and was refused."},
		"over the window": {func(p *api.ContextPlan) { p.Budgets.PlannedInputTokens = 90_001 }, "which is 1 token too many; nothing could be cut."},
		"one token":       {func(p *api.ContextPlan) { p.Budgets.PlannedInputTokens = 1 }, "This call has 1 token, 0.0 % of"},
	} {
		if got := done(plan100(tt.change)); !strings.Contains(got, tt.want) || !strings.HasSuffix(got, ".") || strings.HasSuffix(got, "..") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
