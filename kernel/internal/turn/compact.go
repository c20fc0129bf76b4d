package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"

	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/summary"
)

// A compaction on demand makes the same cut as a plan, but for no call:
//
//	Compact ── pass ───── ingest, checkpoint, mechanical flush, summary: one boundary
//	             │
//	           plan ───── the same plan as PlanContext's, with the wish for a cut
//	             │
//	           record ─── checkpoint and flush again if the state changed, then the cut,
//	                      then the projection, synced: the next plan begins with it
//
// No model is asked: the summary was kept up to date turn by turn. A refused cut is not recorded,
// and the answer says why.

// compact passes the boundary, then makes the cut.
func (d *Desk) compact(ctx context.Context, s *session.Session, w *intake, b *boundary) (*api.Passed, error) {
	demand := &plan.Demand{}
	if b.Compact != nil {
		demand.CompactWish = *b.Compact
	}
	if c := demand.Provider; c != nil && slices.ContainsFunc(c.Blocks, func(raw string) bool { return s.Masker.Text(raw) != raw }) {
		// The blocks can't be masked, because their provider accepts them only unchanged.
		return nil, errors.New("the provider's compaction holds a secret: it is neither kept nor sent")
	}
	req, known := nextCall(s, b, demand.Call)
	if req.FixedTokens == 0 && len(s.Branches.Newest(b.Branch, b.Model).Proj.Seen) == 0 {
		req.FixedTokens = demand.FixedTokens
	}
	b.pending = !known
	p, err := d.passBoundary(ctx, s, w, b)
	if err != nil {
		return nil, err
	}
	demand.Boundary = s.Account.Boundaries[b.Key]
	if l := s.Branches.Of(req.Branch, req.Model); b.Key != "" && p.Outcome == api.Duplicate && l.Compacted >= demand.Boundary {
		// The boundary was passed and the cut made before, in a call whose answer was lost.
		p.Compaction = unchanged(l, api.CompactOK, "the cut was made before, when this boundary was passed")
	} else if p.Compaction, err = d.cutOnDemand(ctx, s, p, req, demand, known); err != nil {
		return nil, err
	}
	p.Compaction.FixedTokens = req.FixedTokens
	fillTexts(d.Prices, s, p, b, req.Resolver)
	return p, nil
}

// nextCall returns the call that a compaction makes room for. It is the host's request, completed
// from the request of the last plan. known is false if the conversation is unknown.
func nextCall(s *session.Session, b *boundary, call *api.PlanRequest) (req api.PlanRequest, known bool) {
	l := s.Branches.Newest(b.Branch, b.Model)
	last := l.LastCall()
	if call == nil {
		call = &api.PlanRequest{}
	}
	req = api.PlanRequest{
		SessionKey: b.SessionKey, Branch: b.Branch, Now: b.Now, Messages: b.Messages, Model: cmp.Or(b.Model, l.Model),
		ContextWindow: cmp.Or(call.ContextWindow, last.ContextWindow),
		Reserve:       cmp.Or(call.Reserve, last.Reserve),
		FixedTokens:   cmp.Or(call.FixedTokens, last.FixedTokens),
		Resolver:      cmp.Or(call.Resolver, last.Resolver),
		ToolChoice:    cmp.Or(call.ToolChoice, last.ToolChoice),
		Thinking:      cmp.Or(call.Thinking, last.Thinking),
		Effort:        cmp.Or(call.Effort, last.Effort),
		DropOption:    call.DropOption || last.DropOption,
		Format:        cmp.Or(call.Format, last.Format),
		TTL:           cmp.Or(call.TTL, last.TTL),
		Economy:       cmp.Or(call.Economy, last.Economy),
		Private:       call.Private || l.Private,
		System:        l.System, Tools: l.Tools,
	}
	if call.System != nil || call.Tools != nil {
		req.System, req.Tools = call.System, call.Tools
	}
	if len(req.Messages) == 0 {
		req.Messages = l.Raw
	}
	return req, len(req.Messages) > 0
}

// cutOnDemand plans without a call and records the cut, if the plan made one.
func (d *Desk) cutOnDemand(ctx context.Context, s *session.Session, p *api.Passed, req api.PlanRequest, demand *plan.Demand, known bool) (*api.Compaction, error) {
	if l := s.Branches.Of(req.Branch, req.Model); !known && len(l.Proj.Seen) == 0 {
		return unchanged(l, api.CompactUnplanned, "no plan of this conversation was made here; hand in its messages, or plan it"), nil
	} else if !known {
		return unchanged(l, api.CompactNextPlan, "the conversation is not known to this process and was not handed in; the next plan makes the cut"), nil
	}
	if demand.Overflow != nil {
		req.Overflow = demand.Overflow
	}
	w, err := d.plan(ctx, s, &req, how{demand: demand})
	if c := uncut(err); c != nil {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if w.CutMade || w.Refusal.Refused {
		if err := record(ctx, s, w); err != nil {
			return nil, err
		}
		p.Faults = append(p.Faults, w.Faults...)
		p.Stats.Ingested, p.Stats.LiftedBytes = w.Ingested, p.Stats.LiftedBytes+w.LiftedBytes
	}
	return d.compaction(w), nil
}

// unchanged returns the answer if the conversation stays as it is.
func unchanged(l *branch.State, r api.CompactReason, detail string) *api.Compaction {
	c := newCompaction(r, detail)
	c.TokensBefore = l.FixedTokens() + int(math.Ceil(float64(l.Proj.Tokens())*l.Overflow.Scale()))
	c.TokensAfter, c.ContextWindow, c.Generation = c.TokensBefore, l.LastCall().ContextWindow, l.Proj.Generation
	return c
}

// uncut turns the errors of a plan that concern the request into answers. It returns nil for
// other errors.
func uncut(err error) *api.Compaction {
	var large *budget.TooSmallError
	var refused *api.OverflowError
	switch {
	case errors.As(err, &refused):
		c := newCompaction(api.CompactTooLarge, refused.Error())
		c.ContextWindow, c.TokensBefore, c.TokensAfter, c.Largest = refused.Window, refused.Planned, refused.Planned, refused.Largest
		return c
	case errors.As(err, &large):
		c := newCompaction(api.CompactTooLarge, large.Error())
		c.ContextWindow = large.Window
		c.TokensBefore = large.Window - large.Reserve + large.Over
		c.TokensAfter = c.TokensBefore
		c.Largest = append(c.Largest, large.Largest...)
		return c
	}
	return nil
}

func newCompaction(r api.CompactReason, detail string) *api.Compaction {
	return &api.Compaction{Reason: r, Detail: detail, Spans: []string{}, Largest: []budget.Item{}}
}

// fillTexts sets the texts for the host: the journal's summary, and the text from which the model
// continues.
func fillTexts(prices *cachelayout.Book, s *session.Session, p *api.Passed, b *boundary, resolver string) {
	c := p.Compaction
	if page, ok := s.Page(s.Account.SummaryPage(b.Branch)); ok {
		c.SummaryVersion = page.Version
	}
	l := s.Branches.Newest(b.Branch, b.Model)
	// A conversation that was never planned is assumed to have a window of the common size.
	window := cmp.Or(l.Window, max(c.ContextWindow, l.LastCall().ContextWindow), 200_000)
	model := cmp.Or(b.Model, l.Model)
	price, _ := prices.Lookup(model, b.Now)
	count, err := budget.NewModel(price.Tokenizer, model, nil)
	if err != nil {
		return
	}
	if c.Summary == "" {
		notes, _ := NotesOf(s, b.Branch)
		c.Summary = summary.RenderNoted(s.Account.Furthest(l), notes, summary.Beside{}, summary.Cap(window), count.Text, nil)
	}
	life := s.Life.Known()
	if life == nil || life.Latest == nil || b.Branch != "" || s.Life.Options.Off {
		return
	}
	from := life.Latest
	c.Checkpoint = string(from.Meta.CheckpointID)
	if room := plan.RestoreRoom(window); room > 0 {
		c.Restore = checkpoint.Restore(from, &checkpoint.RestoreOptions{Occasion: checkpoint.AfterCompaction, Cap: room, Count: count.Text, Resolver: resolver})
	}
	if c.Warning == "" {
		c.Warning = plan.Spiral(s.Account.Compacted, l.Proj, b.Now)
	}
}

// compaction returns the result of the request.
func (d *Desk) compaction(pl *Planned) *api.Compaction {
	c := newCompaction(api.CompactOK, "")
	c.ContextWindow, c.Generation, c.Refusal = pl.KnownWindow(), pl.Proj.Generation, pl.Refusal.Figures
	c.TokensBefore, c.TokensAfter = pl.Unanchored(pl.Grown), pl.Unanchored(pl.Proj)
	c.ReclaimedTokens, c.TargetTokens = c.TokensBefore-c.TokensAfter, pl.Cut.TargetTokens
	at := 0 // of the first message after all that left
	for i, s := range pl.Proj.Seen {
		if s.Gone {
			at = i + 1
		}
	}
	if at < len(pl.Proj.Seen) {
		c.FirstKept = &api.KeptMessage{Key: pl.HostKey(pl.Proj.Seen[at].Key), Index: at}
	}
	c.PinnedTokens = pl.Standing
	if !pl.CutMade {
		c.Reason, c.Detail = pl.WhyNot, pl.compactHint(pl.WhyNot)
		c.Largest = pl.LargestItems()
		return c
	}
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
		if it.Shortened() && it.Level < pl.Grown.LevelOf(it.Page) {
			c.Lowered++
		}
	}
	for _, s := range pl.NewSpans() {
		c.Spans = append(c.Spans, s.ID)
	}
	kept := len(pl.Msgs)
	if c.FirstKept != nil {
		kept = c.FirstKept.Index
	}
	c.Summary = pl.Told(kept)
	c.Warning = plan.Spiral(pl.Session.Account.Compacted, pl.Proj, pl.Request.Now)
	if over := pl.Planned(pl.Proj) - pl.Most(pl.Proj); over > 0 {
		c.Detail = fmt.Sprintf("still %d tokens over what fits beside the reserve", over)
		c.Largest = pl.LargestItems()
	}
	return c
}

// compactHint returns advice for a host if nothing could be reclaimed.
func (pl *Planned) compactHint(r api.CompactReason) string {
	switch r {
	case api.CompactOpenLoop:
		return "a tool loop is open and the cache is warm; compact when the turn has ended, or force it"
	case api.CompactNoProgress:
		return fmt.Sprintf("the last %d compactions reclaimed less than %d tokens each, and the prompt has not grown by that since: %d tokens are fixed, %d are pins and workspace files; shorten what is largest, or begin a new session",
			pl.Next.Breaker.Futile, pl.MinReclaim(), pl.Fixed, pl.Standing)
	case api.CompactFloor:
		return fmt.Sprintf("all that may be cut is as short as it gets; of %d tokens %d are fixed and %d are pins and workspace files", pl.Unanchored(pl.Proj), pl.Fixed, pl.Standing)
	}
	return "no earlier turn is closed: nothing may leave, and nothing may be shortened"
}
