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
	invalid, at := 0, 0
	if cuts := pl.Prev.Proj.Cuts; len(cuts) > 0 {
		invalid = cuts[len(cuts)-1].Covers
	}
	for i := range pl.Proj.Items {
		it := &pl.Proj.Items[i]
		if it.Kind != pagevm.ItemHost {
			continue
		}
		for at < len(pl.Hosts)-1 && pl.Hosts[at].Key != it.Key { // both are in the host's order
			at++
		}
		items, tokens := thinkingIn(pl, at, it)
		switch was := before[it.Page]; {
		case items == 0:
		case !showsThinking(it):
			if was == nil || showsThinking(was) {
				lost.LeftOutItems, lost.LeftOutTokens = lost.LeftOutItems+items, lost.LeftOutTokens+tokens
			}
		case drops && at < invalid:
			lost.StaleItems += items
		case drops && moved && pl.Proj.Place(i) >= pl.Made.Kept:
			lost.DroppedItems, lost.DroppedTokens = lost.DroppedItems+items, lost.DroppedTokens+tokens
		}
	}
	return lost.Priced(price, pl.Bill.Total())
}

func showsThinking(it *pagevm.Item) bool { return it.Level == pagevm.Full && !it.Bare }

// thinkingIn counts the thinking that an item shows of the host message at index at. It returns
// the number of thinking parts and their size in calibrated tokens.
func thinkingIn(pl *plan.Result, at int, it *pagevm.Item) (items, tokens int) {
	for i := range pl.Hosts[at].Segments {
		s := &pl.Hosts[at].Segments[i]
		if s.Page != it.Page || s.Bare.Hash == "" {
			continue
		}
		parts := pl.SegmentParts(at, s)
		for j := range parts {
			if ingest.Thinking(&parts[j]) {
				items++
			}
		}
		tokens = pl.Scale(s.At[pagevm.Full].Tokens - s.Bare.Tokens)
	}
	return items, tokens
}
