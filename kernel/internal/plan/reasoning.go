package plan

import (
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// reasoning counts the thinking that messages of the prompt lose with this plan. The provider
// drops all thinking after the first changed byte. Thinking that an earlier cut already made
// invalid does not count.
func (r *Result) reasoning() cachelayout.Reasoning {
	price := r.Request.Price
	lost := cachelayout.Reasoning{Binding: price.Binding()}
	if !price.PreservedThinking {
		return lost
	}
	before := map[string]*pagevm.Item{}
	for i := range r.Prev.Proj.Items {
		before[r.Prev.Proj.Items[i].Page] = &r.Prev.Proj.Items[i]
	}
	drops := price.DropsThinking || r.Request.DropOption
	moved := r.Made.Cut != nil || !slices.EqualFunc(r.Prev.Proj.Carry, r.Proj.Carry, func(a, b pagevm.Item) bool { return a.Hash == b.Hash })
	invalid := 0
	if cuts := r.Prev.Proj.Cuts; len(cuts) > 0 {
		invalid = cuts[len(cuts)-1].Covers
	}
	for it, s := range r.Proj.Spots(r.Hosts) {
		if it.Kind != pagevm.ItemHost || s.Segment == nil || s.Bare.Hash == "" {
			continue
		}
		items, tokens := 0, r.Scale(s.At[pagevm.Full].Tokens-s.Bare.Tokens)
		for _, p := range r.SegmentParts(s.Message, s.Segment) {
			if ingest.Thinking(&p) {
				items++
			}
		}
		switch was := before[it.Page]; {
		case !showsThinking(it):
			if was == nil || showsThinking(was) {
				lost.LeftOutItems, lost.LeftOutTokens = lost.LeftOutItems+items, lost.LeftOutTokens+tokens
			}
		case drops && s.Message < invalid:
			lost.StaleItems += items
		case drops && moved && r.Proj.Place(s.Item) >= r.Made.Kept:
			lost.DroppedItems, lost.DroppedTokens = lost.DroppedItems+items, lost.DroppedTokens+tokens
		}
	}
	return lost.Priced(price, r.Bill.Total())
}

func showsThinking(it *pagevm.Item) bool { return it.Level == pagevm.Full && !it.Bare }
