package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/summary"
)

// PlanContext decides what to send for one model call. It ingests what is new,
// plans, and records what it planned. A context that is cancelled before the
// first write leaves nothing behind, and is noticed within the work on one message; a
// plan that is being recorded is recorded, and returned.
func (k *Kernel) PlanContext(ctx context.Context, req PlanRequest) (*ContextPlan, error) {
	if err := req.Check(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	s, unlock, err := k.open(ctx, req.SessionKey, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	pl, err := k.plan(ctx, s, req, true, nil)
	if err != nil {
		return nil, err
	}
	if err := record(s, ctx, pl); err != nil {
		s.Invalidate()
		return k.planUnrecorded(ctx, s, req, err)
	}
	if len(pl.Prev.Proj.Seen) == 0 && k.memory != nil {
		k.memory.Sync.SessionStarts()
	}
	pl.faults = append(pl.faults, faultsOf(s.Life.Damages())...)
	if k.counter != nil && pl.Count.Kind != budget.Exact && k.ask(ctx, s, pl) {
		if p, err := k.planCounted(ctx, s, req); ctx.Err() == nil {
			return p, err
		}
	}
	return pl.result(), nil
}

// planCounted plans once more after the provider counted a plan and found it too
// large: the line is anchored on that count now.
func (k *Kernel) planCounted(ctx context.Context, s *session.Session, req PlanRequest) (*ContextPlan, error) {
	pl, err := k.plan(ctx, s, req, true, nil)
	if err != nil {
		return nil, err
	}
	if err := record(s, ctx, pl); err != nil {
		s.Invalidate()
		return k.planUnrecorded(ctx, s, req, err)
	}
	return pl.result(), nil
}

// planUnrecorded plans when nothing can be written (a full or read-only disk): a
// model call should not fail for that. What is not durable stays in full; if that
// does not fit, the reason why nothing could be written is the error.
func (k *Kernel) planUnrecorded(ctx context.Context, s *session.Session, req PlanRequest, cause error) (*ContextPlan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.Refresh(false); err != nil { // what was recorded before stands
		s.Invalidate()
	}
	pl, err := k.plan(ctx, s, req, false, nil)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	pl.faults = append(pl.faults, Fault{Code: FaultNotRecorded, Detail: cause.Error()})
	return pl.result(), nil
}

// Peek plans without writing anything: what it would ingest counts as committed,
// and its pointers do not resolve yet.
func (k *Kernel) Peek(ctx context.Context, req PlanRequest) (*ContextPlan, error) {
	if err := req.Check(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	s, unlock, err := k.open(ctx, req.SessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	pl, err := k.plan(ctx, s, req, true, nil)
	if err != nil {
		return nil, err
	}
	return pl.result(), nil
}

// planned is a plan that was made, and what recording it adds.
type planned struct {
	*plan.Result
	k      *Kernel
	s      *session.Session
	req    PlanRequest
	price  cachelayout.Model
	demand bool // it comes with no call
	faults []Fault
	alerts []Fault
	stats  Stats
}

// plan reads what stands, plans, and writes nothing. durable tells whether what is
// ingested now will be on disk before the plan is used; a wish is a compaction on demand,
// nil for a plan.
func (k *Kernel) plan(ctx context.Context, s *session.Session, req PlanRequest, durable bool, wish *plan.Wish) (*planned, error) {
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	price, _ := k.prices.Lookup(req.Model, req.Now)
	prior, faults, err := k.prior(ctx, s, &req, price)
	if err != nil {
		return nil, err
	}
	prior.Maker.Durable = durable
	ask := req.ask(price)
	ask.LowWater, ask.Demand = k.lowWater, wish
	var files plan.Workspace // nil if memory is off
	if k.memory != nil {
		files = workspaceReader{k.memory, req.Private, s.Key}
	}
	r, err := plan.Plan(ctx, prior, ask, sessionReader{s, &req}, files)
	if err != nil {
		return nil, hostError(req.SessionKey, err)
	}
	pl := &planned{Result: r, k: k, s: s, req: req, price: price, demand: wish != nil, faults: faults, stats: Stats{Ingested: r.Ingested, LiftedBytes: r.LiftedBytes}}
	pl.faults, pl.alerts = append(pl.faults, faultsOf(r.Faults)...), faultsOf(r.Alerts)
	return pl, nil
}

// prior is what stands when a plan is made, with what could not be read of it.
func (k *Kernel) prior(ctx context.Context, s *session.Session, req *PlanRequest, price cachelayout.Model) (*plan.Prior, []Fault, error) {
	var faults []Fault
	m, err := newMaker(ctx, k, s, price, req.Branch, req.Model)
	if err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	m.Resolver, m.Stopped = req.Resolver, func() bool { return ctx.Err() != nil }
	if lost := s.Branches.Lost(branch.Key{Branch: req.Branch, Model: req.Model}); lost != "" {
		faults = append(faults, Fault{Code: FaultProjectionLost, Detail: lost})
	}
	shared, err := k.projectPages(ctx)
	if err != nil {
		faults = append(faults, Fault{Code: FaultProject, Detail: err.Error()})
	}
	o := &k.life
	p := &plan.Prior{Key: s.Key, Name: s.Name, Before: s.Branches.Of(req.Branch, req.Model), Texts: s.Texts, Maker: m,
		Observed: s.Account.Observed[req.Branch], Calibration: s.Calibrations.Of(req.Model),
		Pinned:  plan.InScope(plan.Standing(append(shared, s.Stored()...)), req.Branch),
		Pending: s.Account.Pending[req.Branch], Compacted: s.Account.Compacted,
		Life: plan.Life{Off: o.Off, NoCheckpoints: o.NoCheckpoints, RestoreTokens: o.RestoreTokens, Progress: plan.Progress(o.Progress.withDefaults()),
			Thresholds: o.thresholds, Flush: plan.Flush{Off: o.Flush.Off, Soft: o.Flush.softTokens, TranscriptBytes: o.Flush.TranscriptBytes}},
		Memory: plan.Memory{CarryTokens: DefaultWorkspaceTokens, RecallTokens: DefaultRecallTokens, RecallItems: DefaultRecallItems}}
	if k.memory != nil {
		o := &k.memory.opts
		p.Memory = plan.Memory{Bootstrap: o.Bootstrap, NoRemembered: o.NoRemembered, NoDailyLogs: o.NoDailyLogs, NoSpans: o.NoSpans,
			WorkspaceTokens: o.WorkspaceTokens, CarryTokens: DefaultWorkspaceTokens, RecallTokens: o.RecallTokens, RecallItems: o.RecallItems,
			RecallScore: o.RecallScore, RecallShare: o.RecallShare}
		if o.WorkspaceTokens > 0 {
			p.Memory.CarryTokens = o.WorkspaceTokens
		}
	}
	return p, faults, nil
}

// ask is the request as it is planned.
func (r *PlanRequest) ask(price cachelayout.Model) *plan.Request {
	out := &plan.Request{SessionKey: r.SessionKey, Branch: r.Branch, Model: r.Model, Price: price, ContextWindow: r.ContextWindow, Reserve: r.Reserve,
		FixedTokens: r.FixedTokens, System: r.System, Tools: r.Tools, Messages: r.Messages, Prompt: r.Prompt, Turn: r.Turn, Now: r.Now,
		Resolver: r.Resolver, Private: r.Private, ToolChoice: r.ToolChoice, Thinking: r.Thinking, Effort: r.Effort, DropOption: r.DropOption,
		Format: r.Format, TTL: r.TTL, Overflow: (*plan.Overflow)(r.Overflow), Unplanned: (*plan.Unplanned)(r.Unplanned)}
	for _, m := range r.Memories {
		out.Memories = append(out.Memories, plan.MemoryAnswer(m))
	}
	return out
}

// hostError gives the errors of a plan the types that hosts know.
func hostError(session string, err error) error {
	var window *plan.WindowError
	var refused *plan.RefusedError
	switch {
	case errors.As(err, &window):
		return &WindowError{Model: window.Model}
	case errors.As(err, &refused):
		known := &OverflowError{Tries: refused.Tries, Planned: refused.Planned, Window: refused.Window}
		for _, it := range refused.Largest {
			known.Largest = append(known.Largest, LargeItem(it))
		}
		if err != error(refused) { // it was refused once too often
			return fmt.Errorf("plan %s: %w", session, known)
		}
		return known
	}
	return err
}

// sessionReader reads for a plan what most plans need nothing of.
type sessionReader struct {
	s   *session.Session
	req *PlanRequest
}

func (r sessionReader) Notes() (summary.Notes, error) { return notesOf(r.s, r.req.Branch) }

func (r sessionReader) WorkState() (*plan.WorkState, error) {
	s, now := r.s, r.req.Now
	l, err := s.Life.Now()
	if err != nil {
		return nil, err
	}
	return &plan.WorkState{State: l.State, Latest: l.Latest, Written: l.Written(),
		GoesOn: func() *checkpoint.Checkpoint { return s.Life.GoesOn(now) },
		Input: func(t checkpoint.Trigger, r checkpoint.Reading) checkpoint.Input {
			return s.Life.Input(t, r, now)
		},
		Tell:   func(st *checkpoint.State) { s.Life.Tell(st, r.req.Source) },
		Source: s.Life.Source}, nil
}

func (r sessionReader) Searchable(pages []string, shown func(id string) (*pagevm.Page, string, bool)) (*retrieval.Spans, []ingest.Fault) {
	spans, unread := r.s.Left.Take(r.s.Reader(), pages, shown)
	var faults []ingest.Fault
	for _, u := range unread {
		faults = append(faults, ingest.Fault{Code: string(FaultNotSearched), Page: u.Page, Detail: u.Err.Error()})
	}
	return spans, faults
}

// workspaceReader reads the workspace for a plan of a session.
type workspaceReader struct {
	m       *memory
	private bool
	key     string
}

func (r workspaceReader) File(path string) (plan.File, bool, error) {
	return r.m.source(r.private, path)
}

func (r workspaceReader) Remembered() string {
	return r.m.Remembered()
}

func (r workspaceReader) StateFile() (plan.StateFile, error) {
	f, _, err := r.m.source(r.private, workstate.StatePath)
	out := plan.StateFile{File: f}
	if cut := workstate.ParseStateFile(f.Text); cut.Section != nil {
		out.Owner, out.Section, out.SectionHash, out.Others = cut.Section.Owner, cut.Section.Body, ids.Hash(workstate.StateEnd), cut.Others()
	}
	return out, err
}

func (r workspaceReader) DailyLogs(now time.Time) (today, yesterday markdownstore.File) {
	return r.m.DailyLogs(r.private, now)
}

func (r workspaceReader) Recall(ctx context.Context, q retrieval.Query) retrieval.Result {
	return r.m.Recall(ctx, r.private, r.key, q)
}
