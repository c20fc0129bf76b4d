package cachelayout

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// cutInput is a warm session of 100,000 tokens in a window of 200,000 with
// something pending.
func cutInput(t testing.TB) CutInput {
	return CutInput{
		Model: mustModel(t, "claude-opus-5-5"), Window: 200_000, Reserve: 40_000,
		Fixed: 15_000, Conversation: 85_000, Planned: 100_000,
		Growth:  []int{50_000, 2_000, 3_000, 2_000, 9_000, 2_000, 3_000, 2_000, 3_000, 2_000, 3_000},
		Pending: 85_000, ExpectedTurns: 1, LowWater: 30_000,
	}
}

func TestPlanCut(t *testing.T) {
	steady := slices.Repeat([]int{1_000}, 10)
	tests := []struct {
		name   string
		set    func(*CutInput)
		reason string
		target int
		force  bool
	}{
		{"append below the mark", func(in *CutInput) {}, ReasonNone, 100_000, false},
		{"at the mark", func(in *CutInput) { in.Planned = 151_000 }, ReasonNone, 151_000, false},
		{"over the mark", func(in *CutInput) { in.Planned = 151_001 }, ReasonHighWater, 45_000, false},
		{"over the mark in a loop", func(in *CutInput) { in.Planned, in.OpenLoop = 151_001, true }, ReasonNone, 151_001, false},
		{"over the mark, nothing pending", func(in *CutInput) { in.Planned, in.Pending = 151_001, 0 }, ReasonNone, 151_001, false},
		{"over the window in a loop", func(in *CutInput) { in.Planned, in.OpenLoop = 160_001, true }, ReasonForced, 45_000, true},
		{"over the window, nothing known to be pending", func(in *CutInput) { in.Planned, in.Pending = 160_001, 0 }, ReasonForced, 45_000, true},
		{"cold", func(in *CutInput) { in.Cold, in.LowWater = true, 25_000 }, ReasonCold, 40_000, false},
		{"cold in a loop", func(in *CutInput) { in.Cold, in.OpenLoop, in.LowWater = true, true, 25_000 }, ReasonNone, 100_000, false},
		{"cold in a loop, over the mark", func(in *CutInput) { in.Cold, in.OpenLoop, in.Planned = true, true, 159_999 }, ReasonNone, 159_999, false},
		{"cold in a loop, over the window", func(in *CutInput) { in.Cold, in.OpenLoop, in.Planned = true, true, 160_001 }, ReasonForced, 45_000, true},
		{"cold with nothing pending", func(in *CutInput) { in.Cold, in.Pending = true, 0 }, ReasonNone, 100_000, false},
		{"cold event used up", func(in *CutInput) { in.Cold, in.ColdEventUsed = true, true }, ReasonNone, 100_000, false},
		{"cold event used up, but too large", func(in *CutInput) { in.Cold, in.ColdEventUsed, in.Planned = true, true, 170_000 }, ReasonForced, 45_000, true},
		{"cold and small", func(in *CutInput) { in.Cold, in.Planned = true, 20_000 }, ReasonNone, 20_000, false},
		{"over the cheapest mark and worth it", func(in *CutInput) { in.Planned, in.ExpectedTurns, in.Growth = 130_000, 50, steady }, ReasonPayback, 45_000, false},
		{"in a loop", func(in *CutInput) { in.Planned, in.ExpectedTurns, in.Growth, in.OpenLoop = 130_000, 50, steady, true }, ReasonNone, 130_000, false},
		{"below the cheapest mark", func(in *CutInput) { in.ExpectedTurns = 50 }, ReasonNone, 100_000, false},
		{"the next gap is too near", func(in *CutInput) { in.Planned, in.ExpectedTurns, in.Growth, in.ColdRate = 130_000, 50, steady, .5 }, ReasonNone, 130_000, false},
		{"near the end", func(in *CutInput) { in.Planned, in.ExpectedTurns, in.Growth = 130_000, 3, steady }, ReasonNone, 130_000, false},
		{"marks overridden", func(in *CutInput) { in.Planned, in.LowWater = 155_000, 60_000 }, ReasonHighWater, 75_000, false},
		{"planned left out", func(in *CutInput) { in.Planned, in.Conversation = 0, 140_000 }, ReasonHighWater, 45_000, false},
		{"window left out", func(in *CutInput) { in.Window = 0; in.Planned = 900_000 }, ReasonNone, 900_000, false},
		{"nothing known of the window", func(in *CutInput) { in.Window, in.Model = 0, Model{} }, ReasonNone, 100_000, false},
		{"haiku's cliff forces", func(in *CutInput) {
			in.Model, in.Planned, in.OpenLoop = mustModel(t, "claude-haiku-5-5"), 100_001, true
		}, ReasonForced, 45_000, true},
		{"haiku's cliff is kept clear of", func(in *CutInput) {
			in.Model, in.Planned = mustModel(t, "claude-haiku-5-5"), 91_001
		}, ReasonHighWater, 45_000, false},
		{"a cliff with nothing to cut is paid", func(in *CutInput) {
			in.Model, in.Pending = mustModel(t, "claude-haiku-5-5"), 0
			in.Planned = 100_001
		}, ReasonNone, 100_001, true},
		{"a cliff below the fixed part is ignored", func(in *CutInput) {
			in.Model, in.Fixed, in.Planned = mustModel(t, "claude-haiku-5-5"), 98_000, 120_000
		}, ReasonNone, 120_000, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := cutInput(t)
			tt.set(&in)
			c := PlanCut(in)
			if c.Reason != tt.reason || c.Do != (tt.reason != ReasonNone) || c.TargetTokens != tt.target || c.Force != tt.force {
				t.Errorf("%+v", c)
			}
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFiguresOfACut(t *testing.T) {
	f := PlanCut(cutInput(t)).Figures
	// The oldest of eleven growths does not count.
	if f.MaxGrowth != 9_000 || f.MedianGrowth != 3_000 || f.RoomMark != 151_000 || f.HighWater > f.RoomMark || f.Budget != 160_000 || f.Cliff != 0 {
		t.Errorf("%+v", f)
	}
	// n* = (1.25 − 0.05)·30,000 / (0.05·55,000)
	if !near(f.BreakEvenTurns, 1.2*30_000/(.05*55_000)) || f.Saved != 55_000 || f.Rewritten != 30_000 {
		t.Errorf("break-even %v of %d and %d", f.BreakEvenTurns, f.Saved, f.Rewritten)
	}
	// D* = √(2·g·w·L / (r·holdShare)).
	want := math.Sqrt(2 * float64(f.MeanGrowth) * 1.25 * 30_000 / (.05 * holdShare))
	if !near(f.EOQBatch, want) || !near(f.EOQHighWater, 45_000+want) || f.HighWater != int(45_000+want) && f.HighWater != f.RoomMark {
		t.Errorf("EOQ %v %v, want a batch of %v", f.EOQBatch, f.EOQHighWater, want)
	}
}

// TestLowWater: dearer growth, gaps and prices of writing keep less, a larger fixed
// part and more room keep more; none leaves floor and share.
func TestLowWater(t *testing.T) {
	base := Cycle{Growth: 1_000, Fixed: 30_000, Room: 150_000, ColdRate: .03, Ratios: priceRatios{Write: 1.25, Read: .1}}
	low := func(set func(*Cycle)) int {
		c := base
		set(&c)
		return c.LowWater(5_000, 120_000)
	}
	at := low(func(*Cycle) {})
	if _, memory := base.Cost(float64(at)); memory > missWeight*base.Miss() || at < 20_000 || at > 50_000 {
		t.Errorf("low water %d costs %v, a miss %v", at, memory, base.Miss())
	}
	for name, less := range map[string]int{
		"gaps": low(func(c *Cycle) { c.ColdRate = .2 }), "room": low(func(c *Cycle) { c.Room = 40_000 }),
		"fixed": low(func(c *Cycle) { c.Fixed = 5_000 }), "growth": low(func(c *Cycle) { c.ColdRate, c.Growth = 0, 9_000 }) - 5_000,
	} {
		if less >= at {
			t.Errorf("%s: %d, not below %d", name, less, at)
		}
	}
	if got := (Cycle{Growth: 1, Ratios: priceRatios{Write: 1, Read: 1}}).LowWater(7_000, 3_000); got != 7_000 {
		t.Errorf("the floor stands: %d", got)
	}
}

func TestMarksStayInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := CutInput{
			Model:  genModel(t),
			Window: rapid.IntRange(0, 1_000_000).Draw(t, "window"), Reserve: rapid.IntRange(0, 50_000).Draw(t, "reserve"),
			Fixed: rapid.IntRange(0, 120_000).Draw(t, "fixed"), Conversation: rapid.IntRange(0, 900_000).Draw(t, "conversation"),
			Growth:  rapid.SliceOfN(rapid.IntRange(-5_000, 60_000), 0, 14).Draw(t, "growth"),
			Pending: rapid.IntRange(-1, 100_000).Draw(t, "pending"),
			Cold:    rapid.Bool().Draw(t, "cold"), ColdEventUsed: rapid.Bool().Draw(t, "used"), OpenLoop: rapid.Bool().Draw(t, "loop"),
		}
		before := slices.Clone(in.Growth)
		c := PlanCut(in)
		f := c.Figures
		if f.HighWater > f.Limit || f.LowWater < in.Fixed {
			t.Fatalf("marks %+v", f)
		}
		if in.Fixed <= f.Limit-2*f.MedianGrowth && f.HighWater < f.LowWater+2*f.MedianGrowth {
			t.Fatalf("no room for two growths: %+v", f)
		}
		if in.Cold && in.ColdEventUsed && c.Reason == ReasonCold || c.Reason == ReasonCold && in.Pending < minSaved {
			t.Fatalf("cold cut without a right to: %+v", c)
		}
		if in.OpenLoop && c.Do && c.Reason != ReasonForced {
			t.Fatalf("%s cut in an open loop", c.Reason)
		}
		if f.Planned > f.Budget && !c.Do {
			t.Fatalf("a prompt over the window is sent: %+v", c)
		}
		if c.TargetTokens > f.Planned || !slices.Equal(before, in.Growth) {
			t.Fatal("target above the plan, or input changed")
		}
	})
}

func TestBreakEven(t *testing.T) {
	tests := []struct {
		model string
		ttl   time.Duration
		want  float64
	}{
		{"claude-opus-5", 0, 11.5}, {"claude-opus-5-5", 0, 24}, {"claude-fable-5-2", 0, 49},
		{"claude-opus-5", time.Hour, 19}, {"gpt-5", 0, 9}, {"gpt-4-turbo", 0, 0},
	}
	for _, tt := range tests {
		if n := breakEven(10_000, 10_000, mustModel(t, tt.model).Ratios(20_000, tt.ttl)); !near(n, tt.want) {
			t.Errorf("%s: breaks even after %v calls, want %v", tt.model, n, tt.want)
		}
	}
	opus := mustModel(t, "claude-opus-5").Ratios(10, 0)
	if n := breakEven(0, 10, opus); !math.IsInf(n, 1) {
		t.Errorf("saving nothing pays after %v calls", n)
	}
	if n := breakEven(5, 0, opus); n != 0 {
		t.Errorf("a cut at the tail pays after %v calls", n)
	}
}

func TestExpectedTurns(t *testing.T) {
	for n, want := range map[int]float64{-1: 10, 0: 10, 9: 10, 50: 50, 200: 200, 10_000: 200} {
		if got := ExpectedTurns(n); got != want {
			t.Errorf("after %d calls %v are expected", n, got)
		}
	}
}

func TestRatios(t *testing.T) {
	for _, local := range []Model{{}, Assume("qwen3-coder:30b")} {
		if r := local.Ratios(1, 0); !r.Assumed || r.Write != 1 || r.Read != 0 {
			t.Errorf("local: %+v", r)
		}
	}
	if r := Assume("claude-opus-9").Ratios(1, 0); !r.Assumed || r.Write != 1.25 || r.Read != .1 {
		t.Errorf("unpriced: %+v", r)
	}
	m := mustModel(t, "claude-haiku-5-5")
	if r := m.Ratios(200_000, time.Hour); !near(r.Write, 2) || !near(r.Read, .1) || r.Assumed {
		t.Errorf("over the cliff: %+v", r)
	}
	if r := mustModel(t, "gpt-6.1-sol").Ratios(1, 12*time.Hour); !r.Assumed {
		t.Errorf("an unpublished write price: %+v", r)
	}
}
