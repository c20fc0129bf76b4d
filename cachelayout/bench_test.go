package cachelayout

import (
	"fmt"
	"testing"
	"time"
)

func benchSession(b *testing.B, n int) (Model, Identity, []Block, []Block, Ledger) {
	m, id := mustModel(b, "claude-opus-5-5"), Identity{Model: "claude-opus-5-5"}
	blocks := fixedPart()
	for i := range n {
		x := block(RegionWorkingSet, fmt.Sprintf("m%d", i), 300)
		x.Hash = fmt.Sprintf("%064x", i)
		blocks = append(blocks, x)
	}
	_, l := send(Ledger{}, m, id, blocks, noon)
	return m, id, blocks, append(blocks[:len(blocks):len(blocks)], block(RegionNewest, "n", 300)), l
}

func BenchmarkCall1000Blocks(b *testing.B) {
	m, id, _, next, l := benchSession(b, 1000)
	now := noon.Add(time.Minute)
	b.ReportAllocs()
	for b.Loop() {
		bps, _ := Layout(next, m, l.Tail(next), LayoutOptions{})
		bill := l.Bill(m, id, next, bps, now)
		l2 := l.Advance(id, next, bps, now)
		if bill.ReadTokens == 0 || len(l2.Chain) == 0 {
			b.Fatal("cold")
		}
	}
}

func BenchmarkAdvance1000Blocks(b *testing.B) {
	m, id, _, next, l := benchSession(b, 1000)
	bps, _ := Layout(next, m, l.Tail(next), LayoutOptions{})
	b.ReportAllocs()
	for b.Loop() {
		l.Advance(id, next, bps, noon)
	}
}

func BenchmarkFirstAdvance1000Blocks(b *testing.B) {
	_, id, blocks, _, _ := benchSession(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		var l Ledger
		l.Advance(id, blocks, nil, noon)
	}
}

func BenchmarkLookup(b *testing.B) {
	book := DefaultBook()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := book.Lookup("claude-opus-4-5-20251101", noon); !ok {
			b.Fatal("unknown")
		}
	}
}
