package plan

import (
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// takeUnplanned adds the request that went out without a plan to the earlier state, as if a plan
// had made the request. The prompt grows by the new messages, each in full. If nothing was
// planned before, or if messages that had left would have to return, takeUnplanned ignores the
// request.
func takeUnplanned(m *measured) {
	u := m.req.Unplanned
	if u == nil || m.Align.First == 0 || m.Renewed() {
		return
	}
	n := m.Align.First
	for n < len(m.Hosts) && n < len(u.Messages) && ingest.HashMessage(&u.Messages[n]) == m.Hosts[n].Hash {
		n++
	}
	hosts := shownInFull(m.Hosts[:n], min(m.Align.At, n))
	align := pagevm.Align(m.Prev.Proj, hosts)
	if align.Stale {
		return
	}
	prev := *m.Prev
	prev.Proj, _ = pagevm.Next(m.Prev.Proj, pagevm.Delta{Host: hosts, Places: m.Places[:n], Align: align}, pagevm.Wishes{}, pagevm.Cache{StripThinking: m.stripThinking()})
	prev.Ledger, prev.Pace = unplannedLedger(m, prev.Proj, u.Now), m.Prev.Pace.Add(max(0, u.Now.Sub(m.Prev.Ledger.LastStart)))
	prev.Planned = prev.Proj.Tokens()
	m.ledger, m.Pace = prev.Ledger, prev.Pace
	m.Prev = &prev
	m.Align = pagevm.Align(prev.Proj, m.Hosts)
}

// unplannedLedger returns the content of the provider's cache after a projection was sent without
// a plan, with the lifetimes of the plan before it.
func unplannedLedger(m *measured, p *pagevm.Projection, now time.Time) cachelayout.Ledger {
	l := &m.Prev.Ledger
	fixed, messages := l.Lifetimes(l.LastStart)
	if messages == 0 {
		messages = cachelayout.AssumedTTL
	}
	blocks := m.blockList(p)
	at, _ := cachelayout.Layout(blocks, m.req.Price, l.Tail(blocks), cachelayout.LayoutOptions{Fixed: max(fixed, messages), Carry: messages, Messages: messages})
	return l.Advance(m.identity(p), blocks, at, now)
}

// shownInFull returns a copy of hosts in which message from and all later ones are shown in full.
// It copies segments because older states still use them.
func shownInFull(hosts []pagevm.HostMessage, from int) []pagevm.HostMessage {
	out := append([]pagevm.HostMessage(nil), hosts...)
	for i := from; i < len(out); i++ {
		out[i].Segments = append([]pagevm.Segment(nil), out[i].Segments...)
		for j := range out[i].Segments {
			out[i].Segments[j].First = pagevm.Full
		}
	}
	return out
}
