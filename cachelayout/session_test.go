package cachelayout

import (
	"fmt"
	"testing"
	"time"
)

// session drives ledger, layout and cut planner as a kernel does.
type session struct {
	m      Model
	id     Identity
	blocks []Block
	ledger Ledger
	growth []int
	used   string // the cold event that the last cold cut used
	cuts   []string
	totals Bill
	n      int
	window int
	opt    LayoutOptions
	target int // of the last cut
}

// call appends g tokens and sends at now; it returns the bill.
func (s *session) call(g int, now time.Time) Bill {
	s.n++
	s.blocks = append(s.blocks[:len(s.blocks):len(s.blocks)], block(RegionWorkingSet, fmt.Sprintf("m%d", s.n), g))
	s.growth = append(s.growth, g)
	planned := sums(s.blocks)[len(s.blocks)].tokens
	cold, _ := s.ledger.Cold(s.m, s.id, now)
	event := s.ledger.ColdEvent(s.m, s.id, now)
	in := CutInput{Model: s.m, Window: s.window, Reserve: 40_000, Fixed: 15_000, Conversation: planned - 15_000,
		Growth: s.growth, Cold: cold, ColdEventUsed: cold && event == s.used, Pending: planned - 15_000}
	if c := PlanCut(in); c.Do {
		s.cuts = append(s.cuts, c.Reason)
		if c.Reason == ReasonCold {
			s.used = event
		}
		s.target = c.TargetTokens
		s.cut(c.TargetTokens, g)
	}
	bill, l := sendWith(s.ledger, s.m, s.id, s.blocks, s.opt, now)
	s.ledger = l
	s.totals.ReadTokens += bill.ReadTokens
	s.totals.Write5mTokens += bill.Write5mTokens
	s.totals.Write1hTokens += bill.Write1hTokens
	s.totals.UncachedTokens += bill.UncachedTokens
	return bill
}

// cut comes down to the target: a carry block, and the newest message.
func (s *session) cut(target, newest int) {
	last := s.blocks[len(s.blocks)-1]
	kept := block(RegionCarry, fmt.Sprintf("carry%d", s.n), target-15_000-newest)
	s.blocks = append(fixedPart(), kept, last)
}

func TestLongWarmSessionIsRead(t *testing.T) {
	for _, model := range []string{"claude-opus-5-5", "claude-opus-4-6", "claude-haiku-5-5", "gpt-6.1-sol", "gpt-5", "deepseek-flash"} {
		s := session{m: mustModel(t, model), id: Identity{Model: model}, blocks: fixedPart(), window: 200_000}
		for i := range 300 {
			s.call(1_000+(i*7919)%3_000, noon.Add(time.Duration(i)*40*time.Second))
		}
		gate := .95
		if len(s.m.Tiers) > 1 && s.m.Tiers[1].AboveTokens < 160_000 {
			gate = .94 // a cliff at 100,000 tokens makes cuts twice as frequent
		}
		if h := float64(s.totals.ReadTokens) / float64(s.totals.Total()); h < gate {
			t.Errorf("%s: hit ratio %.3f with cuts %v", model, h, s.cuts)
		} else {
			t.Logf("%s: hit ratio %.3f, %d cuts", model, h, len(s.cuts))
		}
		for _, c := range s.cuts {
			if c != ReasonHighWater && c != ReasonPayback {
				t.Errorf("%s: %s cut in a warm session of steady growth", model, c)
			}
		}
	}
}

// TestOneColdEventMakesOneCut is the lesson of a host that cleared old content
// once after an idle hour, and then at every call.
func TestOneColdEventMakesOneCut(t *testing.T) {
	s := session{m: mustModel(t, "claude-opus-5-5"), id: Identity{Model: "claude-opus-5-5"}, blocks: fixedPart(), window: 200_000}
	now := noon
	for range 30 {
		now = now.Add(30 * time.Second)
		s.call(2_500, now)
	}
	if len(s.cuts) != 0 {
		t.Fatalf("cuts before the gap: %v", s.cuts)
	}
	now = now.Add(70 * time.Minute)
	if b := s.call(2_500, now); b.ReadTokens != 0 || b.Total() != s.target {
		t.Fatalf("the cold call rewrites the low-water prompt: %+v", b)
	}
	frozen := s.blocks
	for i := range 30 {
		now = now.Add(30 * time.Second)
		b := s.call(2_500, now)
		if b.ReadTokens != b.Total()-2_500 {
			t.Fatalf("call %d after the cut is no append: %+v", i, b)
		}
	}
	if len(s.cuts) != 1 || s.cuts[0] != ReasonCold {
		t.Errorf("one cold event made the cuts %v", s.cuts)
	}
	for i, b := range frozen {
		if s.blocks[i].Hash != b.Hash {
			t.Fatalf("block %d changed after the cut", i)
		}
	}
}

// TestRetryInAColdGapCutsOnce plans again and again before anything is sent.
func TestRetryInAColdGapCutsOnce(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5-5"), Identity{Model: "claude-opus-5-5"}
	_, l := send(Ledger{}, m, id, grow(fixedPart(), 40, 2_500), noon)
	used, cuts := "", 0
	for i := range 5 {
		now := noon.Add(time.Hour + time.Duration(i)*time.Minute)
		cold, _ := l.Cold(m, id, now)
		event := l.ColdEvent(m, id, now)
		c := PlanCut(CutInput{Model: m, Window: 200_000, Reserve: 40_000, Fixed: 15_000, Conversation: 100_000,
			Cold: cold, ColdEventUsed: event == used, Pending: 50_000})
		if c.Do {
			cuts, used = cuts+1, event
		}
	}
	if cuts != 1 {
		t.Errorf("%d cuts for one gap", cuts)
	}
}

func TestHighWaterKeepsClearOfTheCliff(t *testing.T) {
	s := session{m: mustModel(t, "claude-haiku-5-5"), id: Identity{Model: "claude-haiku-5-5"}, blocks: fixedPart(), window: 200_000}
	for i := range 200 {
		if b := s.call(2_000+(i%5)*700, noon.Add(time.Duration(i)*time.Minute)); b.Tier != 0 {
			t.Fatalf("call %d is priced over the cliff: %+v", i, b)
		}
	}
	if len(s.cuts) == 0 {
		t.Error("no cut at all")
	}
}
