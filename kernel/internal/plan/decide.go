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
	// Grown is the prompt without a cut. Before is its calibrated size, including texts that wait
	// to be told.
	Grown  *pagevm.Projection
	Before int
	// Cut is the cut that the cut planner asked for. Held reports that the breaker kept it from
	// being made. CutMade and WhyNot are the outcome of a cut on demand.
	Cut     cachelayout.Cut
	Held    bool
	CutMade bool
	WhyNot  api.CompactReason
	// Cold and Clock describe the provider's cache. Lifetimes are those to ask it for. Split is
	// the division of the window.
	Cold      bool
	Clock     string
	Lifetimes lifetimes
	Split     budget.Plan
	// Standing is the size of pins and workspace files in the carry block, calibrated.
	Standing int
	// Reading is the gauge's reading. NextCut is the distance to the next cut. crossed is the
	// highest level that this plan crossed on either. Trigger is the reason for a checkpoint that
	// is due. Behind reports that an earlier conversation left state that no checkpoint holds.
	// Captured is the working state with this plan's messages, if it was made.
	Reading  checkpoint.Reading
	NextCut  checkpoint.NextCut
	crossed  checkpoint.Level
	Trigger  checkpoint.Trigger
	Behind   bool
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
	// squeezed is how much room pins and workspace files have to give up, calibrated. carried is
	// their part of the carry block as it was made last.
	squeezed int
	carried  *carried
	// pressed are pages that were sent, must be shown, and have to be shown shorter.
	pressed map[string]pagevm.Level
}

// attempt is a projection with the wishes and the cache that it was asked for with.
type attempt struct {
	Proj    *pagevm.Projection
	Made    pagevm.Decision
	Wishes  pagevm.Wishes
	granted pagevm.Cache
	// Texts are kernel blocks by hash. Spans are all spans that have left.
	Texts map[string]string
	Spans []branch.Span
}

// carried holds pins and workspace files in a carry block, and the values that they depend on.
type carried struct {
	blocks   []pagevm.Block
	texts    map[string]string // of excerpts, by hash
	leadGone bool
	squeezed int
}

// decide asks Next for the next projection, with a cut if the cut planner wants one and
// the rules allow it.
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

// splitWindow divides the window among the regions. It fails if the parts that must be shown
// (tools, system, the newest messages) do not fit together with the reserve, and names the
// largest of them.
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
