package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/tokencount"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// A compaction on demand is the step that a plan takes when it cuts, without a call:
//
//	Compact ── pass ───── ingest, checkpoint, mechanical flush, summary: one boundary
//	             │
//	           planFor ── the same plan as PlanContext's, with the wish for a cut
//	             │
//	           record ─── checkpoint and flush again if the state changed, then the cut,
//	                      then the projection, synced: the next plan begins with it
//
// No model is asked: the summary was kept up to date turn by turn. What can't be cut
// is not recorded, and the answer says why.

// CompactWish says what a compaction on demand is to come to. The zero value takes
// the low-water mark, or half of the conversation if that is lower.
type CompactWish struct {
	// Tokens is the size that the whole prompt should come down to; Share is the same
	// as a share of the window. The smaller one counts, 0 says nothing.
	Tokens int
	Share  float64
	// Force cuts inside an open tool loop, too, whose closed calls may leave or be
	// shortened then. Without it a loop is only cut when the cache is cold.
	Force bool
	// Call is what the next call will be like, as for [Kernel.PlanContext]: window,
	// reserve, system, tools, resolver and settings. What it does not say is taken
	// from the last plan. Session, messages and time are not looked at.
	Call *PlanRequest
	// FixedTokens is the size of system prompt and tools, for a conversation that was
	// never planned; see [PlanRequest.FixedTokens].
	FixedTokens int
	// Overflow is a provider's refusal of the last call as too long, which the next
	// plan has to fit under; see [PlanRequest.Overflow].
	Overflow *Overflow
}

// CompactReason says how a compaction on demand ended.
type CompactReason string

// The reasons. All but CompactOK reclaim nothing.
const (
	CompactOK CompactReason = "OK"
	// CompactNothing: no turn is closed, so nothing may leave or be shortened.
	CompactNothing CompactReason = plan.NothingToCut
	// CompactFloor: all that may be cut stands at its floor already, or a cut would
	// put as much in its place.
	CompactFloor CompactReason = plan.AtFloor
	// CompactOpenLoop: a tool loop is open, the cache is warm, and Force was not set.
	CompactOpenLoop CompactReason = plan.OpenLoop
	// CompactNoProgress: the last compactions reclaimed next to nothing, and nothing
	// was said since that would change that.
	CompactNoProgress CompactReason = plan.NoProgress
	// CompactNextPlan: the conversation is not in memory and was not handed in. The
	// wish is in the journal; the next plan makes the cut.
	CompactNextPlan CompactReason = "AT_NEXT_PLAN"
	// CompactUnplanned: no plan of the session was ever made here, or its window is
	// not known, so that there is no prompt to cut. Summary and restore text stand.
	CompactUnplanned CompactReason = "NOT_PLANNED"
	// CompactTooLarge: what must stand is larger than the window.
	CompactTooLarge CompactReason = "BUDGET_INSUFFICIENT"
)

// Compaction is what a compaction on demand came to. Tokens are the plan's: of the
// whole prompt, calibrated, without what the provider's own count would add to
// either figure alike.
type Compaction struct {
	Reason CompactReason `json:"reason"`
	// Detail says the reason in words, and what can be done.
	Detail string `json:"detail,omitempty"`
	// TokensBefore and TokensAfter are the prompt as the next plan would have shown
	// it and as it does; Reclaimed is their difference.
	TokensBefore    int `json:"tokens_before"`
	TokensAfter     int `json:"tokens_after"`
	ReclaimedTokens int `json:"reclaimed_tokens"`
	TargetTokens    int `json:"target_tokens"`
	// FixedTokens is what of them was said to be system prompt and tools that were not
	// handed in.
	FixedTokens   int `json:"fixed_tokens"`
	ContextWindow int `json:"context_window"`
	// Atoms and Messages left with this compaction; Lowered results are shown shorter
	// than before.
	Atoms    int `json:"atoms"`
	Messages int `json:"messages"`
	Lowered  int `json:"lowered"`
	// Spans restore what left, by [Kernel.Get].
	Spans []string `json:"spans"`
	// FirstKept is the first message behind all that ever left: a host that replaces
	// its history by Summary keeps it from here on. Nil if nothing is known to stand.
	FirstKept *KeptMessage `json:"first_kept"`
	// Summary is the past in the words of the carry block, SummaryVersion counts its
	// changes. Restore is the working state from which the model goes on. A host that
	// asks a summariser of its own hands it both.
	Summary        string `json:"summary"`
	SummaryVersion int    `json:"summary_version"`
	Restore        string `json:"restore"`
	Checkpoint     string `json:"checkpoint"`
	// Generation is the projection's after the cut.
	Generation int `json:"generation"`
	// Largest is what takes most of the prompt, PinnedTokens what pins and the
	// workspace's files do, where nothing could be reclaimed.
	Largest      []LargeItem `json:"largest"`
	PinnedTokens int         `json:"pinned_tokens"`
	// Warning tells of a session that is compacted again and again, "" if it isn't.
	Warning string `json:"warning,omitempty"`
	// Refusal is what was read out of a provider's refusal, nil if there was none.
	Refusal *budget.Overflow `json:"refusal,omitempty"`
}

// KeptMessage is a message of the host's, by its key and its index.
type KeptMessage struct {
	Key   string `json:"key"`
	Index int    `json:"index"`
}

// LargeItem is a part of a prompt and its size.
type LargeItem struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Compact makes room now. What the conversation holds is taken in and committed
// first; then the prompt is cut, durably, so that the next plan begins with what
// [Passed.Compaction] says. It asks no model and needs no messages if the session
// was planned in this process: OpenClaw's compact hands none. A host that compacts
// its own history calls it before, and takes the texts. Without messages a session that
// is not there is a [NoSessionError].
func (k *Kernel) Compact(ctx context.Context, b Boundary) (*Passed, error) {
	t := b.turn()
	if err := b.Compact.check(); err != nil {
		return nil, fmt.Errorf("%s of session %s: %w", journal.PointCompaction, b.SessionKey, err)
	}
	s, w, unlock, err := k.openBoundary(ctx, &b, &t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", journal.PointCompaction, err)
	}
	defer unlock()
	b.Now = t.Now
	var job *notes.Job
	b.ending = func(st summary.State) { job = k.boundaryNotes(s, w, b, st) }
	p, err := k.compact(ctx, s, w, b)
	if err != nil {
		s.Invalidate() // what stands on disk counts
		return nil, fmt.Errorf("%s of session %s: %w", journal.PointCompaction, s.Key, err)
	}
	k.askAtBoundary(s, job, false)
	return p, nil
}

// compact passes the boundary, then cuts.
func (k *Kernel) compact(ctx context.Context, s *session.Session, w *intake, b Boundary) (*Passed, error) {
	wish := CompactWish{}
	if b.Compact != nil {
		wish = *b.Compact
	}
	req, known := nextCall(s, &b, wish.Call)
	if req.FixedTokens == 0 && len(s.Branches.Newest(b.Branch, b.Model).Proj.Seen) == 0 {
		req.FixedTokens = wish.FixedTokens
	}
	b.pending = !known
	p, err := passBoundary(s, ctx, w, b, journal.PointCompaction)
	if err != nil {
		return nil, err
	}
	if p.Compaction, err = k.cutOnDemand(ctx, s, p, req, &wish, known); err != nil {
		return nil, err
	}
	p.Compaction.FixedTokens = req.FixedTokens
	fillTexts(s, p, b, k.life.Progress)
	return p, nil
}

// nextCall is the call that a compaction makes room for: what the host says of it,
// on the last plan's. known is false where the conversation is not.
func nextCall(s *session.Session, b *Boundary, call *PlanRequest) (req PlanRequest, known bool) {
	l := s.Branches.Newest(b.Branch, b.Model)
	req = nextRequest(l, call)
	req.SessionKey, req.Branch, req.Now, req.Model = b.SessionKey, b.Branch, b.Now, b.Model
	if req.Model == "" {
		req.Model = l.Model
	}
	req.Private = req.Private || l.Private
	req.Messages, req.Prompt = b.Messages, ""
	if len(req.Messages) == 0 {
		req.Messages = l.Raw
	}
	return req, len(req.Messages) > 0
}

// nextRequest is the request of the last call, and what the host says of the next one in
// its place.
func nextRequest(l *branch.State, o *PlanRequest) PlanRequest {
	c := l.LastCall()
	req := PlanRequest{ContextWindow: c.ContextWindow, Reserve: c.Reserve, FixedTokens: c.FixedTokens, Resolver: c.Resolver,
		ToolChoice: c.ToolChoice, Thinking: c.Thinking, Effort: c.Effort, DropOption: c.DropOption, Format: c.Format, TTL: c.TTL,
		System: l.System, Tools: l.Tools}
	if o == nil {
		return req
	}
	req.ContextWindow = cmp.Or(o.ContextWindow, req.ContextWindow)
	req.Reserve = cmp.Or(o.Reserve, req.Reserve)
	req.FixedTokens = cmp.Or(o.FixedTokens, req.FixedTokens)
	req.Resolver = cmp.Or(o.Resolver, req.Resolver)
	req.ToolChoice = cmp.Or(o.ToolChoice, req.ToolChoice)
	req.Thinking = cmp.Or(o.Thinking, req.Thinking)
	req.Effort = cmp.Or(o.Effort, req.Effort)
	req.DropOption = req.DropOption || o.DropOption
	req.Format = cmp.Or(o.Format, req.Format)
	req.TTL = cmp.Or(o.TTL, req.TTL)
	req.Private = req.Private || o.Private
	if o.System != nil || o.Tools != nil {
		req.System, req.Tools = o.System, o.Tools
	}
	return req
}

// cutOnDemand plans without a call and records the cut, if one was made.
func (k *Kernel) cutOnDemand(ctx context.Context, s *session.Session, p *Passed, req PlanRequest, wish *CompactWish, known bool) (*Compaction, error) {
	l := s.Branches.Of(req.Branch, req.Model)
	if !known {
		return compactLater(s, l), nil
	}
	if wish.Overflow != nil {
		req.Overflow = wish.Overflow
	}
	w, err := k.plan(ctx, s, req, true, &plan.Wish{Tokens: wish.Tokens, Share: wish.Share, Force: wish.Force})
	if c := uncut(err); c != nil {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if w.CutMade || w.Learned {
		if err := record(s, ctx, w); err != nil {
			return nil, err
		}
		p.Faults = append(p.Faults, w.faults...)
		p.Stats.add(w.stats)
	}
	return w.compaction(), nil
}

// compactLater says that the next plan cuts.
func compactLater(s *session.Session, l *branch.State) *Compaction {
	c := newCompaction(CompactNextPlan, "the conversation is not known to this process and was not handed in; the next plan makes the cut")
	if len(l.Proj.Seen) == 0 {
		c.Reason, c.Detail = CompactUnplanned, "no plan of this conversation was made here; hand in its messages, or plan it"
	}
	c.TokensBefore = l.FixedTokens() + int(math.Ceil(float64(l.Proj.Tokens())*l.Overflow.Scale()))
	c.TokensAfter, c.ContextWindow, c.Generation = c.TokensBefore, l.LastCall().ContextWindow, l.Proj.Generation
	return c
}

// uncut turns the errors of a plan that say what is the matter with the request into
// answers; nil for others.
func uncut(err error) *Compaction {
	var window *WindowError
	var large *TooSmallError
	var refused *OverflowError
	switch {
	case errors.As(err, &refused):
		c := newCompaction(CompactTooLarge, refused.Error())
		c.ContextWindow, c.TokensBefore, c.TokensAfter, c.Largest = refused.Window, refused.Planned, refused.Planned, refused.Largest
		return c
	case errors.As(err, &window):
		return newCompaction(CompactUnplanned, window.Error())
	case errors.As(err, &large):
		c := newCompaction(CompactTooLarge, large.Error())
		c.ContextWindow = large.Window
		c.TokensBefore = large.Window - large.Reserve + large.Over
		c.TokensAfter = c.TokensBefore
		for _, it := range large.Largest {
			c.Largest = append(c.Largest, LargeItem{it.Name, it.Tokens})
		}
		return c
	}
	return nil
}

func newCompaction(r CompactReason, detail string) *Compaction {
	return &Compaction{Reason: r, Detail: detail, Spans: []string{}, Largest: []LargeItem{}}
}

// textsOf fills in what a host takes along: the summary as it stands in the journal
// and the text to go on from.
func fillTexts(s *session.Session, p *Passed, b Boundary, o ProgressOptions) {
	c := p.Compaction
	if page, ok := s.Page(s.Account.SummaryPage(b.Branch)); ok {
		c.SummaryVersion = page.Version
	}
	l := s.Branches.Newest(b.Branch, b.Model)
	window := l.Window
	if window == 0 {
		window = max(c.ContextWindow, l.LastCall().ContextWindow)
	}
	if window == 0 {
		window = 200_000 // of a conversation that was never planned: the common size
	}
	count, err := tokencount.New("", cmp.Or(b.Model, l.Model), nil)
	if err != nil {
		return
	}
	if c.Summary == "" {
		notes, _ := notesOf(s, b.Branch)
		c.Summary = summary.RenderNoted(s.Account.Furthest(l), notes, summary.Cap(window), count.Text, nil)
	}
	if s.Life.Known() == nil || b.Branch != "" || s.Life.Options.Off {
		return
	}
	from := s.Life.GoesOn(b.Now)
	if from == nil {
		return
	}
	c.Checkpoint = string(from.Meta.CheckpointID)
	if room := plan.RestoreRoom(window, s.Life.Options.RestoreTokens); room > 0 {
		c.Restore = checkpoint.Restore(from, &checkpoint.RestoreOptions{Occasion: checkpoint.AfterCompaction, Cap: room, Count: count.Text, More: plan.More(from)})
	}
	if c.Warning == "" {
		c.Warning = spiral(o, s, l.Proj, b.Now)
	}
}

// compaction tells what the demand came to.
func (pl *planned) compaction() *Compaction {
	c := newCompaction(CompactOK, "")
	c.ContextWindow, c.Generation, c.Refusal = pl.Window, pl.Proj.Generation, pl.Refusal
	c.TokensBefore, c.TokensAfter = pl.Unanchored(pl.Grown), pl.Unanchored(pl.Proj)
	c.ReclaimedTokens, c.TargetTokens = c.TokensBefore-c.TokensAfter, pl.Cut.TargetTokens
	c.FirstKept = pl.firstKept()
	c.PinnedTokens = pl.Standing
	if !pl.CutMade {
		c.Reason, c.Detail = CompactReason(pl.WhyNot), pl.compactHint(CompactReason(pl.WhyNot))
		c.Largest = pl.largest()
		return c
	}
	pl.leftBy(c)
	for _, b := range pl.Wishes.Carry {
		if b.Page == ids.Page("su", pl.s.Name, pl.req.Branch) {
			c.Summary = pl.Text(b.Hash)
		}
	}
	c.Warning = spiral(pl.k.life.Progress, pl.s, pl.Proj, pl.req.Now)
	if over := pl.Planned(pl.Proj) - pl.Hard; over > 0 {
		c.Detail = fmt.Sprintf("still %d tokens over what fits beside the reserve", over)
		c.Largest = pl.largest()
	}
	return c
}

// leftBy counts what a cut took away or shortened.
func (pl *planned) leftBy(c *Compaction) {
	gone := map[int]bool{}
	for i, s := range pl.Proj.Seen {
		if s.Gone && !pl.Grown.Seen[i].Gone {
			c.Messages++
			gone[pl.Places[i].Atom] = true
		}
	}
	c.Atoms = len(gone)
	for i := range pl.Proj.Items {
		it := &pl.Proj.Items[i]
		if plan.Shortened(it) && it.Level < plan.LevelIn(pl.Grown, it.Page) {
			c.Lowered++
		}
	}
	for _, s := range pl.NewSpans() {
		c.Spans = append(c.Spans, s.ID)
	}
}

// firstKept is the first message behind all that left.
func (pl *planned) firstKept() *KeptMessage {
	at := 0
	for i, s := range pl.Proj.Seen {
		if s.Gone {
			at = i + 1
		}
	}
	if at >= len(pl.Proj.Seen) {
		return nil
	}
	return &KeptMessage{Key: pl.HostKey(pl.Proj.Seen[at].Key), Index: at}
}

// largest is what takes most of the prompt.
func (pl *planned) largest() []LargeItem {
	var items []LargeItem
	for _, it := range pl.LargestItems(pl.Proj.Carry, pl.Proj.Items) {
		items = append(items, LargeItem(it))
	}
	return items
}

// compactHint says what a host can do where nothing could be reclaimed.
func (pl *planned) compactHint(r CompactReason) string {
	switch r {
	case CompactOpenLoop:
		return "a tool loop is open and the cache is warm; compact when the turn has ended, or force it"
	case CompactNoProgress:
		return fmt.Sprintf("the last %d compactions reclaimed less than %d tokens each, and the prompt has not grown by that since: %d tokens are fixed, %d are pins and workspace files; shorten what is largest, or begin a new session",
			pl.Next.Breaker.Futile, pl.MinReclaim(), pl.Fixed, pl.Standing)
	case CompactFloor:
		return fmt.Sprintf("all that may be cut is as short as it gets; of %d tokens %d are fixed and %d are pins and workspace files", pl.Unanchored(pl.Proj), pl.Fixed, pl.Standing)
	}
	return "no earlier turn is closed: nothing may leave, and nothing may be shortened"
}
