package plan

import (
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
)

// demandCut returns the cut that is requested, unless the rules certainly prevent it.
func demandCut(c *call, l *limits, past *past, d *decision, wish *api.CompactWish) (cachelayout.Cut, api.CompactReason) {
	cut, refused := d.Cut, past.Refusal.Refused
	no := func(why api.CompactReason) (cachelayout.Cut, api.CompactReason) {
		cut.Do = false
		return cut, why
	}
	switch {
	case wish.Provider != nil && coveredAtoms(c) == nil:
		return no(api.CompactNothing)
	case wish.Provider != nil:
		cut.Do, cut.Reason, cut.Force = true, string(pagevm.CutDemand), true
		return cut, ""
	case refused:
		cut = overflowCut(l, &past.Refusal, cut)
	case stalled(c, l, d.Grown) && !cut.Force:
		return no(api.CompactNoProgress)
	case c.InLoop() && !d.Cold && !cut.Force && !wish.Force:
		return no(api.CompactOpenLoop)
	}
	if !cut.Do {
		cut.Do, cut.Reason = true, string(pagevm.CutDemand)
	}
	cut.Force = cut.Force || wish.Force
	// The goal is the host's wish. Without a wish it is the low-water mark, or half of the
	// conversation if that is less.
	target := min(cut.Figures.LowWater, halved(l, d))
	own := wishedSize(l, wish)
	switch {
	case refused && own > 0:
		cut.TargetTokens = min(own, target, cut.TargetTokens)
	case refused:
		cut.TargetTokens = min(target, cut.TargetTokens)
	case own > 0:
		cut.TargetTokens = own
	default:
		cut.TargetTokens = target
	}
	return cut, ""
}

// coveredAtoms returns the atoms that the provider's compaction covers. It returns nil if the
// compaction covers no atom, or if repair changed the number of messages that the compaction
// counts.
func coveredAtoms(c *call) map[int]bool {
	covers := c.Request.Demand.Provider.Covers
	if c.Msgs[0].Key == branch.OpeningKey {
		covers++
	}
	if covers >= len(c.Msgs) || len(c.Msgs)-covers != len(c.Request.Messages)-c.Request.Demand.Provider.Covers {
		return nil
	}
	var leave map[int]bool
	for i := 0; i < covers; i++ {
		if atom := c.Places[i].Atom; c.Places[covers].Atom != atom {
			if leave == nil {
				leave = map[int]bool{}
			}
			leave[atom] = true
		}
	}
	return leave
}

// wishedSize returns the size of the prompt that a host wishes, 0 if the host wishes none.
func wishedSize(l *limits, wish *api.CompactWish) int {
	n := wish.Tokens
	if wish.Share > 0 && l.From != api.WindowUnknown {
		if share := int(wish.Share * float64(l.Window)); n == 0 || share < n {
			n = share
		}
	}
	return n
}

// cutGoal returns the size that the prompt may have after a cut. It is the limit, or the host's
// wish if the wish is less.
func cutGoal(c *call, l *limits, past *past, cut *cachelayout.Cut) int {
	goal := cut.Figures.Limit
	if past.Refusal.Refused && past.Refusal.Figures.Input == 0 {
		goal = min(goal, cut.TargetTokens)
	}
	if c.Request.Demand != nil {
		if own := wishedSize(l, &c.Request.Demand.CompactWish); own > 0 {
			goal = min(goal, own)
		}
	}
	return goal
}

// pendingCut reports whether a compaction was requested that no plan has made yet.
func (c *call) pendingCut() bool {
	return c.prior.Pending > c.Prev.Compacted
}

// makeDemanded makes a cut on demand and keeps it only if the prompt gets smaller.
func makeDemanded(c *call, l *limits, want *wanted, from candidate, m material) candidate {
	made := makeCut(c, l, want, from, m)
	if made.Made.Cut == nil || l.Conversation(made.Proj) < l.Conversation(from.Proj) {
		return made
	}
	from.wishes, from.cache = pagevm.Wishes{}, pagevm.Cache{StripThinking: c.stripThinking()}
	from.Made = pagevm.Decision{Refused: made.Made.Refused}
	return from
}

// whyNot returns why a cut was not granted, or achieved nothing.
func whyNot(c *call, made *candidate) api.CompactReason {
	if slices.Contains(made.Made.Refused, pagevm.Refusal{Atom: -1, Rule: pagevm.RuleOpenLoop}) {
		return api.CompactOpenLoop
	}
	newest := c.Places[len(c.Places)-1].Atom
	for i, pl := range c.Places {
		if pl.Closed && !pl.Opener && pl.Atom != newest && !made.Proj.Seen[i].Gone {
			return api.CompactFloor
		}
	}
	return api.CompactNothing
}

// compacted returns the number of the session's newest boundary whose requested cut was made, or is
// not needed any more.
func compacted(c *call, d *decision) int {
	n, cut := c.prior.Before.Compacted, d.Chosen.Made.Cut != nil
	if c.pendingCut() && (cut || !c.InLoop() || d.Cold) {
		n = c.prior.Pending
	}
	if c.Request.Demand != nil && cut {
		n = max(n, c.Request.Demand.Boundary)
	}
	return n
}
