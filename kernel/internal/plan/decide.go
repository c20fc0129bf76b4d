package plan

import (
	"context"
	"errors"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// decision is the content that the prompt is to show of the conversation, and why.
type decision struct {
	measured
	attempt
	// Grown is the prompt without a cut.
	Grown *pagevm.Projection
	// Before is the calibrated size of Grown, including texts that wait to be shown.
	Before int
	// Cut is the cut that the cut planner requested.
	Cut cachelayout.Cut
	// Held reports that the breaker prevented the cut.
	Held bool
	// CutMade reports that a cut on demand was made.
	CutMade bool
	// WhyNot is why a cut on demand was not made.
	WhyNot api.CompactReason
	// Cold and Clock describe the provider's cache.
	Cold  bool
	Clock string
	// Lifetimes are the cache lifetimes to request.
	Lifetimes lifetimes
	// Split is the division of the window.
	Split budget.Plan
	// Standing is the size of pins and workspace files in the carry block, calibrated.
	Standing int
	// Reading is the gauge's reading.
	Reading checkpoint.Reading
	// NextCut is the distance to the next cut.
	NextCut checkpoint.NextCut
	// crossed is the highest level of the gauge or of the next cut that this plan crossed.
	crossed checkpoint.Level
	// Trigger is the reason for a checkpoint that is due.
	Trigger checkpoint.Trigger
	// Behind reports that an earlier conversation left state that no checkpoint holds.
	Behind bool
	// Captured is the working state with this plan's messages, if it was made.
	Captured *checkpoint.State
	// Parts of the next state.
	Summary    summary.State
	Breaker    branch.Breaker
	ttl        time.Duration
	compacted  int
	notesShown int
	level      int
	cutLevel   int
	fitted     map[string]bool
	settled    branch.Settled

	// leadGone: the host's first messages are no longer shown.
	leadGone bool
}

// deciding is a decision in the making, with fields that no later stage needs.
type deciding struct {
	decision
	// squeezed is the room that pins and workspace files have to give up, in calibrated tokens.
	squeezed int
	// carried is the part of the carry block with pins and workspace files, as it was made last.
	carried *carried
	// pressed are the sent pages that must be shown and have to be shown shorter.
	pressed map[string]pagevm.Level
}

// attempt is a projection with the wishes and the cache state of its request.
type attempt struct {
	Proj    *pagevm.Projection
	Made    pagevm.Decision
	Wishes  pagevm.Wishes
	granted pagevm.Cache
	// Texts are the kernel's blocks by hash.
	Texts map[string]string
	// Spans are all spans that have left.
	Spans []branch.Span
}

// carried holds pins and workspace files in a carry block, and the values that they depend on.
type carried struct {
	blocks   []pagevm.Block
	texts    map[string]string // of excerpts, by hash
	leadGone bool
	squeezed int
}

// decide gets the next projection from Next. The projection has a cut if the cut planner wants a
// cut and the rules allow it.
func decide(ctx context.Context, m measured) (decision, error) {
	own := *m.Batch
	m.Batch = &own // this stage alone sees the fitted texts
	p := m.prior.Before
	d := &deciding{decision: decision{measured: m, Summary: p.Summary, Breaker: p.Breaker, ttl: p.TTL, compacted: p.Compacted, notesShown: p.Notes, level: p.Level}}
	d.Texts, d.Spans = map[string]string{}, p.Spans
	d.leadGone = len(d.Align.Seen) > 0 && d.Align.Seen[0].Gone
	if len(d.Prev.Proj.Seen) == 0 {
		d.Wishes = pagevm.Wishes{Carry: append(workspaceBlocks(d), resumed(d)...), CarryNow: true}
	}
	if d.Renewed() {
		renewSummary(d)
		d.Wishes.Carry, d.Wishes.CarryNow = carryIfGone(d), d.Wishes.CarryNow || d.hostCompacted()
	}
	if left := anew(d); left != nil {
		d.Wishes = pagevm.Wishes{Carry: append(workspaceBlocks(d), left...), CarryNow: true}
	}
	d.Standing = sizeCarried(d)
	fitNewest(d)
	squeezeCarried(d)
	var err error
	if d.Split, err = d.splitWindow(); err != nil {
		return d.decision, err
	}
	delta := d.delta()
	d.granted = pagevm.Cache{StripThinking: d.stripThinking()}
	d.Proj, d.Made = d.nextProjection(delta, d.Wishes, d.granted)
	d.Grown = d.Proj
	d.Before = d.Planned(d.Grown) + d.waitingPins()
	d.ledger, d.ttl = seed(d)
	if d.req.Demand == nil {
		d.Pace = nextPace(d)
	}
	d.Lifetimes = chooseLifetimes(d)
	cache, clock := cacheOf(d)
	d.Cold, d.Clock = cache.Cold, clock
	d.Cut = planCut(&d.measured, cutInput(d, cache))
	wantCut(d)
	cache.Forced = d.Cut.Force
	switch err := ctx.Err(); {
	case err != nil:
		return d.decision, err
	case d.Cut.Do && d.Cut.Reason == string(pagevm.CutDemand), d.Cut.Do && d.req.Demand != nil:
		makeDemanded(d, delta, cache)
	case d.Cut.Do:
		makeCut(d, delta, cache)
	case notesWait(d, cache):
		showNotes(d, delta, cache)
	}
	if d.thinkingRefused && d.Made.Cut == nil {
		cache.Forced = true
		takeThinkingOut(d, delta, cache)
	}
	settleCuts(d)
	if len(d.pressed) > 0 && d.Made.Cut == nil {
		d.settled.Generation = -1 // nothing became of it
	}
	if over := d.Planned(d.Proj) - d.Hard; over > 0 && !d.CutMade {
		return d.decision, d.tooSmall(over)
	}
	if err := stuck(d); err != nil {
		return d.decision, err
	}
	gauge(d)
	return d.decision, ctx.Err()
}

// delta returns the new part of the conversation.
func (c *conversation) delta() pagevm.Delta {
	return pagevm.Delta{Host: c.Hosts, Places: c.Places, Align: c.Align}
}

// splitWindow divides the window among the regions. It returns an error if tools, system prompt,
// the newest messages and the reserve do not fit together. The error names the largest of these
// parts.
func (d *decision) splitWindow() (budget.Plan, error) {
	split, err := budget.Split(budget.Request{Window: d.Window, Reserve: d.Reserve, Fixed: []budget.Item{
		{Name: api.RegionTools, Tokens: d.ToolTokens}, {Name: api.RegionSystem, Tokens: d.SystemTokens},
		{Name: api.RegionNewest, Tokens: d.newestTokens()}}})
	if small := (*budget.TooSmallError)(nil); errors.As(err, &small) {
		small.Largest, small.System, small.Tools = d.LargestItems(d.newestItems()), d.SystemTokens, d.ToolTokens
	}
	return split, err
}

// tooSmall returns an error that says by how much the prompt does not fit, and names its largest
// items.
func (d *decision) tooSmall(over int) error {
	return &budget.TooSmallError{Window: d.Window, Reserve: d.Reserve, Fixed: d.Fixed, Over: over, Largest: d.LargestItems(d.Proj.Carry, d.Proj.Items), System: d.SystemTokens, Tools: d.ToolTokens}
}

// Text finds the bytes of a representation or kernel block by hash.
func (d *decision) Text(hash string) string {
	if t, ok := d.Texts[hash]; ok {
		return t
	}
	if t, ok := d.Out.Text(hash); ok {
		return t
	}
	return d.prior.Texts[hash]
}
