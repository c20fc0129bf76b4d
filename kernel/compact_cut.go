package kernel

import (
	"fmt"

	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
)

// demand is the wish for a cut that comes with no call.
type demand struct {
	wish *CompactWish
	// made tells that the cut was granted and makes the prompt smaller, reason why
	// it was not.
	made   bool
	reason CompactReason
	// grown is the prompt without the cut.
	grown *pagevm.Projection
}

// wantCut lets those speak who are not the cut planner: a compaction on demand, one
// that was asked for before the conversation was known, a refusal by the provider,
// and the breaker, which keeps cuts from being made that come to nothing.
func (w *work) wantCut(grown *pagevm.Projection) {
	switch {
	case w.demand != nil:
		w.demand.grown = grown
		w.demandCut(w.demand.wish)
	case w.overflowed():
		w.overflowCut()
	case w.pendingCut():
		w.demandCut(&CompactWish{})
	case w.cut.Do && w.stalled(grown):
		w.breakOff()
	}
}

// breakOff keeps a cut from being one more for nothing: it is not made, or, where the
// prompt has to get smaller, goes deep enough to last.
func (w *work) breakOff() {
	if !w.cut.Force {
		w.cut.Do, w.held = false, true
		return
	}
	bare := w.fixed + w.standing
	w.cut.TargetTokens = min(w.cut.TargetTokens, bare+max(0, w.before-bare)/2)
}

// demandCut asks for a cut, if the rules leave any hope for one.
func (w *work) demandCut(wish *CompactWish) {
	switch {
	case w.overflowed():
		w.overflowCut()
	case w.stalled(w.proj) && !w.cut.Force:
		w.refuseDemand(CompactNoProgress)
		return
	case w.inLoop() && !w.cold && !w.cut.Force && !wish.Force:
		w.refuseDemand(CompactOpenLoop)
		return
	}
	if !w.cut.Do {
		w.cut.Do, w.cut.Reason = true, string(pagevm.CutDemand)
	}
	w.cut.Force = w.cut.Force || wish.Force
	w.cut.TargetTokens = w.demandTarget(wish)
}

func (w *work) refuseDemand(r CompactReason) {
	w.cut.Do = false
	if w.demand != nil {
		w.demand.reason = r
	}
}

// demandTarget is what the whole prompt should come down to: what the host wishes,
// else the low-water mark, or half of the conversation where that is less.
func (w *work) demandTarget(wish *CompactWish) int {
	bare := w.fixed + w.standing
	target := min(w.cut.Figures.LowWater, bare+max(0, w.before-bare)/2)
	if w.overflowed() {
		target = min(target, w.cut.TargetTokens)
	}
	switch own := w.wished(wish); {
	case own > 0 && w.overflowed():
		return min(own, target)
	case own > 0:
		return own
	}
	return target
}

func (w *work) wished(wish *CompactWish) int {
	n := wish.Tokens
	if wish.Share > 0 {
		if m := int(wish.Share * float64(w.window)); n == 0 || m < n {
			n = m
		}
	}
	return n
}

// cutGoal is what a cut has to get below: the limit, or what a host wishes if that is
// less.
func (w *work) cutGoal() int {
	goal := w.cut.Figures.Limit
	if w.refused && w.refusal.Input == 0 {
		goal = min(goal, w.cut.TargetTokens)
	}
	if w.demand != nil {
		if own := w.wished(w.demand.wish); own > 0 {
			goal = min(goal, own)
		}
	}
	return goal
}

// inLoop tells whether a tool loop is open.
func (w *work) inLoop() bool { return len(w.places) > 0 && w.places[len(w.places)-1].InLoop }

// pendingCut tells whether a compaction was asked for that no plan has made yet.
func (w *work) pendingCut() bool {
	return w.s.account.pending[w.req.Branch] > w.prev.Compacted
}

// makeDemanded makes a cut on demand and keeps it only if the prompt gets smaller.
func (w *work) makeDemanded(delta pagevm.Delta, cache pagevm.Cache) {
	grown, texts, spans, sum := w.proj, w.texts, w.next.Spans, w.next.Summary
	w.makeCut(delta, cache)
	made := w.decision.Cut != nil
	if made && w.conversation(w.proj) >= w.conversation(grown) {
		made = false
		w.proj, w.texts, w.next.Spans, w.next.Summary = grown, texts, spans, sum
		w.wishes, w.granted = pagevm.Wishes{}, pagevm.Cache{StripThinking: w.stripThinking()}
		w.decision = pagevm.Decision{Refused: w.decision.Refused}
	}
	if w.demand == nil {
		return
	}
	if w.demand.made = made; !made {
		w.demand.reason = w.whyNot()
	}
}

// whyNot says why a cut was not granted, or came to nothing.
func (w *work) whyNot() CompactReason {
	for _, r := range w.decision.Refused {
		if r.Atom < 0 && r.Page == "" && r.Rule == pagevm.RuleOpenLoop {
			return CompactOpenLoop
		}
	}
	newest := w.places[len(w.places)-1].Atom
	for i, pl := range w.places {
		if pl.Closed && !pl.Opener && pl.Atom != newest && !w.proj.Seen[i].Gone {
			return CompactFloor
		}
	}
	return CompactNothing
}

// settleCuts is what follows the decision about a cut, made or not.
func (w *work) settleCuts(grown *pagevm.Projection) {
	w.judge(grown)
	if w.decision.Cut == nil && !w.align.Stale {
		w.next.Notes = w.prev.Notes
	}
	if w.pendingCut() && (w.decision.Cut != nil || !w.inLoop() || w.cold) {
		w.next.Compacted = w.s.account.pending[w.req.Branch]
	}
}

// compaction tells what the demand came to.
func (w *work) compaction() *Compaction {
	d := w.demand
	c := newCompaction(CompactOK, "")
	c.ContextWindow, c.Generation, c.Refusal = w.window, w.proj.Generation, w.refusal
	c.TokensBefore, c.TokensAfter = w.unanchored(d.grown), w.unanchored(w.proj)
	c.ReclaimedTokens, c.TargetTokens = c.TokensBefore-c.TokensAfter, w.cut.TargetTokens
	c.FirstKept = w.firstKept()
	c.PinnedTokens = w.standing
	if !d.made {
		c.Reason, c.Detail = d.reason, w.compactHint(d.reason)
		c.Largest = w.largest()
		return c
	}
	w.leftBy(c)
	for _, b := range w.wishes.Carry {
		if b.Page == ids.Page("su", w.s.name, w.req.Branch) {
			c.Summary = w.text(b.Hash)
		}
	}
	c.Warning = w.s.spiral(w.next, w.req.Now)
	if over := w.planned(w.proj) - w.hard; over > 0 {
		c.Detail = fmt.Sprintf("still %d tokens over what fits beside the reserve", over)
		c.Largest = w.largest()
	}
	return c
}

// unanchored is the size of a prompt by one measure for before and after a cut.
func (w *work) unanchored(p *pagevm.Projection) int { return w.fixed + w.conversation(p) }

// leftBy counts what a cut took away or shortened.
func (w *work) leftBy(c *Compaction) {
	gone := map[int]bool{}
	for i, s := range w.proj.Seen {
		if s.Gone && !w.demand.grown.Seen[i].Gone {
			c.Messages++
			gone[w.places[i].Atom] = true
		}
	}
	c.Atoms = len(gone)
	for i := range w.proj.Items {
		it := &w.proj.Items[i]
		if shortened(it) && it.Level < levelIn(w.demand.grown, it.Page) {
			c.Lowered++
		}
	}
	for _, s := range w.newSpans() {
		c.Spans = append(c.Spans, s.ID)
	}
}

// firstKept is the first message behind all that left.
func (w *work) firstKept() *KeptMessage {
	at := 0
	for i, s := range w.proj.Seen {
		if s.Gone {
			at = i + 1
		}
	}
	if at >= len(w.proj.Seen) {
		return nil
	}
	return &KeptMessage{Key: w.hostKey(w.proj.Seen[at].Key), Index: at}
}

// largest is what takes most of the prompt.
func (w *work) largest() []LargeItem {
	var items []LargeItem
	for _, it := range w.largestItems(w.proj.Carry, w.proj.Items) {
		items = append(items, LargeItem(it))
	}
	return items
}

// compactHint says what a host can do where nothing could be reclaimed.
func (w *work) compactHint(r CompactReason) string {
	switch r {
	case CompactOpenLoop:
		return "a tool loop is open and the cache is warm; compact when the turn has ended, or force it"
	case CompactNoProgress:
		return fmt.Sprintf("the last %d compactions reclaimed less than %d tokens each, and the prompt has not grown by that since: %d tokens are fixed, %d are pins and workspace files; shorten what is largest, or begin a new session",
			w.next.Breaker.Futile, w.minReclaim(), w.fixed, w.standing)
	case CompactFloor:
		return fmt.Sprintf("all that may be cut is as short as it gets; of %d tokens %d are fixed and %d are pins and workspace files", w.unanchored(w.proj), w.fixed, w.standing)
	}
	return "no earlier turn is closed: nothing may leave, and nothing may be shortened"
}
