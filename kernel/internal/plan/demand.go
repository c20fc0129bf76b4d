package plan

import (
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
)

// wantCut applies the wishes for a cut that do not come from the cut planner: a compaction on
// demand, a refusal by the provider, and a compaction that was requested before the conversation
// was known. If the window is unknown, wantCut refuses cuts of the cut planner. Otherwise the
// breaker decides about a cut that would achieve nothing.
func wantCut(d *deciding) {
	switch {
	case d.req.Demand != nil:
		demandCut(d, &d.req.Demand.CompactWish)
	case d.overflowed():
		overflowCut(d)
	case d.pendingCut():
		demandCut(d, &api.CompactWish{})
	case d.From == api.WindowUnknown:
		d.Cut.Do = false // nothing is cut on a guess
	case d.Cut.Do && d.stalled(d.Grown):
		breakOff(d)
	}
}

// breakOff prevents one more futile cut. The cut is not made. If the prompt has to get smaller,
// the cut goes deep enough to last.
func breakOff(d *deciding) {
	if !d.Cut.Force {
		d.Cut.Do, d.Held = false, true
		return
	}
	bare := d.Fixed + d.Standing
	d.Cut.TargetTokens = min(d.Cut.TargetTokens, bare+max(0, d.Before-bare)/2)
}

// demandCut requests a cut unless the rules certainly prevent it.
func demandCut(d *deciding, wish *api.CompactWish) {
	switch {
	case wish.Provider != nil && coveredAtoms(d) == nil:
		refuseDemand(d, api.CompactNothing)
		return
	case wish.Provider != nil:
		d.Cut.Do, d.Cut.Reason, d.Cut.Force = true, string(pagevm.CutDemand), true
		return
	case d.overflowed():
		overflowCut(d)
	case d.stalled(d.Proj) && !d.Cut.Force:
		refuseDemand(d, api.CompactNoProgress)
		return
	case d.InLoop() && !d.Cold && !d.Cut.Force && !wish.Force:
		refuseDemand(d, api.CompactOpenLoop)
		return
	}
	if !d.Cut.Do {
		d.Cut.Do, d.Cut.Reason = true, string(pagevm.CutDemand)
	}
	d.Cut.Force = d.Cut.Force || wish.Force
	d.Cut.TargetTokens = demandTarget(d, wish)
}

// coveredAtoms returns the atoms that the provider's compaction covers. It returns nil if the
// compaction covers no atom, or if healing moved the messages that the compaction counts.
func coveredAtoms(d *deciding) map[int]bool {
	covers := d.req.Demand.Provider.Covers
	if d.Msgs[0].Key == branch.OpeningKey {
		covers++
	}
	if covers >= len(d.Msgs) || len(d.Msgs)-covers != len(d.req.Messages)-d.req.Demand.Provider.Covers {
		return nil
	}
	var leave map[int]bool
	for i := 0; i < covers; i++ {
		if atom := d.Places[i].Atom; d.Places[covers].Atom != atom {
			if leave == nil {
				leave = map[int]bool{}
			}
			leave[atom] = true
		}
	}
	return leave
}

func refuseDemand(d *deciding, r api.CompactReason) {
	d.Cut.Do = false
	if d.req.Demand != nil {
		d.WhyNot = r
	}
}

// demandTarget returns the goal for the size of the whole prompt. The goal is the host's wish.
// Without a wish it is the low-water mark, or half of the conversation if that is less.
func demandTarget(d *deciding, wish *api.CompactWish) int {
	bare := d.Fixed + d.Standing
	target := min(d.Cut.Figures.LowWater, bare+max(0, d.Before-bare)/2)
	if d.overflowed() {
		target = min(target, d.Cut.TargetTokens)
	}
	switch own := d.wishedSize(wish); {
	case own > 0 && d.overflowed():
		return min(own, target)
	case own > 0:
		return own
	}
	return target
}

func (m *measured) wishedSize(wish *api.CompactWish) int {
	n := wish.Tokens
	if wish.Share > 0 && m.From != api.WindowUnknown {
		if share := int(wish.Share * float64(m.Window)); n == 0 || share < n {
			n = share
		}
	}
	return n
}

// cutGoal returns the size that the prompt may have after a cut. It is the limit, or the host's
// wish if the wish is less.
func cutGoal(d *deciding) int {
	goal := d.Cut.Figures.Limit
	if d.Refused && d.Refusal.Input == 0 {
		goal = min(goal, d.Cut.TargetTokens)
	}
	if d.req.Demand != nil {
		if own := d.wishedSize(&d.req.Demand.CompactWish); own > 0 {
			goal = min(goal, own)
		}
	}
	return goal
}

// pendingCut reports whether a compaction was requested that no plan has made yet.
func (m *measured) pendingCut() bool {
	return m.prior.Pending > m.Prev.Compacted
}

// makeDemanded makes a cut on demand and keeps it only if the prompt gets smaller.
func makeDemanded(d *deciding, delta pagevm.Delta, cache pagevm.Cache) {
	before, sum := d.attempt, d.Summary
	makeCut(d, delta, cache)
	made := d.Made.Cut != nil
	if made && d.Conversation(d.Proj) >= d.Conversation(before.Proj) {
		made = false
		refused := d.Made.Refused
		d.attempt, d.Summary = before, sum
		d.Wishes, d.granted = pagevm.Wishes{}, pagevm.Cache{StripThinking: d.stripThinking()}
		d.Made = pagevm.Decision{Refused: refused}
	}
	if d.req.Demand == nil {
		return
	}
	if d.CutMade = made; !made {
		d.WhyNot = whyNot(d)
	}
}

// whyNot returns why a cut was not granted, or achieved nothing.
func whyNot(d *deciding) api.CompactReason {
	for _, r := range d.Made.Refused {
		if r.Atom < 0 && r.Page == "" && r.Rule == pagevm.RuleOpenLoop {
			return api.CompactOpenLoop
		}
	}
	newest := d.Places[len(d.Places)-1].Atom
	for i, pl := range d.Places {
		if pl.Closed && !pl.Opener && pl.Atom != newest && !d.Proj.Seen[i].Gone {
			return api.CompactFloor
		}
	}
	return api.CompactNothing
}

// settleCuts takes the steps that follow the decision about a cut, whether a cut was made or not.
func settleCuts(d *deciding) {
	judge(d)
	if d.Made.Cut == nil && !d.Align.Stale {
		d.notesShown = d.Prev.Notes
	}
	if d.pendingCut() && (d.Made.Cut != nil || !d.InLoop() || d.Cold) {
		d.compacted = d.prior.Pending
	}
	if d.req.Demand != nil && d.Made.Cut != nil {
		d.compacted = max(d.compacted, d.req.Demand.Boundary)
	}
}
