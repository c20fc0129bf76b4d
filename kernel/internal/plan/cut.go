package plan

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// cacheOf returns the state of the provider's cache for the prompt without a cut, in the form that
// Next needs. It also returns the clock by which the state is known.
func cacheOf(c *call, d *decision) (pagevm.Cache, string) {
	r, id := c.Request, c.identity(d.Grown)
	cold, clock := d.cached.Cold(r.Price, id, r.Now)
	return pagevm.Cache{Cold: cold, Event: d.cached.ColdEvent(r.Price, id, r.Now),
		Resolver: r.Resolver != "", StripThinking: c.stripThinking(), LeaveThinking: !r.Price.PreservedThinking, Now: r.Now}, clock
}

// cutInput returns the cut planner's input. The counts' own error is subtracted from the limits, so
// that a prompt within them fits.
func cutInput(c *call, l *limits, d *decision, cache pagevm.Cache) cachelayout.CutInput {
	in := cachelayout.CutInput{
		Model: d.cached.Expect(c.Request.Price), Window: l.Most(d.Grown) + l.Reserve, Reserve: l.Reserve,
		Fixed: l.Fixed + d.Standing, Conversation: d.Before - l.Fixed - d.Standing, Planned: d.Before,
		Growth: growth(c, l), Cold: cache.Cold, ColdEventUsed: cache.Event != "" && cache.Event == d.Grown.LastEvent(),
		OpenLoop: c.InLoop(), TTL: d.Lifetimes.Messages, ColdRate: d.Pace.Rate(d.Lifetimes.Messages),
		ExpectedTurns: cachelayout.ExpectedTurns(c.callsSoFar()), LowWater: c.Request.LowWater, Economy: c.economy().Short(),
	}
	in.Pending = d.Before - l.Fixed - d.Standing
	if cache.Cold && !sent(&d.cached) {
		// Nothing was ever sent, so the messages are new and do not count as pending.
		in.Pending = 0
	}
	if c.boundLoop() {
		// A cut would remove the loop's thinking. It waits until the prompt would not fit.
		in.Pending = 0
	}
	in.Pending = max(in.Pending, 0, d.Before-l.Most(d.Grown))
	return in
}

// sent reports whether a request of this conversation is known to have been sent.
func sent(l *cachelayout.Ledger) bool { return !l.LastStart.IsZero() }

// wantCut applies the wishes for a cut that do not come from the cut planner: a compaction on
// demand, a refusal by the provider, and a compaction that was requested before the conversation
// was known. If the window is unknown, it drops a cut of the cut planner. The breaker may drop a
// cut that would reclaim next to nothing. wantCut returns the cut, whether the breaker dropped it
// (held), and why a cut on demand is not made.
func wantCut(c *call, l *limits, past *past, d *decision) (cut cachelayout.Cut, held bool, why api.CompactReason) {
	cut = d.Cut
	switch {
	case c.Request.Demand != nil:
		cut, why = demandCut(c, l, past, d, &c.Request.Demand.CompactWish)
	case past.Refusal.Refused:
		cut = overflowCut(l, &past.Refusal, cut)
	case c.pendingCut():
		cut, _ = demandCut(c, l, past, d, &api.CompactWish{})
	case l.From == api.WindowUnknown:
		cut.Do = false // without a window a cut would be a guess
	case cut.Do && stalled(c, l, d.Grown) && !cut.Force:
		cut.Do, held = false, true
	case cut.Do && stalled(c, l, d.Grown):
		// The prompt has to get smaller, so the cut goes deep enough to last.
		cut.TargetTokens = min(cut.TargetTokens, halved(l, d))
	}
	return cut, held, why
}

// halved returns the size of the prompt with half of its conversation.
func halved(l *limits, d *decision) int {
	bare := l.Fixed + d.Standing
	return bare + max(0, d.Before-bare)/2
}

// growthCalls is the number of calls from which a session's growth is measured.
const growthCalls = 64

// growth lists the tokens that the last calls added, calibrated, newest last.
func growth(c *call, l *limits) []int {
	g := growthOf(c.Hosts, c.Places, growthCalls)
	for i := range g {
		g[i] = l.Scale(g[i])
	}
	return g
}

// growthOf returns the counted tokens that each of the last n calls added, oldest first. A call
// adds an assistant atom and the user's words since the previous atom.
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
	slices.Reverse(out)
	return out
}

// wanted is a cut that is wanted, and the state of the provider's cache.
type wanted struct {
	cut   cachelayout.Cut
	cache pagevm.Cache
	// goal is the size that the prompt may have after the cut. standing is the size of pins and
	// workspace files in it.
	goal, standing int
	// instructions is the size up to which the cut keeps instructions, in counted tokens.
	instructions int
	// pressed are the sent pages that must stay, at the lower levels at which they have to be
	// shown.
	pressed map[string]pagevm.Level
	yields
}

// makeCut tries to make the cut. If the prompt after the granted cut is still above the goal, it
// tries again with a third of the target's conversation. If the prompt does not even fit into the
// window, it first tries again with no room for instructions and the newest text, and with less
// room for the carry block. It returns the candidate of the last granted cut. If no cut was
// granted, it returns uncut, with the reasons.
func makeCut(c *call, l *limits, want *wanted, uncut candidate, m material) candidate {
	m.summary = advanced(c, m.summary)
	seen := slices.Concat(c.Align.Seen, pagevm.SeenOf(c.Hosts[c.Align.At:]))
	worth := score(c, uncut.Texts, seen, openChecks(&m.summary))
	newest := max(0, min(newestTokens, l.unscale(want.cut.TargetTokens-l.Fixed)/newestShare))
	best := uncut
	best.summary, best.Spans = m.summary, c.Prev.Spans
	target, most := want.cut.TargetTokens, want.cut.MostTokens
	for range 3 {
		chosen := *worth
		chosen.traits = withNewest(c, uncut.Proj, seen, worth.traits, newest)
		wish := leaving(c, l, want, &chosen, target, most)
		m.spans = c.Prev.Spans
		if span, ok := leavingSpan(c, seen, wish.Leave); ok {
			m.spans = append(m.spans[:len(m.spans):len(m.spans)], span)
		}
		made := carryBlocks(c, l, m, leftBy(c, seen, wish), uncut.notes)
		m = made.material
		carry := plain(made.blocks)
		next := c.tried(uncut.Texts, made, pagevm.Wishes{Cut: wish, Carry: carry, Drop: want.dropped(c, best.Proj, carry)}, want.cache)
		if next.Made.Cut == nil {
			best.Made.Refused = next.Made.Refused
		} else {
			best = next
		}
		if over := -l.room(best.Proj); over > 0 {
			again := want.instructions+newest > 0
			own := *want
			own.instructions, own.carry = 0, max(0, want.carry-over)
			want, newest, m.carry = &own, 0, own.carry
			if again {
				continue
			}
		}
		if next.Made.Cut == nil || l.Planned(next.Proj) <= want.goal || wish.Compacted {
			break
		}
		bare := l.Fixed + want.standing
		target, newest = bare+(target-bare)/3, newest/3
		most = target
	}
	return best
}

// openChecks returns the keys of the messages with the results of the newest check and of failed
// checks that are still open.
func openChecks(s *summary.State) map[string]bool {
	open := map[string]bool{s.LastCheck.Key: true}
	for i := range s.Threads {
		open[s.Threads[i].Key] = true
	}
	return open
}

// leaving returns the wish for the messages that leave or are shown shorter, so that the prompt has
// target tokens. A provider's own compaction names the messages that leave.
func leaving(c *call, l *limits, want *wanted, worth *scores, target, most int) *pagevm.CutWish {
	wish := selectFor(c, l, want, worth, target, most)
	if len(want.pressed) > 0 {
		own := *wish // the trace keeps the selector's wish unchanged
		own.Levels = maps.Clone(wish.Levels)
		maps.Copy(own.Levels, want.pressed)
		wish = &own
	}
	if w := c.Request.Demand; w != nil && w.Provider != nil {
		wish = &pagevm.CutWish{Leave: coveredAtoms(c), Compacted: true}
	}
	wish.Reason = pagevm.CutReason(want.cut.Reason)
	return wish
}

// saidBy returns the pages of the notes on pins and workspace files that a carry block shows in
// their current version. The cut drops these notes.
func saidBy(c *call, proj *pagevm.Projection, carry []pagevm.Block) map[string]bool {
	shown, drop := map[string]bool{}, map[string]bool{}
	for _, b := range carry {
		shown[c.Page(b.Page).Source()] = true
	}
	for i := range proj.Items {
		it := &proj.Items[i]
		if from := c.Page(it.Page).Source(); it.Kind == pagevm.ItemNote && from != "" && shown[from] {
			drop[it.Page] = true
		}
	}
	return drop
}

// instructionShare is the part of the window that a cut reserves for instructions. It is our choice.
const instructionShare = 10

// selectFor asks the selector for a whole prompt of target tokens, or of up to most tokens for
// items that are worth their cost.
func selectFor(c *call, l *limits, want *wanted, a *scores, target, most int) *pagevm.CutWish {
	carry := l.unscale(want.carry)
	room := func(whole int) int { return max(l.unscale(whole-l.Fixed-want.standing)-carry, 0) }
	in := pagevm.SelectInput{
		Host: a.hosts, Places: c.Places, Seen: a.seen, Traits: a.traits, Names: a.uses,
		Target: room(target), Most: room(most), Hurdle: want.cut.Hurdle, Resolver: c.Request.Resolver != "",
		Instructions: want.instructions,
	}
	wish := pagevm.Select(in)
	c.log.step(Step{Select: &selectStep{in, wish, *wish}})
	return wish
}

// notesWait reports whether a model's notes are newer than the notes in the carry block while the
// cache is cold, so that showing the new notes costs nothing. Before the first cut it returns
// false, since there is no summary to add notes to.
func notesWait(c *call, d *decision, cache pagevm.Cache) bool {
	if c.Request.Demand != nil || !cache.Cold || !sent(&d.cached) || len(d.Grown.Cuts) == 0 || cache.Event != "" && cache.Event == d.Grown.LastEvent() {
		return false
	}
	n, err := c.session.Notes()
	return err == nil && n.Version > c.Prev.Notes
}

// showNotes makes the carry block again with the current notes. This is a cut at which no message
// leaves. It uses up the cold event.
func showNotes(c *call, l *limits, want *wanted, from candidate, m material) candidate {
	m.summary = advanced(c, m.summary)
	made := carryBlocks(c, l, m, leftBy(c, c.Align.Seen, nil), from.notes)
	carry := plain(made.blocks)
	next := c.tried(from.Texts, made, pagevm.Wishes{Cut: &pagevm.CutWish{Reason: pagevm.CutCold, CarryOnly: true}, Carry: carry, Drop: saidBy(c, from.Proj, carry)}, want.cache)
	if next.Made.Cut == nil || l.room(next.Proj) < 0 {
		return from
	}
	return next
}

// advanced returns the summary up to the newest message, so that it covers the messages that leave
// at a cut. The summary of the observed turns covers most messages already.
func advanced(c *call, st summary.State) summary.State {
	if o := c.prior.Observed; o.Offset.Messages > st.Offset.Messages {
		st = o
	}
	return c.summarized(st)
}

// renewed makes the summary again after the host rewrote its source. If the host compacted and
// removed the originals, the old summary is kept. A fork has another past, so its summary starts
// empty.
func renewed(c *call, st summary.State) summary.State {
	if c.summaryFirst() {
		return advanced(c, st)
	}
	return c.summarized(summary.State{})
}

// summarized updates a summary with the messages that it does not cover yet.
func (c *call) summarized(st summary.State) summary.State {
	return summary.UpdateMasked(st, c.Msgs[ingest.Unseen(st.Offset.Key, c.Msgs):], c.Maker.Mask.Text)
}

// NewSpans are the spans that this plan added.
func (r *Result) NewSpans() []branch.Span {
	if len(r.Chosen.Spans) <= len(r.Prev.Spans) {
		return nil
	}
	return r.Chosen.Spans[len(r.Prev.Spans):]
}
