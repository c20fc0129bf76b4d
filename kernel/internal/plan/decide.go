package plan

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// decision is the part of the conversation that the prompt shows, and the reasons.
type decision struct {
	// Chosen is the prompt, before the kernel's blocks after the newest message.
	Chosen candidate
	// Behind reports that an earlier conversation left state that no checkpoint holds.
	Behind bool
	// Gauge holds how full the context is.
	Gauge gauge
	// Grown is the prompt without a cut, with new items as fit shows them. Before is its calibrated
	// size, including texts that wait to be shown.
	Grown  *pagevm.Projection
	Before int
	// Cut is the cut that was wanted. Held reports that the breaker prevented it. CutMade reports
	// that a cut on demand was made. WhyNot is why it was not made.
	Cut     cachelayout.Cut
	Held    bool
	CutMade bool
	WhyNot  api.CompactReason
	// Cold and Clock describe the provider's cache. Lifetimes are the cache lifetimes to request.
	Cold      bool
	Clock     string
	Lifetimes lifetimes
	// Standing is the size of pins and workspace files in the carry block, calibrated.
	Standing int
	// Parts of the next state.
	Pace      cachelayout.Pace
	ttl       time.Duration
	cached    cachelayout.Ledger
	Breaker   branch.Breaker
	compacted int
	ownSize   map[string]bool
	settled   branch.Settled
}

// candidate is a prompt that a plan may choose, with the wishes from which pagevm.Next made it. A
// cut is tried by making another candidate.
type candidate struct {
	Proj   *pagevm.Projection
	Made   pagevm.Decision
	wishes pagevm.Wishes
	cache  pagevm.Cache
	// Texts are the kernel's blocks by hash.
	Texts map[string]string
	// Spans are all spans that have left. summary covers them.
	Spans   []branch.Span
	summary summary.State
	// notes is the version of the model's notes that the carry block shows.
	notes int
}

// tried returns the candidate that pagevm.Next makes from wishes, with a carry block.
func (c *call) tried(texts map[string]string, made carryBlock, wishes pagevm.Wishes, cache pagevm.Cache) candidate {
	proj, dec := c.nextProjection(wishes, cache)
	return candidate{Proj: proj, Made: dec, wishes: wishes, cache: cache, Texts: merged(texts, textsOf(made.blocks)),
		Spans: made.spans, summary: made.summary, notes: made.notes}
}

// decide gets the next projection from Next. The projection has a cut if the cut planner wants a
// cut and the rules allow it.
func decide(ctx context.Context, c *call, l *limits, past *past, o opening, f *fitting) (decision, error) {
	d := decision{Standing: o.standing, ownSize: f.own, settled: f.settled, Pace: past.pace}
	if err := fixedFits(c, l); err != nil {
		return d, err
	}
	grown := c.tried(merged(o.texts, f.texts), o.made, pagevm.Wishes{Carry: plain(o.made.blocks), CarryNow: o.now}, pagevm.Cache{StripThinking: c.stripThinking()})
	d.Grown = grown.Proj
	d.Before = l.Planned(d.Grown) + waitingPins(c, l, d.Grown)
	d.cached, d.ttl = seed(c, l, past.sent, d.Grown)
	if c.Request.Demand == nil {
		d.Pace = nextPace(c, &d.cached, past.pace)
	}
	d.Lifetimes = chooseLifetimes(c, l, &d)
	cache, clock := cacheOf(c, &d)
	d.Cold, d.Clock = cache.Cold, clock
	in := cutInput(c, l, &d, cache)
	d.Cut = cachelayout.PlanCut(in)
	c.log.step(Step{Cut: &CutStep{in, d.Cut}})
	d.Cut, d.Held, d.WhyNot = wantCut(c, l, past, &d)
	if d.Cut.Reason == cachelayout.ReasonForced && c.Request.Demand == nil && !past.Refusal.Refused {
		d.Cut = lasting(l, &d)
	}
	cache.Forced = d.Cut.Force
	if err := ctx.Err(); err != nil {
		return d, err
	}
	want := wanted{cut: d.Cut, cache: cache, goal: min(cutGoal(c, l, past, &d.Cut), l.Hard), standing: d.Standing, pressed: f.pressed, yields: f.yields,
		instructions: l.unscale(l.Window) / instructionShare}
	d.Chosen, d.Behind = grown, o.made.behind
	switch {
	case d.Cut.Do && (d.Cut.Reason == string(pagevm.CutDemand) || c.Request.Demand != nil):
		d.Chosen = makeDemanded(c, l, &want, grown, o.made.material)
		if d.CutMade = c.Request.Demand != nil && d.Chosen.Made.Cut != nil; c.Request.Demand != nil && !d.CutMade {
			d.WhyNot = whyNot(c, &d.Chosen)
		}
	case d.Cut.Do:
		d.Chosen = makeCut(c, l, &want, grown, o.made.material)
	case notesWait(c, &d, cache):
		d.Chosen = showNotes(c, l, &want, grown, o.made.material)
	}
	if past.Refusal.thinking && d.Chosen.Made.Cut == nil {
		cache.Forced = true
		d.Chosen = thinkingOut(c, d.Chosen, cache)
	}
	d.Breaker, d.compacted = judge(c, l, &d), compacted(c, &d)
	if d.Chosen.Made.Cut == nil && !c.Align.Stale {
		d.Chosen.notes = c.Prev.Notes
	}
	if len(f.pressed) > 0 && d.Chosen.Made.Cut == nil {
		d.settled.Generation = -1 // no item was shown shorter after all
	}
	if over := -l.room(d.Chosen.Proj); over > 0 && !d.CutMade {
		return d, tooSmall(c, l, l.Fixed, over, d.Chosen.Proj.Carry, d.Chosen.Proj.Items)
	}
	if err := stuck(c, l, &past.Refusal, d.Chosen.Proj); err != nil {
		return d, err
	}
	d.Gauge = readGauge(c, l, &d)
	return d, ctx.Err()
}

// lastingCalls is the number of calls for which the room after a forced cut should suffice. Our
// choice.
const lastingCalls = 13

// lasting returns a forced cut that leaves room for the growth of lastingCalls calls, as far as it
// still keeps a third of the room for the conversation.
func lasting(l *limits, d *decision) cachelayout.Cut {
	cut, bare := d.Cut, l.Fixed+d.Standing
	f := &cut.Figures
	most := max(f.Limit-lastingCalls*max(f.MeanGrowth, f.MedianGrowth), bare+(f.Limit-bare)/3)
	cut.TargetTokens = min(cut.TargetTokens, most)
	cut.MostTokens = min(cut.MostTokens, most)
	return cut
}

// fixedFits returns an error if tools, system prompt, the messages that every cut keeps and the
// reserve do not fit into the window together. The error names the largest of these messages.
func fixedFits(c *call, l *limits) error {
	fixed := l.Fixed + mustStandTokens(c, l)
	if over := fixed + l.Reserve - l.Window; over > 0 {
		return tooSmall(c, l, fixed, over, mustStandItems(c))
	}
	return nil
}

// tooSmall returns an error that says by how much a prompt does not fit, and names the largest of
// its items.
func tooSmall(c *call, l *limits, fixed, over int, items ...[]pagevm.Item) error {
	return &budget.TooSmallError{Window: l.Window, Reserve: l.Reserve, Fixed: fixed, Over: over, Largest: largestItems(c, l, items...), System: l.SystemTokens, Tools: l.ToolTokens}
}
