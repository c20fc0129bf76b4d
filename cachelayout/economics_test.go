package cachelayout

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ratioModel is a model whose base input token costs one dollar a million.
func ratioModel(r priceRatios) Model {
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
		ratios := rapid.SampledFrom([]priceRatios{{Write: 1.25, Read: .1}, {Write: 1.25, Read: .05}, {Write: 1.25, Read: .025}, {Write: 2, Read: .1}}).Draw(t, "ratios")
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

// batchCost is the cost per call of growing from low by batch tokens and then
// cutting, in units of the base input price.
func batchCost(growth, fixed, low, batch float64, ratios priceRatios) float64 {
	cut := ratios.Write * (low - fixed)
	return ratios.Write*growth + ratios.Read*(low+batch/2) + cut*growth/batch
}

func TestOptimalBatch(t *testing.T) {
	for _, tt := range []struct{ r, batch float64 }{{.1, 73_000}, {.05, 103_000}, {.025, 146_000}} {
		ratios := priceRatios{Write: 1.25, Read: tt.r}
		c := Cycle{Growth: 2_500, Ratios: priceRatios{Write: 1.25, Read: tt.r / holdShare}}
		batch := c.Batch(100_000 - 15_000) // of the conversation, without the fixed part
		if math.Abs(batch/tt.batch-1) > .01 {
			t.Errorf("r=%v: batch %.0f", tt.r, batch)
		}
		best := batchCost(2_500, 15_000, 100_000, batch, ratios)
		// The closed form of the optimum: w·g + r·L + √(2·r·g·w·(L − S)).
		if want := 1.25*2_500 + tt.r*100_000 + math.Sqrt(2*tt.r*2_500*1.25*85_000); !near(best, want) {
			t.Errorf("r=%v: %.0f per call, want %.0f", tt.r, best, want)
		}
		for _, f := range []float64{.5, .9, 1.1, 2} {
			if batchCost(2_500, 15_000, 100_000, f*batch, ratios) < best {
				t.Errorf("a batch of %v times the optimum is cheaper", f)
			}
		}
	}
	if b := (Cycle{Ratios: priceRatios{Write: 1, Read: .1}}).Batch(0); !math.IsInf(b, 1) {
		t.Error("no growth needs no cut")
	}
}

// paceWith is a pace of so many calls, with these gaps among them.
func paceWith(calls int, gaps ...time.Duration) Pace {
	var p Pace
	for range calls - len(gaps) {
		p = p.Add(20 * time.Second)
	}
	for _, g := range gaps {
		p = p.Add(g)
	}
	return p
}

func TestPace(t *testing.T) {
	p := paceWith(100, 10*time.Minute, 2*time.Hour, -time.Hour)
	if p.Calls != 100 || len(p.Idle) != 2 {
		t.Errorf("%+v", p)
	}
	if a, b, c := p.Rate(5*time.Minute), p.Rate(time.Hour), (Pace{}).Rate(5*time.Minute); !(a > b && b > 0) || !near(c, priorIdleRate) {
		t.Errorf("rates %v %v, prior %v", a, b, c)
	}
	old := paceWith(300, slices.Repeat([]time.Duration{time.Hour}, 300)...)
	if len(old.Idle) > maxIdle || old.Rate(time.Hour) < .5 {
		t.Errorf("%d gaps remembered, rate %v", len(old.Idle), old.Rate(time.Hour))
	}
}

// TestChooseTTL: a cold cache is used for a cut, so that the long lifetime of the
// messages pays only for sessions that pause all the time.
func TestChooseTTL(t *testing.T) {
	opus := mustModel(t, "claude-opus-5")
	ten := 10 * time.Minute
	for _, tt := range []struct {
		name string
		m    Model
		p    Pace
		want time.Duration
	}{
		{"nothing known", opus, Pace{}, 5 * time.Minute},
		{"never idle", opus, paceWith(200), 5 * time.Minute},
		{"a gap in twenty calls", opus, paceWith(200, slices.Repeat([]time.Duration{ten}, 10)...), 5 * time.Minute},
		{"a gap at every other call", opus, paceWith(200, slices.Repeat([]time.Duration{ten}, 100)...), time.Hour},
		{"gaps that outlive both", opus, paceWith(200, slices.Repeat([]time.Duration{5 * time.Hour}, 100)...), 5 * time.Minute},
		{"unpublished price", mustModel(t, "gpt-6.1-sol"), paceWith(9, time.Hour), 30 * time.Minute},
		{"one lifetime only", mustModel(t, "gpt-5"), paceWith(9, time.Hour), 5 * time.Minute},
		{"unknown model", Model{}, paceWith(9, time.Hour), AssumedTTL},
	} {
		c := Cycle{Growth: 1_000, Fixed: 30_000, Room: 100_000}
		if ttl, why := ChooseTTL(tt.p, tt.m, c, 25_000); ttl != tt.want || why == "" {
			t.Errorf("%s: %s: %s", tt.name, ttl, why)
		}
	}
}

func TestChooseFixedTTL(t *testing.T) {
	opus := mustModel(t, "claude-opus-5")
	const ten, day = 10 * time.Minute, 24 * time.Hour
	many := func(n int, gaps ...time.Duration) (out []Pace) {
		return slices.Repeat([]Pace{paceWith(50, gaps...)}, n)
	}
	for _, tt := range []struct {
		name    string
		p       Pace
		earlier []Pace
		calls   float64
		want    time.Duration
	}{
		{"a session", Pace{}, nil, SessionCalls, time.Hour},
		{"an errand", Pace{}, nil, 10, 5 * time.Minute},
		{"never idle", paceWith(1_000), nil, 100, 5 * time.Minute},
		{"days between", paceWith(100, slices.Repeat([]time.Duration{day}, 50)...), nil, 100, 5 * time.Minute},
		{"the first pause was a day", paceWith(20, day), nil, 100, 5 * time.Minute},
		{"after the second day", paceWith(30, day, day), nil, 100, 5 * time.Minute},
		{"an hour's half after a day", paceWith(30, day, ten), nil, 100, time.Hour},
		{"a day after pauses that it survived", paceWith(60, ten, ten, day), nil, 100, time.Hour},
		{"days after pauses that it survived", paceWith(60, ten, ten, day, day, day), nil, 100, 5 * time.Minute},
		{"an agent that is used once a day", Pace{}, many(4, day, day), 100, 5 * time.Minute},
		{"an agent that pauses for minutes", paceWith(20, day), many(4, ten, day, ten), 100, time.Hour},
		{"earlier sessions do not outweigh this one", paceWith(60, day, day, day, day, day), many(100, ten), 100, 5 * time.Minute},
		{"sessions that never pause tell nothing", Pace{}, many(8), 100, time.Hour},
	} {
		if ttl, why := ChooseFixedTTL(tt.p, tt.earlier, opus, 15_000, tt.calls); ttl != tt.want || why == "" {
			t.Errorf("%s: %s, %s", tt.name, ttl, why)
		}
	}
	if ttl, _ := ChooseFixedTTL(Pace{}, nil, Model{}, 15_000, 100); ttl != AssumedTTL {
		t.Errorf("unknown model: %s", ttl)
	}
}

// TestFixedThroughDays: a session that pauses for days alone has its fixed part written
// for long once; any other one as often as pauses that the long lifetime survived speak for
// it.
func TestFixedThroughDays(t *testing.T) {
	opus := mustModel(t, "claude-opus-5")
	short, long := opus.TTLs[0], opus.TTLs[1]
	written := func(gaps []time.Duration) (longs, survived int) {
		p := Pace{}.Add(0)
		ttl, _ := ChooseFixedTTL(p, nil, opus, 15_000, SessionCalls)
		if ttl == long {
			longs++
		}
		for _, g := range gaps {
			p = p.Add(g)
			if g >= short && g < long {
				survived++
			}
			if g < ttl {
				continue
			}
			if ttl, _ = ChooseFixedTTL(p, nil, opus, 15_000, SessionCalls); ttl == long {
				longs++
			}
		}
		return longs, survived
	}
	for n := range 30 {
		if longs, _ := written(slices.Repeat([]time.Duration{time.Second, 24 * time.Hour}, n)); longs != 1 {
			t.Errorf("%d days: written for long %d times", n, longs)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{time.Second, 7 * time.Minute, 50 * time.Minute, 2 * time.Hour, 24 * time.Hour}), 0, 40).Draw(t, "gaps")
		if longs, survived := written(gaps); longs > 4*survived+1 {
			t.Fatalf("written for long %d times, %d pauses survived: %v", longs, survived, gaps)
		}
	})
}
