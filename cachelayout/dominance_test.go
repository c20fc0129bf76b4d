package cachelayout

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The two theorems on batches against sliding windows, held by the planner itself:
// PlanCut decides, the ledger bills.

// dominated is a session under PlanCut in a window that holds fixed + room tokens.
func dominated(m Model, fixed, room, low int) *planned {
	s := &planned{m: m, fixed: fixed, window: fixed + room, low: low}
	s.blocks = []Block{block(RegionSystem, "s", fixed)}
	_, s.ledger = send(Ledger{}, m, Identity{Model: m.ID}, s.blocks, noon)
	return s
}

type planned struct {
	m                  Model
	fixed, window, low int
	blocks             []Block
	ledger             Ledger
	growth             []int
	n, cuts            int
}

// call appends g tokens and sends; it returns the bill and the tokens that are
// kept.
func (s *planned) call(g int) (Bill, int) {
	s.n++
	now := noon.Add(time.Duration(s.n) * time.Minute)
	s.blocks = append(s.blocks[:len(s.blocks):len(s.blocks)], block(RegionNewest, fmt.Sprintf("m%d", s.n), g))
	s.growth = append(s.growth, g)
	total := sums(s.blocks)[len(s.blocks)].tokens
	c := PlanCut(CutInput{Model: s.m, Window: s.window, Fixed: s.fixed, Conversation: total - s.fixed, Growth: s.growth,
		Pending: total - s.fixed, ExpectedTurns: 200, LowWater: s.low})
	if c.Do {
		s.cuts++
		kept := max(0, c.TargetTokens-s.fixed-g)
		s.blocks = []Block{s.blocks[0], block(RegionCarry, fmt.Sprintf("kept%d", s.n), kept), s.blocks[len(s.blocks)-1]}
		total = s.fixed + kept + g
	}
	var b Bill
	b, s.ledger = send(s.ledger, s.m, Identity{Model: s.m.ID}, s.blocks, now)
	return b, total
}

var dominanceRatios = []priceRatios{{Write: 1.25, Read: .1}, {Write: 1.25, Read: .05}, {Write: 1.25, Read: .025}, {Write: 2, Read: .1}}

// TestPlannerNeverDearerThanSliding: in a ceiling B, with the low-water mark at most
// S + (B − S)/w and no growth above (1 − r)/(w − r)·(B − S), no call of the planner
// costs more than the best case of a sliding window, r·S + (B − S).
func TestPlannerNeverDearerThanSliding(t *testing.T) {
	cuts := 0
	rapid.Check(t, func(t *rapid.T) {
		ratios := rapid.SampledFrom(dominanceRatios).Draw(t, "ratios")
		fixed, room := rapid.IntRange(1_000, 40_000).Draw(t, "fixed"), rapid.IntRange(20_000, 150_000).Draw(t, "room")
		most := int((1 - ratios.Read) / (ratios.Write - ratios.Read) * float64(room))
		// The growth of the cut itself counts as kept.
		most = min(most, int(float64(room)/ratios.Write))
		low := rapid.IntRange(1, int(float64(room)/ratios.Write)).Draw(t, "low")
		sliding := (ratios.Read*float64(fixed) + float64(room)) / 1e6
		s := dominated(ratioModel(ratios), fixed, room, low)
		for i := range rapid.IntRange(1, 60).Draw(t, "calls") {
			b, total := s.call(rapid.IntRange(1, most).Draw(t, "growth"))
			if total > fixed+room {
				t.Fatalf("call %d holds %d of %d tokens", i, total, fixed+room)
			}
			if *b.CostUSD > sliding*(1+1e-9) {
				t.Fatalf("call %d costs %v, sliding %v (%+v)", i, *b.CostUSD, sliding, b)
			}
		}
		cuts += s.cuts
	})
	if cuts == 0 {
		t.Error("no trace made a cut")
	}
}

// TestPlannerShowsMoreForLess: a planner that never shows less than a sliding window
// of W tokens, and has room for eight growths more, is cheaper over every long
// trace. Growth is steady, as the theorem has it; the last cycle may be unpaid.
func TestPlannerShowsMoreForLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios := rapid.SampledFrom(dominanceRatios).Draw(t, "ratios")
		fixed, w := rapid.IntRange(1_000, 40_000).Draw(t, "fixed"), rapid.IntRange(40_000, 150_000).Draw(t, "sliding window")
		g := rapid.IntRange(500, w/20).Draw(t, "growth")
		s := dominated(ratioModel(ratios), fixed, 2*w+8*g, w)
		paid, sliding, stood := 0.0, 0.0, fixed
		for range 400 {
			b, total := s.call(g)
			paid += *b.CostUSD * 1e6
			stood = min(stood+g, fixed+w)
			if total < stood {
				t.Fatalf("the planner shows %d tokens, sliding %d", total, stood)
			}
			if stood < fixed+w {
				sliding += ratios.Read*float64(stood-g) + ratios.Write*float64(g)
			} else { // without a marker at the tail: its cheapest
				sliding += ratios.Read*float64(fixed) + min(float64(w), ratios.Write*float64(w))
			}
		}
		if paid >= sliding && stood == fixed+w && 400*g > 4*w {
			t.Fatalf("%d cuts cost %.0f, sliding %.0f", s.cuts, paid, sliding)
		}
	})
}
