package kernel

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
)

// cache is what Next has to know of the provider's cache, if p were sent.
func (w *work) cache(p *pagevm.Projection) pagevm.Cache {
	id := w.identity(p)
	w.cold, w.clock = w.next.Ledger.Cold(w.model, id, w.req.Now)
	return pagevm.Cache{Cold: w.cold, Event: w.next.Ledger.ColdEvent(w.model, id, w.req.Now),
		Resolver: w.req.Resolver != "", StripThinking: w.stripThinking(), Now: w.req.Now}
}

// stripThinking tells whether thinking that a cut makes invalid must be taken out:
// the model binds it to its prefix, and the host can't have the provider drop it.
func (w *work) stripThinking() bool { return w.model.PreservedThinking && !w.req.DropOption }

// cutInput hands the cut planner its figures. Limits are given with the counts'
// own error taken off, so that what it allows fits.
func (w *work) cutInput(grown *pagevm.Projection, c pagevm.Cache) cachelayout.CutInput {
	in := cachelayout.CutInput{
		Model: w.model, Window: w.hard + w.reserve, Reserve: w.reserve,
		Fixed: w.fixed + w.standing, Conversation: w.before - w.fixed - w.standing, Planned: w.before,
		Growth: w.growth(), Cold: c.Cold, ColdEventUsed: c.Event != "" && c.Event == grown.LastEvent(),
		OpenLoop: len(w.places) > 0 && w.places[len(w.places)-1].InLoop, TTL: w.lifetimes.Messages,
		ColdRate:      w.next.Pace.Rate(w.lifetimes.Messages),
		ExpectedTurns: cachelayout.ExpectedTurns(w.calls()), LowWater: w.lowWater, ColdLowWater: w.lowWater,
	}
	in.Pending = w.before - w.fixed - w.standing
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
		for j := range w.Hosts[i].Segments {
			if w.Hosts[i].Segments[j].Bare.Hash != "" {
				return true
			}
		}
	}
	return false
}

// sent tells whether any request of this conversation is known to have been made.
func (w *work) sent() bool { return !w.next.Ledger.LastStart.IsZero() }

// growthCalls is how many calls tell how fast a session grows.
const growthCalls = 64

// growth lists the tokens that the last calls added, calibrated, newest last.
func (w *work) growth() []int {
	g := growth(w.Hosts, w.places, growthCalls)
	for i := range g {
		g[i] = w.scale(g[i])
	}
	return g
}

// calls counts the model calls of the conversation so far.
func (w *work) calls() int {
	n := 0
	for i := range w.Msgs {
		if w.Msgs[i].Role == memkernel.RoleAssistant && w.Msgs[i].Origin == memkernel.OriginHost {
			n++
		}
	}
	return n
}

// makeCut submits the cut, and once more with a lower target if what was granted
// does not get below the hard limit.
func (w *work) makeCut(delta pagevm.Delta, cache pagevm.Cache) {
	w.advanceSummary()
	w.seen = slices.Concat(w.align.Seen, freshSeen(w.Hosts[w.align.At:]))
	spans, texts := w.prev.Spans, w.texts
	madeSpans, madeTexts := spans, texts
	target := w.cut.TargetTokens
	for range 3 {
		w.texts = maps.Clone(texts)
		wish := w.pressing(w.selectFor(target))
		wish.Reason = pagevm.CutReason(w.cut.Reason)
		w.next.Spans = spans
		if span, ok := w.span(wish.Leave); ok {
			w.next.Spans = append(spans[:len(spans):len(spans)], span)
		}
		w.leadGone = w.seen[0].Gone || wish.Leave[w.places[0].Atom]
		wishes := pagevm.Wishes{Cut: wish, Carry: w.carry()}
		wishes.Drop = w.saidBy(wishes.Carry)
		proj, dec := w.nextProjection(delta, wishes, cache)
		if dec.Cut == nil {
			w.next.Spans, w.texts = madeSpans, madeTexts
			w.decision.Refused = dec.Refused
			return
		}
		w.proj, w.decision = proj, dec
		w.wishes, w.granted = wishes, cache
		madeSpans, madeTexts = w.next.Spans, w.texts
		if w.planned(proj) <= w.cutGoal() {
			return
		}
		target = w.fixed + w.standing + (target-w.fixed-w.standing)/3
	}
}

// pressing is a wish with what has to be shown shorter for anything to fit.
func (w *work) pressing(wish *pagevm.CutWish) *pagevm.CutWish {
	if len(w.pressed) == 0 {
		return wish
	}
	own := *wish // the trace tells what the selector said
	own.Levels = maps.Clone(wish.Levels)
	maps.Copy(own.Levels, w.pressed)
	return &own
}

// saidBy are the notes on what a carry block shows as it is now: a pin, or a file of
// the workspace, that was told behind a message and stands in front then.
func (w *work) saidBy(carry []pagevm.Block) map[string]bool {
	shown := map[string]bool{}
	for _, b := range carry {
		if p := w.page(b.Page); p != nil && len(p.Refs) > 0 {
			shown[p.Refs[0].Path] = true
		}
	}
	var drop map[string]bool
	for i := range w.proj.Items {
		it := &w.proj.Items[i]
		if p := w.page(it.Page); it.Kind == pagevm.ItemNote && p != nil && len(p.Refs) > 0 && shown[p.Refs[0].Path] {
			if drop == nil {
				drop = map[string]bool{}
			}
			drop[it.Page] = true
		}
	}
	return drop
}

// selectFor lets the selector choose for a whole prompt of target tokens.
func (w *work) selectFor(target int) *pagevm.CutWish {
	carry := carryRoom(w.window)
	conversation := w.unscale(target-w.fixed-w.standing) - carry
	a := w.appraised()
	return w.choose(pagevm.SelectInput{
		Host: w.supersede(), Places: w.places, Seen: w.seen, Traits: a.traits, Names: a.uses,
		Target: max(conversation, 0), Resolver: w.req.Resolver != "",
	})
}
