package plan

import (
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
)

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
	ledger cachelayout.Ledger
}

// layOut puts breakpoints on the planned prompt, compares it with the last request, and estimates
// the bill. Without a call the ledger of the provider's cache stays as it was.
func layOut(c *call, limits *limits, d *decision, a *appended) layout {
	r := c.Request
	l := layout{Blocks: limits.blockList(a.Proj), ledger: d.cached}
	if r.Demand != nil {
		return l
	}
	id := c.identity(a.Proj)
	l.Breakpoints, l.Notes = cachelayout.Layout(l.Blocks, r.Price, d.cached.Tail(l.Blocks), d.Lifetimes.LayoutOptions)
	l.Change = d.cached.Compare(id, l.Blocks)
	l.Bill = d.cached.Bill(r.Price, id, l.Blocks, l.Breakpoints, r.Now)
	from := &d.cached
	if last := c.prior.Last; l.Change.Kind == cachelayout.ChangeFirst && last != nil {
		// Each model has its own cache.
		l.Change = cachelayout.Change{Kind: cachelayout.ChangeIdentity, Field: "model", Broken: cachelayout.LevelTools, Block: -1,
			Old: last.Model, New: r.Model, BrokenTokens: last.Ledger.Tokens()}
		from = &last.Ledger
	}
	// A cut of the kernel changes only messages. If any other part of a warm cache is broken, the
	// host broke it.
	if l.Change.Kind != cachelayout.ChangeMessages || a.Made.Cut == nil || c.Align.Rewrite != pagevm.RewriteNone {
		if l.Change.Host = from.Blame(l.Change, r.Price, l.Bill, r.Now); l.Change.Host != nil {
			l.Change.Host.Place = c.placeOf(&l.Change)
		}
	}
	l.ledger = d.cached.Advance(id, l.Blocks, l.Breakpoints, r.Now)
	return l
}
