package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
)

// work is one plan in the making. It reads the session and writes to nothing but
// itself.
type work struct {
	req             PlanRequest
	s               *session
	prev            *line // the line before; never changed
	next            *line // the line being made
	model           cachelayout.Model
	priced, durable bool
	count           counter
	ratio           float64 // calibrated tokens per counted token
	spread          float64 // upper bound per calibrated token

	window, reserve int
	hard            int // window minus reserve, the counts' own error taken off
	fixed           int // tools, system and what the host does not show

	msgs    []memkernel.Message
	kept    int // leading msgs that are those of the line before
	hosts   []pagevm.HostMessage
	places  []pagevm.Place
	seen    []pagevm.Seen
	align   pagevm.Alignment
	capture *capture
	texts   map[string]string // kernel blocks made by this plan
	faults  []Fault
	spans   map[string]string // the span that a message left with, made by spanOf
	removed []Excluded        // what healing took out, taken the parts of it that are new
	taken   []taken
	stats   Stats

	proj     *pagevm.Projection
	decision pagevm.Decision
	cut      cachelayout.Cut
	cold     bool
	clock    string
	before   int // planned input had nothing been cut

	blocks      []cachelayout.Block
	breakpoints []cachelayout.Breakpoint
	change      cachelayout.Change
	bill        cachelayout.Bill
	notes       []string

	split                    budget.Plan
	toolTokens, systemTokens int
	toolHash, systemHash     string
}

// scale turns counted tokens into calibrated ones, rounding up.
func (w *work) scale(tokens int) int {
	if w.ratio == 1 || tokens == 0 {
		return tokens
	}
	return int(float64(tokens)*w.ratio + 0.999)
}

// unscale is the inverse of scale for budgets, rounding down.
func (w *work) unscale(tokens int) int { return int(float64(tokens) / w.ratio) }

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

// newWork resolves the request's defaults.
func (k *Kernel) newWork(s *session, req PlanRequest) (*work, error) {
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	w := &work{req: req, s: s, texts: map[string]string{}, capture: newCapture(), ratio: 1, spread: 1}
	w.model, w.priced = k.prices.Lookup(req.Model, req.Now)
	w.window = req.ContextWindow
	if w.window == 0 {
		w.window = w.model.ContextWindow
	}
	if w.window <= 0 {
		return nil, &WindowError{Model: req.Model}
	}
	w.reserve = req.Reserve
	if w.reserve == 0 {
		w.reserve = budget.DefaultReserve(w.window)
	}
	c, err := newCounter(w.model.Tokenizer, req.Model)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	c.cache = k.counts
	w.count = c
	if lost := s.projectionLost(lineKey{req.Branch, req.Model}); lost != "" {
		w.faults = append(w.faults, Fault{Code: FaultProjectionLost, Detail: lost})
	}
	w.prev = s.line(req.Branch, req.Model)
	next := *w.prev
	next.planID = ""
	w.next = &next
	return w, nil
}

// absorb makes the request valid, lays it over the projection and ingests what is
// new.
func (w *work) absorb() error {
	if err := w.heal(); err != nil {
		return err
	}
	g := w.ingester()
	g.keepTaken(w.taken)
	w.hosts = g.absorb(w.prev, w.msgs)
	w.next.calls = g.calls
	w.stats.Ingested = len(w.capture.pages)
	w.places = places(w.prev.places, g.kept, w.msgs)
	w.align = pagevm.Align(w.prev.proj, w.hosts)
	w.next.msgs, w.next.places = w.msgs, w.places
	if w.align.Rewrite != pagevm.RewriteNone {
		w.faults = append(w.faults, Fault{Code: string(w.align.Rewrite), Key: keyAt(w.hosts, w.align.First),
			Detail: fmt.Sprintf("the host's messages differ from message %d on", w.align.First+1)})
	}
	return nil
}

// ingester makes pages for this plan. Without a window (an observed turn) no
// result is too large.
func (w *work) ingester() *ingester {
	g := &ingester{known: w.s.pages, calls: w.next.calls, count: w.count, branch: w.req.Branch, resolver: w.req.Resolver, large: math.MaxInt, durable: w.durable, out: w.capture}
	if w.window > 0 {
		g.large = w.unscale(budget.LargeResult(w.window))
	}
	return g
}

func freshSeen(hosts []pagevm.HostMessage) []pagevm.Seen {
	out := make([]pagevm.Seen, len(hosts))
	for i := range hosts {
		out[i] = pagevm.Seen{Key: hosts[i].Key, Hash: hosts[i].Hash}
	}
	return out
}

func keyAt(hosts []pagevm.HostMessage, i int) string {
	if i < len(hosts) {
		return hosts[i].Key
	}
	return ""
}

// measure fixes what the plan may spend: the calibration, the fixed part, and the
// hard limit with the counts' own error taken off.
func (w *work) measure() {
	w.calibrate()
	w.measureFixed()
	w.hard = w.withMargin(w.window - w.reserve)
}

// withMargin takes the counts' own error off a limit. The fixed part that the
// host measured itself needs none.
func (w *work) withMargin(limit int) int {
	return w.fixed + int(float64(limit-w.fixed)/w.spread)
}

// measureFixed counts what always stands in full.
func (w *work) measureFixed() {
	for i := range w.req.Tools {
		w.toolHash = hashText(w.toolHash + w.req.Tools[i].Raw)
	}
	for i := range w.req.System {
		w.systemHash = hashText(w.systemHash + w.req.System[i].Text)
	}
	w.systemHash = hashText(w.systemHash + strconv.Itoa(w.req.FixedTokens))
	w.toolTokens = w.scale(w.count.tools(w.req.Tools))
	w.systemTokens = w.req.FixedTokens + w.scale(w.count.system(w.req.System)+w.count.over.Base)
	w.fixed = w.toolTokens + w.systemTokens
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

// cache is what Next has to know of the provider's cache, if p were sent.
func (w *work) cache(p *pagevm.Projection) pagevm.Cache {
	id := w.identity(p)
	w.cold, w.clock = w.next.ledger.Cold(w.model, id, w.req.Now)
	return pagevm.Cache{Cold: w.cold, Event: w.next.ledger.ColdEvent(w.model, id, w.req.Now),
		Resolver: w.req.Resolver != "", StripThinking: w.stripThinking(), Now: w.req.Now}
}

// stripThinking tells whether thinking that a cut makes invalid must be taken out:
// the model binds it to its prefix, and the host can't have the provider drop it.
func (w *work) stripThinking() bool { return w.model.PreservedThinking && !w.req.DropOption }

// minPending is the least that a cut must save to count as pending, in tokens:
// less than that is not worth what it hides.
const minPending = 4000

// cutInput hands the cut planner its figures. Limits are given with the counts'
// own error taken off, so that what it allows fits.
func (w *work) cutInput(grown *pagevm.Projection, c pagevm.Cache) cachelayout.CutInput {
	in := cachelayout.CutInput{
		Model: w.model, Window: w.hard + w.reserve, Reserve: w.reserve,
		Fixed: w.fixed, Conversation: w.before - w.fixed, Planned: w.before,
		Growth: w.growth(), Cold: c.Cold, ColdEventUsed: c.Event != "" && c.Event == grown.LastEvent(),
		OpenLoop: len(w.places) > 0 && w.places[len(w.places)-1].InLoop, TTL: w.ttl(),
		ExpectedTurns: cachelayout.ExpectedTurns(w.calls()),
	}
	in.Pending = w.before - w.fixed - cachelayout.ColdLowWaterConversation
	if in.Pending < minPending {
		in.Pending = 0
	}
	if c.Cold && !w.sent() {
		// Nothing was ever sent: what stands is new, not pending.
		in.Pending = 0
	}
	if w.boundLoop() {
		// A cut would take the loop's thinking away: it waits, unless it can't.
		in.Pending = 0
	}
	in.Pending = max(in.Pending, 0, w.before-w.hard)
	return in
}

// boundLoop tells whether the open tool loop holds thinking that a cut would make
// invalid: the model binds thinking to its prefix, and the host can't have the
// provider drop what no longer fits.
func (w *work) boundLoop() bool {
	if !w.model.PreservedThinking || w.req.DropOption {
		return false
	}
	for i := len(w.places) - 1; i >= 0 && w.places[i].InLoop; i-- {
		for j := range w.hosts[i].Segments {
			if w.hosts[i].Segments[j].Bare.Hash != "" {
				return true
			}
		}
	}
	return false
}

// sent tells whether any request of this conversation is known to have been made.
func (w *work) sent() bool { return !w.next.ledger.LastStart.IsZero() }

// growth lists the tokens that the last calls added, calibrated.
func (w *work) growth() []int {
	g := growth(w.hosts, w.places, 10)
	for i := range g {
		g[i] = w.scale(g[i])
	}
	return g
}

// calls counts the model calls of the conversation so far.
func (w *work) calls() int {
	n := 0
	for i := range w.msgs {
		if w.msgs[i].Role == memkernel.RoleAssistant && w.msgs[i].Origin == memkernel.OriginHost {
			n++
		}
	}
	return n
}

// makeCut submits the cut, and once more with a lower target if what was granted
// does not get below the hard limit.
func (w *work) makeCut(delta pagevm.Delta, cache pagevm.Cache) {
	w.advanceSummary()
	w.seen = slices.Concat(w.align.Seen, freshSeen(w.hosts[w.align.At:]))
	spans, texts := w.prev.spans, w.texts
	madeSpans, madeTexts := spans, texts
	target := w.cut.TargetTokens
	for range 3 {
		w.texts = maps.Clone(texts)
		wish := w.selectFor(target)
		wish.Reason = pagevm.CutReason(w.cut.Reason)
		w.next.spans = spans
		if span, ok := w.span(wish.Leave); ok {
			w.next.spans = append(spans[:len(spans):len(spans)], span)
		}
		proj, dec := pagevm.Next(w.prev.proj, delta, pagevm.Wishes{Cut: wish, Carry: w.carry()}, cache)
		if dec.Cut == nil {
			w.next.spans, w.texts = madeSpans, madeTexts
			w.decision.Refused = dec.Refused
			return
		}
		w.proj, w.decision = proj, dec
		madeSpans, madeTexts = w.next.spans, w.texts
		if w.planned(proj) <= w.cut.Figures.Limit {
			return
		}
		target = w.fixed + (target-w.fixed)/3
	}
}

// selectFor lets the selector choose for a whole prompt of target tokens.
func (w *work) selectFor(target int) *pagevm.CutWish {
	carry := carryRoom(w.window)
	conversation := w.unscale(target-w.fixed) - carry
	return pagevm.Select(pagevm.SelectInput{
		Host: supersede(w.hosts, w.page), Places: w.places, Seen: w.seen,
		Target: max(conversation, 0), Resolver: w.req.Resolver != "",
	})
}

// planned is the whole input of a projection, calibrated and anchored.
func (w *work) planned(p *pagevm.Projection) int {
	return w.fixed + w.conversation(p) + w.anchorShift(p)
}

func (w *work) conversation(p *pagevm.Projection) int {
	n := 0
	for i := range p.Carry {
		n += w.scale(p.Carry[i].Tokens)
	}
	for i := range p.Items {
		n += w.scale(p.Items[i].Tokens)
	}
	return n
}
