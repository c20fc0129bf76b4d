package cachelayout

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ratioModel is a model whose base input token costs one dollar a million.
func ratioModel(r Ratios) Model {
	one := 1.0
	return Model{ID: "ratio", Cache: CacheAnthropic, MaxBreakpoints: 4, LookbackPositions: 20,
		TTLs:  []time.Duration{5 * time.Minute},
		Tiers: []Tier{{Input: &one, Output: &one, Write5m: &r.Write, Read: &r.Read}}}
}

// TestBatchNeverDearerThanSliding bills a batch cutter call by call and holds
// the pathwise theorem: with ceiling B and fixed part S, if the low-water mark
// is at most S + (B−S)/w and no growth exceeds (1−r)/(w−r)·(B−S), then no call
// costs more than the sliding window's best case, r·S + (B−S).
func TestBatchNeverDearerThanSliding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios := rapid.SampledFrom([]Ratios{{Write: 1.25, Read: .1}, {Write: 1.25, Read: .05}, {Write: 1.25, Read: .025}, {Write: 2, Read: .1}}).Draw(t, "ratios")
		m, id := ratioModel(ratios), Identity{Model: "ratio"}
		fixed := rapid.IntRange(1_000, 40_000).Draw(t, "fixed")
		room := rapid.IntRange(10_000, 150_000).Draw(t, "room")
		low := fixed + rapid.IntRange(1, int(float64(room)/ratios.Write)).Draw(t, "low")
		most := int((1 - ratios.Read) / (ratios.Write - ratios.Read) * float64(room))
		sliding := (ratios.Read*float64(fixed) + float64(room)) / 1e6

		s := block(RegionSystem, "s", fixed)
		blocks, l, now, size := []Block{s}, Ledger{}, noon, fixed
		_, l = send(l, m, id, blocks, now)
		for i := range rapid.IntRange(1, 40).Draw(t, "calls") {
			g := rapid.IntRange(1, most).Draw(t, "growth")
			now = now.Add(time.Minute)
			if size+g > fixed+room {
				size = max(low, fixed+g)
				blocks = []Block{s, block(RegionCarry, fmt.Sprintf("kept%d", i), size-fixed-g), block(RegionNewest, fmt.Sprintf("new%d", i), g)}
			} else {
				size += g
				blocks = append(blocks[:len(blocks):len(blocks)], block(RegionNewest, fmt.Sprintf("new%d", i), g))
			}
			var bill Bill
			bill, l = send(l, m, id, blocks, now)
			if *bill.CostUSD > sliding*(1+1e-9) {
				t.Fatalf("call %d costs %v, sliding %v (%+v)", i, *bill.CostUSD, sliding, bill)
			}
		}
	})
}

func TestOptimalBatch(t *testing.T) {
	for _, tt := range []struct{ r, batch float64 }{{.1, 73_000}, {.05, 103_000}, {.025, 146_000}} {
		ratios := Ratios{Write: 1.25, Read: tt.r}
		batch, high := OptimalBatch(2_500, 15_000, 100_000, ratios, 0)
		if math.Abs(batch/tt.batch-1) > .01 || high != 100_000+batch {
			t.Errorf("r=%v: batch %.0f", tt.r, batch)
		}
		best := BatchCost(2_500, 15_000, 100_000, batch, ratios, 0)
		// The closed form of the optimum: w·g + r·L + √(2·r·g·w·(L − S)).
		if want := 1.25*2_500 + tt.r*100_000 + math.Sqrt(2*tt.r*2_500*1.25*85_000); !near(best, want) {
			t.Errorf("r=%v: %.0f per call, want %.0f", tt.r, best, want)
		}
		for _, f := range []float64{.5, .9, 1.1, 2} {
			if BatchCost(2_500, 15_000, 100_000, f*batch, ratios, 0) < best {
				t.Errorf("a batch of %v times the optimum is cheaper", f)
			}
		}
	}
	if b, h := OptimalBatch(0, 0, 0, Ratios{Write: 1, Read: .1}, 0); !math.IsInf(b, 1) || !math.IsInf(h, 1) {
		t.Error("no growth needs no cut")
	}
	if !math.IsInf(BatchCost(1, 1, 1, 0, Ratios{}, 0), 1) {
		t.Error("a batch of nothing")
	}
}

func TestOptimalLowWater(t *testing.T) {
	r := Ratios{Write: 1.25, Read: .1}
	if l := OptimalLowWater(150_000, 2_500, 15_000, 40_000, .05, r, 0); l != 40_000 {
		t.Errorf("tokens worth less than reading them are not kept: %v", l)
	}
	if l := OptimalLowWater(150_000, 2_500, 15_000, 40_000, 1e9, r, 0); l != 145_000 {
		t.Errorf("two growths stay free: %v", l)
	}
	a, b := OptimalLowWater(150_000, 2_500, 15_000, 40_000, .3, r, 0), OptimalLowWater(150_000, 2_500, 15_000, 40_000, .9, r, 0)
	if !(40_000 < a && a < b && b < 145_000) {
		t.Errorf("more value keeps more: %v %v", a, b)
	}
}

func TestChooseTTL(t *testing.T) {
	gaps := func(n int, special ...time.Duration) []time.Duration {
		out := make([]time.Duration, n)
		for i := range out {
			out[i] = 20 * time.Second
		}
		return append(out, special...)
	}
	opus := mustModel(t, "claude-opus-5")
	tests := []struct {
		name string
		m    Model
		gaps []time.Duration
		want time.Duration
	}{
		{"no gaps", opus, nil, 5 * time.Minute},
		{"too few to judge", opus, gaps(5, 10*time.Minute), 5 * time.Minute},
		{"never idle", opus, gaps(100), 5 * time.Minute},
		{"one in a hundred is below 1.6 %", opus, gaps(99, 10*time.Minute), 5 * time.Minute},
		{"two are above", opus, gaps(98, 10*time.Minute, 59*time.Minute), time.Hour},
		{"gaps beyond an hour do not count", opus, gaps(98, time.Hour, 5*time.Hour), 5 * time.Minute},
		{"nor does a clock that went back", opus, gaps(98, -10*time.Minute, -time.Hour), 5 * time.Minute},
		{"unpublished price", mustModel(t, "gpt-6.1-sol"), gaps(9, time.Hour, time.Hour), 30 * time.Minute},
		{"one lifetime only", mustModel(t, "gpt-5"), gaps(9, time.Hour), 5 * time.Minute},
		{"unknown model", Model{}, gaps(9, time.Hour), AssumedTTL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ttl, why := ChooseTTL(tt.gaps, tt.m, 100_000, 2_500)
			if ttl != tt.want || why == "" {
				t.Errorf("%s: %s", ttl, why)
			}
		})
	}
}

func TestChooseFixedTTL(t *testing.T) {
	opus := mustModel(t, "claude-opus-5")
	ten, day := 10*time.Minute, 24*time.Hour
	for _, tt := range []struct {
		gaps []time.Duration
		want time.Duration
	}{
		{nil, 5 * time.Minute},
		{[]time.Duration{ten}, time.Hour},
		{[]time.Duration{ten, day}, 5 * time.Minute},
		{[]time.Duration{ten, ten, day}, time.Hour},
	} {
		if ttl, why := ChooseFixedTTL(tt.gaps, opus, 15_000); ttl != tt.want {
			t.Errorf("%v: %s, %s", tt.gaps, ttl, why)
		}
	}
	if ttl, _ := ChooseFixedTTL([]time.Duration{ten}, Model{}, 15_000); ttl != AssumedTTL {
		t.Errorf("unknown model: %s", ttl)
	}
}

func TestRecordedTTL(t *testing.T) {
	m := mustModel(t, "claude-opus-5")
	if _, ok := RecordedTTL(m, 0, 0); ok {
		t.Error("nothing was written")
	}
	if ttl, _ := RecordedTTL(m, 5, 9); ttl != time.Hour {
		t.Error(ttl)
	}
	if ttl, _ := RecordedTTL(m, 9, 5); ttl != 5*time.Minute {
		t.Error(ttl)
	}
}
