package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/report"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// PlanContext decides the messages to send for one model call. It ingests the new messages,
// plans, and records the plan. If the context is cancelled before the first write, the call
// leaves no trace. It stops within the work on one message. A plan whose recording has begun is
// recorded and returned.
func (k *Kernel) PlanContext(ctx context.Context, req api.PlanRequest) (*api.ContextPlan, error) {
	return k.planned(ctx, &req, OpPlan, func(out planning) error {
		err := k.sessions.Write(ctx, req.SessionKey, func(s *session.Session) error { return out(s, k.desk.Plan) })
		if unkept := (*session.UnkeptError)(nil); !errors.As(err, &unkept) || store.Again(err) {
			return err
		}
		return k.reading(ctx, req.SessionKey, func(s *session.Session) error {
			return out(s, func(ctx context.Context, s *session.Session, r *api.PlanRequest) (*turn.Planned, error) {
				return k.desk.Unrecorded(ctx, s, r, err)
			})
		})
	})
}

// Peek plans without writing anything. The plan treats the new messages as committed, and its
// pointers do not resolve yet.
func (k *Kernel) Peek(ctx context.Context, req api.PlanRequest) (*api.ContextPlan, error) {
	return k.planned(ctx, &req, OpPeek, func(out planning) error {
		return k.reading(ctx, req.SessionKey, func(s *session.Session) error { return out(s, k.desk.Peek) })
	})
}

// planning makes the plan of a request in an open session, by one of the desk's ways.
type planning func(s *session.Session, by func(context.Context, *session.Session, *api.PlanRequest) (*turn.Planned, error)) error

// planned checks a request, has plan open its session and make the plan, and reports the plan to
// the watcher.
func (k *Kernel) planned(ctx context.Context, req *api.PlanRequest, op Op, plan func(planning) error) (out *api.ContextPlan, err error) {
	done := k.watch.begin(op)
	defer func() { k.watch.end(ctx, done, err, func(d *Done) { d.Plan, d.Model = out, req.Model }) }()
	if err := req.Check(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	err = plan(func(s *session.Session, by func(context.Context, *session.Session, *api.PlanRequest) (*turn.Planned, error)) error {
		if err := k.freshMemory(ctx, s.Key); err != nil {
			return err
		}
		pl, err := by(ctx, s, req)
		if err != nil {
			return err
		}
		out = contextPlan(req, pl)
		if done != nil { // while the session is held
			done.Paging = pagingOf(pl)
			done.Recalled = out.Retrieval.Page != "" && out.Retrieval.Page != pl.Prev.Proj.Recall.Page
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// contextPlan returns a plan in the form that the host gets. Callers must hold the session.
func contextPlan(req *api.PlanRequest, pl *turn.Planned) *api.ContextPlan {
	r := pl.Result
	regions, total := report.Regions(r)
	markers := report.Markers(r)
	out := &api.ContextPlan{
		Outline: api.Outline{
			ID: r.Next.Plan, SessionKey: pl.Session.Key, Branch: req.Branch, Model: req.Model, Format: r.Format(), Generation: r.Proj.Generation,
			FlushDue: pl.Flush, Regions: regions, Params: report.ParamsOf(r), Retrieval: report.RetrievalOf(r, pl.Withheld),
			Reduced: make([]api.Reduced, 0, report.Gone(r)+len(r.Proj.Items)/4),
			Faults:  append([]fault.Fault{}, pl.Faults...),
			Alerts:  append([]fault.Fault{}, pl.Alerts...),
			Stats:   pl.Stats,
		},
		Details: api.Details{
			Layout: report.LayoutOf(r, markers),
			Debug:  api.Debug{Included: make([]api.Included, 0, len(r.Blocks)), Excluded: make([]api.Excluded, 0, report.Gone(r))},
		},
		Tools: req.Tools, System: req.System, Messages: report.Messages(r), Markers: markers, Split: r.Split,
	}
	d := &out.Debug
	report.Pages(r, report.Rows{
		Included: func(p api.Included) { d.Included = append(d.Included, p) },
		Excluded: func(p api.Excluded) { d.Excluded = append(d.Excluded, p) },
		Reduced:  func(p api.Reduced) { out.Reduced = append(out.Reduced, p) },
	})
	if req.Deferred {
		out.Deferred = report.DeferredIn(r)
	}
	if req.Table {
		out.Table = &paging.PageTable{Report: r.Next.Paging.Report(), Pages: plan.Table(r)}
	}
	out.Budgets = api.Budgets{
		ContextWindow: r.KnownWindow(), WindowFrom: r.From, ReserveTokens: r.Reserve, PlannedInputTokens: total,
		PlannedCacheReadTokens:  r.Bill.ReadTokens,
		PlannedCacheWriteTokens: r.Bill.Write5mTokens + r.Bill.Write1hTokens,
		PlannedUncachedTokens:   r.Bill.UncachedTokens,
		PlannedCostUSD:          r.Bill.CostUSD,
		TokensAre:               r.Kind,
		MarginTokens:            r.Window - r.Reserve - r.Hard,
		Utilization:             float64(r.Before) / float64(r.Window),
	}
	if r.KnownWindow() == 0 {
		out.Budgets.MarginTokens, out.Budgets.Utilization = 0, 0
		out.Split, out.Layout.Cut = budget.Plan{}, cachelayout.Cut{Reason: cachelayout.ReasonNone, Economy: r.Cut.Economy}
	}
	return out
}
