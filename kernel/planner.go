package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
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
	w, err := k.plan(ctx, s, req, true)
	if err != nil {
		return nil, err
	}
	if err := s.record(w); err != nil {
		s.forget()
		return k.planUnrecorded(ctx, s, req, err)
	}
	if len(w.prev.Proj.Seen) == 0 {
		k.memory.sessionStarts()
	}
	w.faults = append(w.faults, s.damages()...)
	if k.counter != nil && w.Count.Kind != budget.Exact && k.ask(ctx, s, w) {
		if p, err := k.planCounted(ctx, s, req); ctx.Err() == nil {
			return p, err
		}
	}
	return w.result(), nil
}

// planCounted plans once more after the provider counted a plan and found it too
// large: the line is anchored on that count now.
func (k *Kernel) planCounted(ctx context.Context, s *session, req PlanRequest) (*ContextPlan, error) {
	w, err := k.plan(ctx, s, req, true)
	if err != nil {
		return nil, err
	}
	if err := s.record(w); err != nil {
		s.forget()
		return k.planUnrecorded(ctx, s, req, err)
	}
	return w.result(), nil
}

// planUnrecorded plans when nothing can be written (a full or read-only disk): a
// model call should not fail for that. What is not durable stays in full; if that
// does not fit, the reason why nothing could be written is the error.
func (k *Kernel) planUnrecorded(ctx context.Context, s *session, req PlanRequest, cause error) (*ContextPlan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.refresh(false); err != nil { // what was recorded before stands
		s.forget()
	}
	w, err := k.plan(ctx, s, req, false)
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
	if err := req.Check(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	s, unlock, err := k.open(ctx, req.SessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w, err := k.plan(ctx, s, req, true)
	if err != nil {
		return nil, err
	}
	return w.result(), nil
}

// plan is the heart: a session and a request in, finished work out. It writes
// nothing. durable tells whether what is ingested now will be on disk before the
// plan is used.
func (k *Kernel) plan(ctx context.Context, s *session, req PlanRequest, durable bool) (*work, error) {
	return k.planFor(ctx, s, req, durable, nil)
}

// planFor is plan, or what a compaction on demand makes of one: there is no call
// then, so that nothing is appended and the provider's cache stays what it was.
func (k *Kernel) planFor(ctx context.Context, s *session, req PlanRequest, durable bool, d *demand) (*work, error) {
	w, err := k.newWork(ctx, s, req, durable)
	if err != nil {
		return nil, err
	}
	if w.demand = d; d != nil {
		w.fixedAs = remembered(w.prev, &w.req)
	}
	w.ctx, w.memory, w.durable = ctx, k.memory, durable
	if w.shared, err = k.projectPages(ctx); err != nil {
		w.faults = append(w.faults, Fault{Code: FaultProject, Detail: err.Error()})
	}
	if err := w.absorb(); err != nil {
		return nil, err
	}
	w.measure()
	if d == nil {
		w.misses()
	}
	w.takeUnplanned()
	if err := w.learnRefusal(); err != nil {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	if w.learned {
		w.takeBackRefused()
		w.measure()
	}
	w.keepCall()
	if err := w.project(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // what recall found may be less than there is
	}
	if d != nil {
		w.blocks = w.blockList(w.proj) // what the provider's cache holds stays what it was
		return w, nil
	}
	w.layout()
	return w, nil
}

// project asks Next for the next projection, with a cut if the cut planner wants
// one and the rules allow it, and with the kernel's blocks behind the newest
// message. What is recalled comes last: it takes the room that is left, and makes
// no cut.
func (w *work) project() error {
	w.wishes = pagevm.Wishes{}
	w.leadGone = len(w.align.Seen) > 0 && w.align.Seen[0].Gone
	if len(w.prev.Proj.Seen) == 0 {
		w.wishes = pagevm.Wishes{Carry: append(w.workspaceBlocks(), w.resumed()...), CarryNow: true}
	}
	if w.renewed() {
		w.renewSummary()
		w.wishes.Carry, w.wishes.CarryNow = w.carryIfGone(), w.wishes.CarryNow || w.hostCompacted()
	}
	if left := w.anew(); left != nil {
		w.wishes = pagevm.Wishes{Carry: append(w.workspaceBlocks(), left...), CarryNow: true}
	}
	w.sizeCarried()
	w.fitNewest()
	w.squeezeCarried()
	w.next.Hosts = w.Hosts
	if err := w.splitWindow(); err != nil {
		return err
	}
	delta := pagevm.Delta{Host: w.Hosts, Places: w.places, Align: w.align}
	w.granted = pagevm.Cache{StripThinking: w.stripThinking()}
	grown, dec := w.nextProjection(delta, w.wishes, w.granted)
	w.proj, w.decision = grown, dec
	w.before = w.planned(grown) + w.waitingPins()
	w.seed(grown)
	if w.demand == nil {
		w.keepPace()
	}
	w.chooseLifetimes()
	cache := w.cache(grown)
	w.cut = w.planCut(w.cutInput(grown, cache))
	w.wantCut(grown)
	cache.Forced = w.cut.Force
	switch err := w.ctx.Err(); {
	case err != nil:
		return err
	case w.cut.Do && w.cut.Reason == string(pagevm.CutDemand), w.cut.Do && w.demand != nil:
		w.makeDemanded(delta, cache)
	case w.cut.Do:
		w.makeCut(delta, cache)
	case w.notesWait(cache):
		w.showNotes(delta, cache)
	}
	w.settleCuts(grown)
	if len(w.pressed) > 0 && w.decision.Cut == nil {
		w.next.Settled = -1 // nothing became of it
	}
	if over := w.planned(w.proj) - w.hard; over > 0 && (w.demand == nil || !w.demand.made) {
		return w.tooSmall(over)
	}
	if err := w.stuck(); err != nil {
		return err
	}
	w.gauge()
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.demand == nil {
		w.flushDue()
		w.appendBlocks(delta)
	}
	w.verify()
	w.next.Proj = w.proj
	w.next.Planned, w.next.Full, w.next.Window = w.proj.Tokens(), w.planned(w.proj), w.window
	w.next.Before, w.next.Ratio = w.before, w.ratio
	return nil
}

// appendBlocks asks Next once more for the same projection, with notes and recalled
// memory behind the newest message, before system messages that end the request. Where
// those were sent already nothing may come between, and all waits for the next call.
func (w *work) appendBlocks(delta pagevm.Delta) {
	for n := len(w.Msgs); w.wishes.Ahead < n && ingest.SystemRole(w.Msgs[n-1-w.wishes.Ahead].Role); {
		w.wishes.Ahead++
	}
	if n := len(w.Msgs); w.wishes.Ahead == n || w.wishes.Ahead > n-delta.Align.At {
		return
	}
	w.leadGone = w.proj.Seen[0].Gone
	blocks := w.fitting(slices.Concat(w.pinNotes(), w.gaugeNote(), w.tellings()))
	if len(blocks) > 0 {
		w.grant(delta, blocks, nil)
	}
	recall, recalled := w.recall()
	if recall != nil {
		w.grant(delta, append(blocks, recalled...), recall)
	}
}

func (w *work) grant(delta pagevm.Delta, blocks []pagevm.Block, recall *pagevm.Recall) {
	wishes := w.wishes
	wishes.Append, wishes.Recall = blocks, recall
	w.proj, w.decision = w.nextProjection(delta, wishes, w.granted)
}

// fitting are the blocks that there is room for. A change that finds none is told
// at the next turn, or stands in the carry block after the cut that comes first.
func (w *work) fitting(blocks []pagevm.Block) []pagevm.Block {
	room := w.hard - w.planned(w.proj)
	var out []pagevm.Block
	for _, b := range blocks {
		if t := w.scale(b.Tokens); t <= room {
			out, room = append(out, b), room-t
		}
	}
	return out
}

// splitWindow divides the window among the regions. It fails if what must stand
// (tools, system, the newest messages) does not fit beside the reserve, and names the
// largest of it.
func (w *work) splitWindow() (err error) {
	w.split, err = budget.Split(budget.Request{Window: w.window, Reserve: w.reserve, Fixed: []budget.Item{
		{Name: RegionTools, Tokens: w.toolTokens}, {Name: RegionSystem, Tokens: w.systemTokens},
		{Name: RegionNewest, Tokens: w.newestTokens()}}})
	if small := (*TooSmallError)(nil); errors.As(err, &small) {
		small.Largest = w.largestItems(w.newestItems())
	}
	return err
}
