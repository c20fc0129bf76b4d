package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// PlanContext decides the messages to send for one model call. It ingests the new messages, plans,
// and records the plan. If the context is cancelled before the first write, the call leaves no
// trace. It stops within the work on one message. A plan whose recording has begun is recorded and
// returned.
//
// The error wraps one of these if that is the cause:
//   - [api.ErrNoMessages], or [api.ErrAnswered] if the conversation ends with an answer
//   - [api.ErrPrivate] for a shared plan of a conversation that was private
//   - *[api.NumberError] for a number that is out of range
//   - *[budget.TooSmallError] if system prompt, tools and reserve do not fit the window
//   - *[api.OverflowError], [api.ErrNoThinking] or [api.ErrNoOverflow] if the provider's refusal
//     in the request leads to no other plan
//   - [api.ErrDamaged] or [api.ErrNewer] if the session's stored state can't be used
//   - [api.ErrClosed], or the error of ctx
func (k *Kernel) PlanContext(ctx context.Context, req api.PlanRequest) (*api.ContextPlan, error) {
	return k.watched(ctx, api.OpPlan, &req, k.plan)
}

// Peek plans without writing anything. The plan treats the new messages as committed, and its
// pointers do not resolve yet.
func (k *Kernel) Peek(ctx context.Context, req api.PlanRequest) (*api.ContextPlan, error) {
	return k.watched(ctx, api.OpPeek, &req, func(ctx context.Context, req *api.PlanRequest, done *api.Done) (out *api.ContextPlan, err error) {
		err = k.reading(ctx, req.SessionKey, func(s *session.Session) (err error) {
			out, err = k.planned(ctx, s, req, done, k.desk.PeekCall)
			return err
		})
		return out, err
	})
}

// watched checks a request, makes its plan with the function make, and reports the plan to the
// watcher.
func (k *Kernel) watched(ctx context.Context, op api.Op, req *api.PlanRequest, make func(context.Context, *api.PlanRequest, *api.Done) (*api.ContextPlan, error)) (out *api.ContextPlan, err error) {
	done := k.watch.begin(op)
	if err = req.Check(); err != nil {
		err = fmt.Errorf("plan %s: %w", req.SessionKey, err)
	} else if out, err = make(ctx, req, done); err != nil {
		out = nil
	}
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Plan, d.Model = out, req.Model })
	return out, err
}

// plan plans a call. If the session can't be written, the plan is made without being recorded.
func (k *Kernel) plan(ctx context.Context, req *api.PlanRequest, done *api.Done) (out *api.ContextPlan, err error) {
	err = k.sessions.Write(ctx, req.SessionKey, func(s *session.Session) (err error) {
		out, err = k.planned(ctx, s, req, done, k.desk.PlanCall)
		return err
	})
	if unkept := (*session.UnkeptError)(nil); !errors.As(err, &unkept) || store.Again(err) {
		return out, err
	}
	cause := err
	err = k.reading(ctx, req.SessionKey, func(s *session.Session) (err error) {
		out, err = k.planned(ctx, s, req, done, func(ctx context.Context, s *session.Session, req *api.PlanRequest) (*turn.Planned, error) {
			return k.desk.Unrecorded(ctx, s, req, cause)
		})
		return err
	})
	return out, err
}

// planned makes a plan of a session with the function make, one of the desk's.
func (k *Kernel) planned(ctx context.Context, s *session.Session, req *api.PlanRequest, done *api.Done, make func(context.Context, *session.Session, *api.PlanRequest) (*turn.Planned, error)) (*api.ContextPlan, error) {
	if err := k.freshMemory(ctx, s.Key); err != nil {
		return nil, err
	}
	pl, err := make(ctx, s, req)
	if err != nil {
		return nil, err
	}
	return contextPlan(req, pl, done), nil
}

// contextPlan returns a plan in the host's form, and adds its figures to the report of the call, if
// there is one. Callers must hold the session.
func contextPlan(req *api.PlanRequest, pl *turn.Planned, done *api.Done) *api.ContextPlan {
	r := pl.Result
	regions, total := r.Regions()
	markers := r.Markers()
	out := &api.ContextPlan{
		Outline: api.Outline{
			ID: r.Next.Plan, SessionKey: pl.Session.Key, Branch: req.Branch, Model: req.Model, Format: r.Format(), Generation: r.Proj.Generation,
			FlushDue: pl.Flush, Regions: regions, Params: r.Params(), Retrieval: r.Retrieval(pl.Withheld),
			Faults: append([]fault.Fault{}, pl.Faults...),
			Alerts: append([]fault.Fault{}, pl.Alerts...),
			Stats:  pl.Stats,
		},
		Details: api.Details{
			Layout: r.Layout(markers),
		},
		Tools: req.Tools, System: req.System, Messages: r.Messages(), Markers: markers,
	}
	out.Debug.Included, out.Debug.Excluded, out.Reduced = r.Pages()
	if req.Table {
		out.Table = &paging.PageTable{Report: r.Next.Paging.Report(), Pages: r.Table()}
	}
	out.Budgets = api.Budgets{
		ContextWindow: r.KnownWindow(), WindowFrom: r.From, ReserveTokens: r.Reserve, PlannedInputTokens: total,
		PlannedCacheReadTokens:  r.Bill.ReadTokens,
		PlannedCacheWriteTokens: r.Bill.Write5mTokens + r.Bill.Write1hTokens,
		PlannedUncachedTokens:   r.Bill.UncachedTokens,
		PlannedCostUSD:          r.Bill.CostUSD,
		TokensAre:               r.Kind,
		MarginTokens:            r.Window - r.Reserve - r.Most(r.Proj),
		Utilization:             float64(r.Before) / float64(r.Window),
	}
	if r.KnownWindow() == 0 {
		out.Budgets.MarginTokens, out.Budgets.Utilization = 0, 0
		out.Layout.Cut = cachelayout.Cut{Reason: cachelayout.ReasonNone, Economy: r.Cut.Economy}
	}
	if done != nil {
		now, before := pl.Next.Paging.Report(), pl.Prev.Paging.Report() // the counts that the plan adds
		done.Faults, done.Alerts, done.Hits = now.ExplicitFaults-before.ExplicitFaults, now.Alerts-before.Alerts, now.Hits-before.Hits
		done.Recalled = out.Retrieval.Page != "" && out.Retrieval.Page != pl.Prev.Proj.Recall.Page
	}
	return out
}
