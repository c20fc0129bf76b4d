package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// ChooseTTL as a [PlanRequest.TTL] has the kernel choose all lifetimes, whatever the
// host was seen to use.
const ChooseTTL time.Duration = -1

// lifetimes is how long each part of the prompt is asked to stay cached, and why.
type lifetimes struct {
	cachelayout.LayoutOptions
	fixedWhy, messagesWhy string
}

// keepPace counts this call, and before the first one those that the transcript
// tells of.
func (w *work) keepPace() {
	last := w.next.Ledger.LastStart
	if w.next.Pace.Calls == 0 && len(w.prev.Proj.Seen) == 0 {
		w.next.Pace = paceOf(w.Msgs)
	}
	gap := time.Duration(0)
	if !last.IsZero() {
		gap = w.req.Now.Sub(last)
	}
	w.next.Pace = w.next.Pace.Add(gap)
}

// paceOf is the pace of the calls that made the assistant's messages.
func paceOf(msgs []memkernel.Message) cachelayout.Pace {
	var p cachelayout.Pace
	var last time.Time
	for _, c := range transcript.Calls(msgs) {
		gap := time.Duration(0)
		if !last.IsZero() && !c.Start.IsZero() {
			gap = c.Start.Sub(last)
		}
		p, last = p.Add(gap), c.Start
	}
	return p
}

// chooseLifetimes settles what to ask the provider for. A host that names a lifetime
// gets it for its messages; one that was seen to use one, and names none, is taken
// to go on so in all parts. What is left is chosen by price and pace, and stays
// until the entry has expired.
func (w *work) chooseLifetimes() {
	if seen := w.next.TTL; w.req.TTL == 0 && seen != 0 {
		t := w.model.TTL(seen)
		w.lifetimes = lifetimes{cachelayout.LayoutOptions{Fixed: t, Carry: t, Messages: t}, whySeen, whySeen}
		return
	}
	fixed, messages := w.next.Ledger.Lifetimes(w.req.Now)
	l := lifetimes{fixedWhy: whyStands, messagesWhy: whyStands}
	if w.req.TTL > 0 {
		messages, l.messagesWhy = w.model.TTL(w.req.TTL), whyAsked
	} else if messages == 0 {
		messages, l.messagesWhy = w.chooseMessages()
	}
	if fixed == 0 {
		fixed, l.fixedWhy = cachelayout.ChooseFixedTTL(w.next.Pace, w.model, w.fixed, w.expectedCalls())
	}
	if fixed < messages {
		fixed, l.fixedWhy = messages, whyOrder
	}
	l.LayoutOptions = cachelayout.LayoutOptions{Fixed: fixed, Carry: messages, Messages: messages}
	w.lifetimes = l
}

// The reasons of a lifetime that was not chosen by price.
const (
	whySeen   = "the host was seen to use it"
	whyAsked  = "the host asked for it"
	whyStands = "it was asked for when the entry was written"
	whyOrder  = "no part may live shorter than one behind it"
)

// chooseMessages picks the messages' lifetime by what an average call would cost.
func (w *work) chooseMessages() (time.Duration, string) {
	c := cachelayout.Cycle{Growth: float64(cachelayout.MeanGrowth(w.growth())), Fixed: float64(w.fixed), Room: float64(w.hard - w.fixed)}
	return cachelayout.ChooseTTL(w.next.Pace, w.model, c, cachelayout.LowWaterFloor)
}

// expectedCalls is how many calls the fixed part will serve. A sidechain is one
// errand, and is expected to be short.
func (w *work) expectedCalls() float64 {
	n := cachelayout.ExpectedTurns(w.calls())
	if w.req.Branch == "" {
		n = max(n, cachelayout.SessionCalls)
	}
	return n
}
