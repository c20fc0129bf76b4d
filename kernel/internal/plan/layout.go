package plan

import "github.com/memkernel/memkernel/cachelayout"

// layout is the cache side of a plan, and its bill.
type layout struct {
	// Blocks are the blocks of the prompt in provider order.
	Blocks []cachelayout.Block
	// Breakpoints are the ends of the parts to be cached.
	Breakpoints []cachelayout.Breakpoint
	// Change is the first difference from the last request.
	Change cachelayout.Change
	// Notes describe the parts of this layout that the model's cache does not support.
	Notes  []string
	Bill   cachelayout.Bill
	Advice cachelayout.Advice
	ledger cachelayout.Ledger
}

// layOut puts breakpoints on the planned prompt, compares it with the last request, and estimates
// the bill. Without a call the ledger of the provider's cache stays as it was.
func layOut(a *appended) layout {
	l := layout{Blocks: a.blockList(a.Proj), ledger: a.ledger}
	if a.req.Demand != nil {
		return l
	}
	id := a.identity(a.Proj)
	l.Breakpoints, l.Notes = cachelayout.Layout(l.Blocks, a.req.Price, l.ledger.Tail(l.Blocks), a.Lifetimes.LayoutOptions)
	l.Change = l.ledger.Compare(id, l.Blocks)
	l.Bill = l.ledger.Bill(a.req.Price, id, l.Blocks, l.Breakpoints, a.req.Now)
	blame(a, &l)
	l.ledger = l.ledger.Advance(id, l.Blocks, l.Breakpoints, a.req.Now)
	l.Advice = l.ledger.Advise(a.req.Price, a.Pace, a.Cut, l.Bill.Total(), a.req.Now)
	return l
}
