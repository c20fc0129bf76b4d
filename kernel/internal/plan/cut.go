package plan

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// cacheOf returns the state that the provider's cache would have for the prompt without a cut, in
// the form that Next needs. It also returns the clock by which the state is known.
func cacheOf(d *deciding) (pagevm.Cache, string) {
	id := d.identity(d.Grown)
	cold, clock := d.ledger.Cold(d.req.Price, id, d.req.Now)
	return pagevm.Cache{Cold: cold, Event: d.ledger.ColdEvent(d.req.Price, id, d.req.Now),
		Resolver: d.req.Resolver != "", StripThinking: d.stripThinking(), Now: d.req.Now}, clock
}

// cutInput gives the cut planner its figures. The counts' own error is taken off the limits, so
// that a prompt within them fits.
func cutInput(d *deciding, c pagevm.Cache) cachelayout.CutInput {
	in := cachelayout.CutInput{
		Model: d.ledger.Expect(d.req.Price), Window: d.Hard + d.Reserve, Reserve: d.Reserve,
		Fixed: d.Fixed + d.Standing, Conversation: d.Before - d.Fixed - d.Standing, Planned: d.Before,
		Growth: d.growth(), Cold: c.Cold, ColdEventUsed: c.Event != "" && c.Event == d.Grown.LastEvent(),
		OpenLoop: len(d.Places) > 0 && d.Places[len(d.Places)-1].InLoop, TTL: d.Lifetimes.Messages,
		ColdRate:      d.Pace.Rate(d.Lifetimes.Messages),
		ExpectedTurns: cachelayout.ExpectedTurns(d.callsSoFar()), LowWater: d.req.LowWater, ColdLowWater: d.req.LowWater, Economy: d.economy().Short(),
	}
	in.Pending = d.Before - d.Fixed - d.Standing
	if c.Cold && !d.sent() {
		// Nothing was ever sent, so that the messages are new and not pending.
		in.Pending = 0
	}
	if d.BoundLoop() {
		// A cut would remove the loop's thinking. It waits unless the prompt would not fit.
		in.Pending = 0
	}
	in.Pending = max(in.Pending, 0, d.Before-d.Hard)
	return in
}

// sent reports whether a request of this conversation is known to have been made.
func (d *decision) sent() bool { return !d.ledger.LastStart.IsZero() }

// growthCalls is the number of calls from which a session's growth is measured.
const growthCalls = 64

// growth lists the tokens that the last calls added, calibrated, newest last.
func (m *measured) growth() []int {
	g := growthOf(m.Hosts, m.Places, growthCalls)
	for i := range g {
		g[i] = m.Scale(g[i])
	}
	return g
}

// growthOf returns the tokens that each of the last n calls added, oldest first. A call adds an
// assistant atom and the user's words since the previous atom.
func growthOf(hosts []pagevm.HostMessage, at []pagevm.Place, n int) []int {
	var out []int
	sum := 0
	for i := len(hosts) - 1; i >= 0 && len(out) < n; i-- {
		sum += hosts[i].Tokens()
		if hosts[i].Role == memkernel.RoleAssistant && (i == 0 || at[i-1].Atom != at[i].Atom) {
			out = append(out, sum)
			sum = 0
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// makeCut submits the cut. If the prompt after the granted cut is still above the goal, it
// submits the cut once more with a lower target. The last granted cut applies.
func makeCut(d *deciding, delta pagevm.Delta, cache pagevm.Cache) {
	captured := captureAhead(d)
	advanceSummary(d)
	seen := slices.Concat(d.Align.Seen, ingest.Seen(d.Hosts[d.Align.At:]))
	target, most, worth, texts := d.Cut.TargetTokens, d.Cut.MostTokens, score(d, seen), d.Texts
	captured()
	stands := d.attempt
	stands.Spans = d.Prev.Spans
	for range 3 {
		d.Texts, d.Spans = maps.Clone(texts), d.Prev.Spans
		wish := pressing(d, selectFor(d, worth, target, most))
		if w := d.req.Demand; w != nil && w.Provider != nil {
			wish = &pagevm.CutWish{Leave: coveredAtoms(d), Compacted: true}
		}
		wish.Reason = pagevm.CutReason(d.Cut.Reason)
		if span, ok := leavingSpan(d, seen, wish.Leave); ok {
			d.Spans = append(d.Spans[:len(d.Spans):len(d.Spans)], span)
		}
		d.leadGone = seen[0].Gone || wish.Leave[d.Places[0].Atom]
		wishes := pagevm.Wishes{Cut: wish, Carry: carryBlocks(d)}
		wishes.Drop = saidBy(d, wishes.Carry)
		proj, dec := d.nextProjection(delta, wishes, cache)
		if dec.Cut == nil {
			d.attempt = stands
			d.Made.Refused = dec.Refused
			return
		}
		d.Proj, d.Made, d.Wishes, d.granted = proj, dec, wishes, cache
		if stands = d.attempt; d.Planned(proj) <= cutGoal(d) || wish.Compacted {
			return
		}
		target = d.Fixed + d.Standing + (target-d.Fixed-d.Standing)/3
		most = target
	}
}

// pressing adds to a wish the items that have to be shown shorter for anything to fit.
func pressing(d *deciding, wish *pagevm.CutWish) *pagevm.CutWish {
	if len(d.pressed) == 0 {
		return wish
	}
	own := *wish // the trace keeps the selector's own wish
	own.Levels = maps.Clone(wish.Levels)
	maps.Copy(own.Levels, d.pressed)
	return &own
}

// saidBy returns the notes on pins and workspace files that a carry block shows in their current
// version. The cut drops these notes.
func saidBy(d *deciding, carry []pagevm.Block) map[string]bool {
	shown := map[string]bool{}
	for _, b := range carry {
		if p := d.Page(b.Page); p != nil && len(p.Refs) > 0 {
			shown[p.Refs[0].Path] = true
		}
	}
	var drop map[string]bool
	for i := range d.Proj.Items {
		it := &d.Proj.Items[i]
		if p := d.Page(it.Page); it.Kind == pagevm.ItemNote && p != nil && len(p.Refs) > 0 && shown[p.Refs[0].Path] {
			if drop == nil {
				drop = map[string]bool{}
			}
			drop[it.Page] = true
		}
	}
	return drop
}

// selectFor lets the selector choose for a whole prompt of target tokens, or of most tokens for
// items that are worth their cost.
func selectFor(d *deciding, a *scores, target, most int) *pagevm.CutWish {
	carry := carryRoom(d.Window)
	room := func(whole int) int { return max(d.unscale(whole-d.Fixed-d.Standing)-carry, 0) }
	return choose(&d.measured, pagevm.SelectInput{
		Host: d.Supersede(), Places: d.Places, Seen: a.seen, Traits: a.traits, Names: a.uses,
		Target: room(target), Most: room(most), Hurdle: d.Cut.Hurdle, Resolver: d.req.Resolver != "",
	})
}

// notesWait reports whether a model's notes are newer than the notes in the carry block while the
// cache is cold, so that showing the new notes costs nothing. Before the first cut it returns
// false, since there is no summary to add notes to.
func notesWait(d *deciding, c pagevm.Cache) bool {
	if d.req.Demand != nil || !c.Cold || !d.sent() || len(d.Proj.Cuts) == 0 || c.Event != "" && c.Event == d.Proj.LastEvent() {
		return false
	}
	n, err := d.session.Notes()
	return err == nil && n.Version > d.Prev.Notes
}

// showNotes makes the carry block again with the current notes. This is a cut at which no message
// leaves. It uses up the cold event.
func showNotes(d *deciding, delta pagevm.Delta, cache pagevm.Cache) {
	before := d.Summary
	advanceSummary(d)
	wishes := pagevm.Wishes{Cut: &pagevm.CutWish{Reason: pagevm.CutCold, CarryOnly: true}, Carry: carryBlocks(d)}
	wishes.Drop = saidBy(d, wishes.Carry)
	proj, dec := d.nextProjection(delta, wishes, cache)
	if dec.Cut == nil || d.Planned(proj) > d.Hard {
		d.Summary = before
		return
	}
	d.Proj, d.Made, d.Wishes, d.granted = proj, dec, wishes, cache
}

// advanceSummary brings the summary up to the newest message, so that it covers the messages that
// leave at a cut. Observed turns have done most of the work.
func advanceSummary(d *deciding) {
	st := d.Summary
	if o := d.prior.Observed; o.Offset.Messages > st.Offset.Messages {
		st = o
	}
	d.Summary = d.advance(st)
}

// renewSummary makes the summary again after the host rewrote its source. If the host compacted
// and removed the originals, the old summary is kept. A fork has another past, so that its
// summary starts empty.
func renewSummary(d *deciding) {
	first := d.Align.First
	if first < len(d.Msgs) && d.Msgs[first].Origin == memkernel.OriginSummary {
		advanceSummary(d)
		return
	}
	d.Summary = d.advance(summary.State{})
}

// NewSpans are the spans that this plan added.
func (d *decision) NewSpans() []branch.Span {
	if len(d.Spans) <= len(d.Prev.Spans) {
		return nil
	}
	return d.Spans[len(d.Prev.Spans):]
}

// planCut asks the cut planner.
func planCut(m *measured, in cachelayout.CutInput) cachelayout.Cut {
	out := cachelayout.PlanCut(in)
	m.log.trail = append(m.log.trail, Step{Cut: &CutStep{in, out}})
	return out
}

// choose asks the selector.
func choose(m *measured, in pagevm.SelectInput) *pagevm.CutWish {
	wish := pagevm.Select(in)
	m.log.trail = append(m.log.trail, Step{Select: &SelectStep{in, wish, *wish}})
	return wish
}

// nextProjection returns the projection that pagevm.Next derives from the previous one.
func (m *measured) nextProjection(d pagevm.Delta, wishes pagevm.Wishes, c pagevm.Cache) (*pagevm.Projection, pagevm.Decision) {
	p, dec := pagevm.Next(m.Prev.Proj, d, wishes, c)
	m.log.trail = append(m.log.trail, Step{Next: &NextStep{wishes, c, p, dec}})
	return p, dec
}

// advance updates a summary by the part of the conversation that it has not seen.
func (c *conversation) advance(st summary.State) summary.State {
	return summary.UpdateMasked(st, c.Msgs[ingest.Unseen(st.Offset.Key, c.Msgs):], c.Mask.Text)
}
