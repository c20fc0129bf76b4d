package report

import (
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
)

// reasoningOf counts the thinking that messages of the prompt lose with this plan. The provider
// drops all thinking after the first changed byte. Thinking that an earlier cut already made
// invalid does not count.
func reasoningOf(pl *plan.Result) cachelayout.Reasoning {
	price := pl.Request.Price
	lost := cachelayout.Reasoning{Binding: price.Binding()}
	if !price.PreservedThinking {
		return lost
	}
	before := map[string]*pagevm.Item{}
	for i := range pl.Prev.Proj.Items {
		before[pl.Prev.Proj.Items[i].Page] = &pl.Prev.Proj.Items[i]
	}
	drops := price.DropsThinking || pl.Request.DropOption
	moved := pl.Made.Cut != nil || !slices.EqualFunc(pl.Prev.Proj.Carry, pl.Proj.Carry, func(a, b pagevm.Item) bool { return a.Hash == b.Hash })
	invalid := 0
	if cuts := pl.Prev.Proj.Cuts; len(cuts) > 0 {
		invalid = cuts[len(cuts)-1].Covers
	}
	for it, s := range pl.Proj.Spots(pl.Hosts) {
		if it.Kind != pagevm.ItemHost || s.Segment == nil || s.Bare.Hash == "" {
			continue
		}
		items, tokens := 0, pl.Scale(s.At[pagevm.Full].Tokens-s.Bare.Tokens)
		for _, p := range pl.SegmentParts(s.Message, s.Segment) {
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
		case drops && moved && pl.Proj.Place(s.Item) >= pl.Made.Kept:
			lost.DroppedItems, lost.DroppedTokens = lost.DroppedItems+items, lost.DroppedTokens+tokens
		}
	}
	return lost.Priced(price, pl.Bill.Total())
}

func showsThinking(it *pagevm.Item) bool { return it.Level == pagevm.Full && !it.Bare }
