package kernel

import (
	"context"
	"errors"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
)

// PlanContext decides what to send for one model call. It ingests what is new,
// plans, and records what it planned. A context that is cancelled before the
// first write leaves nothing behind.
func (k *Kernel) PlanContext(ctx context.Context, req PlanRequest) (*ContextPlan, error) {
	s, unlock, err := k.open(ctx, req.SessionKey, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w, err := k.plan(s, req, true)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.record(w); err != nil {
		s.forget()
		return k.planUnrecorded(s, req, err)
	}
	if k.counter != nil && w.count.kind != budget.Exact && k.ask(ctx, s, w) {
		return k.planCounted(s, req)
	}
	return w.result(), nil
}

// planCounted plans once more after the provider counted a plan and found it too
// large: the line is anchored on that count now.
func (k *Kernel) planCounted(s *session, req PlanRequest) (*ContextPlan, error) {
	w, err := k.plan(s, req, true)
	if err != nil {
		return nil, err
	}
	if err := s.record(w); err != nil {
		s.forget()
		return k.planUnrecorded(s, req, err)
	}
	return w.result(), nil
}

// planUnrecorded plans when nothing can be written (a full or read-only disk): a
// model call should not fail for that. What is not durable stays in full; if that
// does not fit, the reason why nothing could be written is the error.
func (k *Kernel) planUnrecorded(s *session, req PlanRequest, cause error) (*ContextPlan, error) {
	if err := s.refresh(false); err != nil { // what was recorded before stands
		s.forget()
	}
	w, err := k.plan(s, req, false)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	w.faults = append(w.faults, Fault{Code: FaultNotRecorded, Detail: cause.Error()})
	return w.result(), nil
}

// FaultNotRecorded is the fault of a plan that could not be written down: nothing
// new was degraded, and the next plan knows nothing of this one.
const FaultNotRecorded = "not_recorded"

// FaultProjectionLost is the fault of a plan that had to begin anew because
// projection.jsonl was damaged or gone: the provider's cache misses once, and
// nothing else is lost. A damaged file is kept beside the new one.
const FaultProjectionLost = "projection_lost"

// projectionLost tells why a line has no projection though it should have one, ""
// if all is well.
func (s *session) projectionLost(key lineKey) string {
	switch {
	case s.lost != nil:
		return s.lost.Error()
	case s.cut[key] && s.lines[key] == nil:
		return recordsFile + " does not hold a conversation that was cut"
	}
	return ""
}

// Peek plans without writing anything: what it would ingest counts as committed,
// and its pointers do not resolve yet.
func (k *Kernel) Peek(ctx context.Context, req PlanRequest) (*ContextPlan, error) {
	s, unlock, err := k.open(ctx, req.SessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w, err := k.plan(s, req, true)
	if err != nil {
		return nil, err
	}
	return w.result(), ctx.Err()
}

// plan is the pure heart: a session and a request in, finished work out. durable
// tells whether what is ingested now will be on disk before the plan is used.
func (k *Kernel) plan(s *session, req PlanRequest, durable bool) (*work, error) {
	w, err := k.newWork(s, req)
	if err != nil {
		return nil, err
	}
	w.durable = durable
	if err := w.absorb(); err != nil {
		return nil, err
	}
	w.measure()
	if err := w.project(); err != nil {
		return nil, err
	}
	w.layout()
	return w, nil
}

// project asks Next for the next projection, with a cut if the cut planner wants
// one and the rules allow it.
func (w *work) project() error {
	wishes := pagevm.Wishes{}
	if w.align.Stale {
		w.renewSummary()
		wishes.Carry = w.carryIfGone()
	}
	w.fitNewest()
	w.next.hosts = w.hosts
	if err := w.splitWindow(); err != nil {
		return err
	}
	delta := pagevm.Delta{Host: w.hosts, Places: w.places, Align: w.align}
	grown, dec := pagevm.Next(w.prev.proj, delta, wishes, pagevm.Cache{StripThinking: w.stripThinking()})
	w.proj, w.decision = grown, dec
	w.before = w.planned(grown)
	w.seed(grown)
	cache := w.cache(grown)
	w.cut = cachelayout.PlanCut(w.cutInput(grown, cache))
	cache.Forced = w.cut.Force
	if w.cut.Do {
		w.makeCut(delta, cache)
	}
	if over := w.planned(w.proj) - w.hard; over > 0 {
		return w.tooSmall(over)
	}
	w.next.proj = w.proj
	w.next.planned = w.proj.Tokens()
	return nil
}

// splitWindow divides the window among the regions. It fails if what must stand
// (tools, system, the newest messages) does not fit beside the reserve.
func (w *work) splitWindow() error {
	var err error
	w.split, err = budget.Split(budget.Request{Window: w.window, Reserve: w.reserve, Fixed: []budget.Item{
		{Name: RegionTools, Tokens: w.toolTokens}, {Name: RegionSystem, Tokens: w.systemTokens},
		{Name: RegionNewest, Tokens: w.scale(w.newestTokens())}}})
	return err
}
