package branch

import (
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
)

// Scaled turns counted tokens into calibrated ones, rounding up.
func Scaled(tokens int, ratio float64) int {
	if ratio == 1 || tokens == 0 {
		return tokens
	}
	return int(float64(tokens)*ratio + 0.999)
}

// Blocks returns the content of a projection in provider order, after the fixed blocks. Token
// counts are multiplied by ratio.
func Blocks(fixed []cachelayout.Block, p *pagevm.Projection, ratio float64) []cachelayout.Block {
	out := make([]cachelayout.Block, 0, len(fixed)+len(p.Carry)+len(p.Items))
	out = append(out, fixed...)
	message, key, newest := -1, "", ""
	if n := len(p.Seen); n > 0 {
		newest = p.Seen[n-1].Key
	}
	for i := range p.Len() {
		it := p.At(i)
		if k := MessageOf(it); (k != key || message < 0) && !it.Blank() {
			message, key = message+1, k
		}
		out = append(out, cachelayout.Block{ID: it.Page, Region: regionOf(p, it, newest), Hash: it.Hash, Tokens: Scaled(it.Tokens, ratio),
			Positions: it.Positions, Markable: it.Markable, Image: it.Image, Message: message})
	}
	return out
}

// MessageOf returns the key of the output message that an item is part of.
func MessageOf(it *pagevm.Item) string {
	switch it.Kind {
	case pagevm.ItemCarry:
		return carryKey
	case pagevm.ItemCompaction, pagevm.ItemNote, pagevm.ItemRetrieval:
		return keyPrefix + it.Page
	}
	return it.Key
}

// regionOf returns the region that an item belongs to. Memory that was recalled for earlier turns
// is part of the working set.
func regionOf(p *pagevm.Projection, it *pagevm.Item, newest string) string {
	switch {
	case it.Kind == pagevm.ItemCarry, it.Kind == pagevm.ItemCompaction:
		return cachelayout.RegionCarry
	case it.Kind == pagevm.ItemRetrieval && it.Page == p.Recall.Page:
		return cachelayout.RegionRetrieval
	case it.Kind == pagevm.ItemRetrieval:
		return cachelayout.RegionWorkingSet
	case it.Key == newest:
		return cachelayout.RegionNewest
	}
	return cachelayout.RegionWorkingSet
}

const (
	// carryKey is the key of the message that holds the carry block. keyPrefix begins the keys of
	// all messages that the kernel adds.
	carryKey  = "memkernel:carry"
	keyPrefix = "memkernel:"
	// OpeningKey is the key of the message that opens a conversation which begins with the
	// assistant.
	OpeningKey = keyPrefix + "opening"
)
