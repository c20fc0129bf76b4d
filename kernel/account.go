package kernel

import (
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/report"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// contextPlan is a plan as the host gets it. The session is still held.
func contextPlan(req *PlanRequest, pl *turn.Planned) *ContextPlan {
	r := pl.Result
	regions, total := report.Regions(r)
	cuts, made, refused := report.Cuts(r)
	out := &ContextPlan{
		ID: r.Next.Plan, SessionKey: pl.Session.Key, Branch: req.Branch, Model: req.Model,
		Tools: req.Tools, System: req.System, Messages: report.Messages(r),
		Format:    r.Format(),
		Markers:   report.Markers(r),
		Params:    Params(report.ParamsOf(r)),
		Retrieval: Retrieval(report.RetrievalOf(r)),
		Layout: Layout{Breakpoints: r.Breakpoints, Change: r.Change, Bill: r.Bill, Cold: r.Cold, Clock: r.Clock,
			Cut: r.Cut, Made: made, Refused: refused, Cuts: cuts, Notes: r.Notes, Pace: r.Next.Pace, Advice: r.Advice,
			Lifetimes: Lifetimes{Fixed: r.Lifetimes.Fixed, FixedWhy: r.Lifetimes.FixedWhy,
				Messages: r.Lifetimes.Messages, MessagesWhy: r.Lifetimes.MessagesWhy}},
		Split:      r.Split,
		Reduced:    make([]Reduced, 0, report.Gone(r)+len(r.Proj.Items)/4),
		Debug:      Debug{Included: make([]Included, 0, len(r.Blocks)), Excluded: make([]Excluded, 0, report.Gone(r))},
		Faults:     faultsOf(pl.Faults),
		Alerts:     faultsOf(pl.Alerts),
		Generation: r.Proj.Generation,
		Stats:      Stats(pl.Stats),
	}
	for _, part := range regions {
		out.Regions = append(out.Regions, Region(part))
	}
	d := &out.Debug
	report.Pages(r, report.Rows{
		Included: func(p report.Included) { d.Included = append(d.Included, Included(p)) },
		Excluded: func(p branch.Excluded) { d.Excluded = append(d.Excluded, Excluded(p)) },
		Reduced:  func(p report.Reduced) { out.Reduced = append(out.Reduced, Reduced(p)) },
	})
	out.FlushDue = pl.Flush
	if req.Deferred {
		out.Deferred = []Deferred{}
		for _, d := range report.DeferredIn(r) {
			out.Deferred = append(out.Deferred, Deferred(d))
		}
	}
	if req.Table {
		out.Table = &paging.PageTable{Report: r.Next.Paging.Report(), Pages: plan.Table(r)}
	}
	out.Budgets = Budgets{
		ContextWindow: r.Window, ReserveTokens: r.Reserve, PlannedInputTokens: total,
		PlannedCacheReadTokens:  r.Bill.ReadTokens,
		PlannedCacheWriteTokens: r.Bill.Write5mTokens + r.Bill.Write1hTokens,
		PlannedUncachedTokens:   r.Bill.UncachedTokens,
		PlannedCostUSD:          r.Bill.CostUSD,
		TokensAre:               r.Kind,
		MarginTokens:            r.Window - r.Reserve - r.Hard,
		Utilization:             float64(r.Before) / float64(r.Window),
	}
	return out
}
