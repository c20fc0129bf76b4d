package cachelayout

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// noon is the time at which test sessions start.
var noon = time.Date(2026, 11, 12, 12, 0, 0, 0, time.UTC)

func mustModel(t testing.TB, id string) Model {
	t.Helper()
	m, ok := DefaultBook().Lookup(id, noon)
	if !ok {
		t.Fatalf("model %s is not in the book", id)
	}
	return m
}

// block makes a markable block whose content is its name.
func block(region, name string, tokens int) Block {
	return Block{ID: name, Region: region, Hash: "hash of " + name, Tokens: tokens, Positions: 1, Markable: true}
}

// fixedPart is tools of 10,000 tokens and a system prompt of 5,000.
func fixedPart() []Block {
	return []Block{block(RegionTools, "tools", 10_000), block(RegionSystem, "system", 5_000)}
}

// grow appends n messages of the given size.
func grow(blocks []Block, n, tokens int) []Block {
	out := append([]Block(nil), blocks...)
	for range n {
		out = append(out, block(RegionWorkingSet, fmt.Sprintf("m%d", len(out)), tokens))
	}
	return out
}

// send lays out, bills and advances, as a kernel does for each call.
func send(l Ledger, m Model, id Identity, blocks []Block, now time.Time) (Bill, Ledger) {
	return sendWith(l, m, id, blocks, LayoutOptions{}, now)
}

func sendWith(l Ledger, m Model, id Identity, blocks []Block, opt LayoutOptions, now time.Time) (Bill, Ledger) {
	bps, _ := Layout(blocks, m, l.Tail(blocks), opt)
	bill := l.Bill(m, id, blocks, bps, now)
	return bill, l.Advance(id, blocks, bps, now)
}

func dollars(t *testing.T, p *float64) float64 {
	t.Helper()
	if p == nil {
		t.Fatal("cost is nil")
	}
	return *p
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}
