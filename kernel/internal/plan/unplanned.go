package plan

import (
	"cmp"
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// unplanned returns the last state with the request that went out without a plan, as if a plan
// had made the request. The prompt grows by the new messages, each in full. It returns nil if
// there is no such request, if nothing was planned before, or if messages that had left would
// have to return.
func unplanned(c *call, l *limits) *branch.State {
	u := c.Request.Unplanned
	if u == nil || c.Align.First == 0 || c.Renewed() {
		return nil
	}
	n := c.Align.First
	for n < len(c.Hosts) && n < len(u.Messages) && ingest.HashMessage(&u.Messages[n]) == c.Hosts[n].Hash {
		n++
	}
	hosts := shownInFull(c.Hosts[:n], min(c.Align.At, n))
	align := pagevm.Align(c.Prev.Proj, hosts)
	if align.Stale {
		return nil
	}
	prev := *c.Prev
	prev.Proj, _ = pagevm.Next(c.Prev.Proj, pagevm.Delta{Host: hosts, Places: c.Places[:n], Align: align}, pagevm.Wishes{}, pagevm.Cache{StripThinking: c.stripThinking()})
	prev.Ledger, prev.Pace = unplannedLedger(c, l, prev.Proj), c.Prev.Pace.Add(max(0, u.Now.Sub(c.Prev.Ledger.LastStart)))
	prev.Planned = prev.Proj.Tokens()
	return &prev
}

// unplannedLedger returns the content of the provider's cache after a projection was sent without
// a plan, with the lifetimes of the plan before it.
func unplannedLedger(c *call, l *limits, p *pagevm.Projection) cachelayout.Ledger {
	last := &c.Prev.Ledger
	fixed, messages := last.Lifetimes(last.LastStart)
	messages = cmp.Or(messages, cachelayout.AssumedTTL)
	blocks := l.blockList(p)
	at, _ := cachelayout.Layout(blocks, c.Request.Price, last.Tail(blocks), cachelayout.LayoutOptions{Fixed: max(fixed, messages), Messages: messages})
	return last.Advance(c.identity(p), blocks, at, c.Request.Unplanned.Now)
}

// shownInFull returns a copy of hosts in which message from and all later ones are shown in full.
// It copies segments because older states still use them.
func shownInFull(hosts []pagevm.HostMessage, from int) []pagevm.HostMessage {
	out := slices.Clone(hosts)
	for i := from; i < len(out); i++ {
		out[i].Segments = slices.Clone(out[i].Segments)
		for j := range out[i].Segments {
			out[i].Segments[j].First = pagevm.Full
		}
	}
	return out
}
