package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// Unplanned is a request that went out without a plan of its own: what the newest plan
// shows, and behind it the messages that were new, as the host wrote them. The next
// plan takes it in, so that every byte of it stands and the provider's cache is known
// to be as young as it is.
type Unplanned struct {
	// Messages is the host's whole conversation at that time, as in
	// [PlanRequest.Messages].
	Messages []memkernel.Message
	// Now is when it was sent.
	Now time.Time
}

// takeUnplanned lays the request that went out unplanned over the line before, as if a
// plan had made it: it grew by the messages that were new, each in full. Where it can't
// have been that (nothing was planned before, or what had left would have to come back)
// it is as if it had not been told.
func (w *work) takeUnplanned() {
	u := w.req.Unplanned
	if u == nil || w.align.First == 0 || w.renewed() {
		return
	}
	n := w.align.First
	for n < len(w.Hosts) && n < len(u.Messages) && ingest.HashMessage(&u.Messages[n]) == w.Hosts[n].Hash {
		n++
	}
	hosts := shownInFull(w.Hosts[:n], min(w.align.At, n))
	align := pagevm.Align(w.prev.Proj, hosts)
	if align.Stale {
		return
	}
	prev := *w.prev
	prev.Proj, _ = pagevm.Next(w.prev.Proj, pagevm.Delta{Host: hosts, Places: w.places[:n], Align: align}, pagevm.Wishes{}, pagevm.Cache{StripThinking: w.stripThinking()})
	prev.Ledger, prev.Pace = w.unplannedLedger(prev.Proj, u.Now), w.prev.Pace.Add(max(0, u.Now.Sub(w.prev.Ledger.LastStart)))
	prev.Planned = prev.Proj.Tokens()
	w.next.Ledger, w.next.Pace = prev.Ledger, prev.Pace
	w.prev = &prev
	w.align = pagevm.Align(prev.Proj, w.Hosts)
}

// unplannedLedger is what the provider's cache holds after a projection was sent
// without a plan, with the lifetimes of the plan before it.
func (w *work) unplannedLedger(p *pagevm.Projection, now time.Time) cachelayout.Ledger {
	l := &w.prev.Ledger
	fixed, messages := l.Lifetimes(l.LastStart)
	if messages == 0 {
		messages = cachelayout.AssumedTTL
	}
	blocks := w.blockList(p)
	at, _ := cachelayout.Layout(blocks, w.model, l.Tail(blocks), cachelayout.LayoutOptions{Fixed: max(fixed, messages), Carry: messages, Messages: messages})
	return l.Advance(w.identity(p), blocks, at, now)
}

// shownInFull are hosts with the messages from one on to be shown in full. Their
// segments are copied, since earlier lines share them.
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
