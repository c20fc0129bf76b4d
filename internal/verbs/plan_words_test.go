package verbs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
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

// TestWords: three sentences that hold for every kind of plan, with the plan's own numbers.
func TestWords(t *testing.T) {
	for name, tt := range map[string]struct {
		change              func(*api.ContextPlan)
		done, saves, lookAt string
	}{
		"warm, no cut": {nil, "This call has 60,000 tokens, 60.0 % of the window of 100,000; nothing is cut.",
			"The provider's cache is warm and has 45,000 tokens of it (75.0 %); it costs $0.0200, 80.0 % less than without a cache.",
			"Nothing in it needs attention."},
		"cold": {func(p *api.ContextPlan) {
			dearer := 0.125
			p.Layout.Bill.ReadTokens, p.Layout.Bill.Write5mTokens, p.Layout.Bill.CostUSD = 0, 60_000, &dearer
		}, "nothing is cut.", "The provider's cache has nothing of it, and takes it in for the calls that follow; it costs $0.1250, 25.0 % more than without a cache.", "Nothing"},
		"no cache": {func(p *api.ContextPlan) {
			p.Layout.Bill.ReadTokens, p.Layout.Bill.Write5mTokens, p.Layout.Bill.UncachedTokens, p.Layout.Bill.CostUSD = 0, 0, 60_000, p.Layout.Bill.NoLayoutCostUSD
		}, "nothing is cut.", "The provider's cache plays no part in it; it costs $0.1000.", "Nothing"},
		"unpriced": {func(p *api.ContextPlan) { p.Layout.Bill.CostUSD = nil }, "nothing is cut.", "what it costs is not known, since the price book has no prices for m-1.", "Nothing"},
		"free of charge": {func(p *api.ContextPlan) {
			zero := 0.0
			p.Layout.Bill.CostUSD, p.Layout.Bill.NoLayoutCostUSD = &zero, &zero
		}, "nothing is cut.", "; it costs $0.", "Nothing"},
		"cut, many": {pages(30, 386), "This call is cut from 95,000 tokens to 60,000, since the prompt would be over its limit: 30 pages are shown shortened and 386 left out.",
			"and the cut spares 35,000 tokens a call.", "Look at Pages"},
		"cut, one":            {pages(1, 1), ": 1 page is shown shortened and 1 left out.", "", "Look at Pages"},
		"cut, none shortened": {pages(0, 1), ": 1 page is left out.", "", "Look at Pages"},
		"cut, none left":      {pages(2, 0), ": 2 pages are shown shortened.", "", "Look at Pages"},
		"cut, nothing less":   {pages(0, 0), ": every page is still shown in full.", "", "Look at Pages"},
		"cut before": {func(p *api.ContextPlan) {
			pages(1, 2)(p)
			p.Layout.Made, p.Layout.Cuts = nil, make([]pagevm.CutPoint, 1)
		},
			"; nothing more is cut, and of what was cut before 1 page is shown shortened and 2 left out.", "", "Nothing"},
		"refused": {func(p *api.ContextPlan) { p.Layout.Cut.Do, p.Layout.Cut.Reason = true, cachelayout.ReasonHighWater },
			"; a cut was due, since the prompt reached its high-water mark, and was refused.", "", "Look at Cut, which names the rule"},
		"over the window": {func(p *api.ContextPlan) { p.Budgets.PlannedInputTokens = 90_001 }, "which is 1 token too many; nothing could be cut.", "", "Look at Budget"},
		"one fault":       {func(p *api.ContextPlan) { p.Faults = []fault.Fault{{Code: "workspace_cut"}} }, "", "", "Look at Faults, which has one: workspace_cut."},
		"two faults":      {func(p *api.ContextPlan) { p.Faults = []fault.Fault{{Code: "a"}, {Code: "a"}} }, "", "", "Look at Faults, which has 2: a."},
		"many faults": {func(p *api.ContextPlan) {
			for i := range 5 {
				p.Faults = append(p.Faults, fault.Fault{Code: fault.Code(fmt.Sprint("f", i))})
			}
		}, "", "", "which has 5: f0, f1, f2, …."},
		"stale": {func(p *api.ContextPlan) {
			p.Retrieval = api.Retrieval{Reason: "STALE_INDEX", Detail: "3 files changed."}
		}, "", "", "Look at Memory, which was not searched as it could be: 3 files changed."},
		"one token": {func(p *api.ContextPlan) { p.Budgets.PlannedInputTokens = 1; p.Layout.Bill.ReadTokens = 1 }, "This call has 1 token, 0.0 % of", "has 1 token of it", "Nothing"},
	} {
		out := plan100(tt.change)
		for _, s := range []struct{ got, want string }{{done(out), tt.done}, {saves(out), tt.saves}, {lookAt(out.Made), tt.lookAt}} {
			if !strings.Contains(s.got, s.want) || !strings.HasSuffix(s.got, ".") || strings.HasSuffix(s.got, "..") && !strings.HasSuffix(s.got, "….") {
				t.Errorf("%s: %q, want %q", name, s.got, s.want)
			}
		}
	}
}
