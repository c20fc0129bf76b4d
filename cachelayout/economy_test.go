package cachelayout

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEconomyIsReadStrictly(t *testing.T) {
	for text, short := range map[string]Economy{"save": Save, "balanced": "", "keep": Keep, "": "", "0": Save, "0.0": Save, "0.5": "", "5e-1": "", "1": Keep, "1.0": Keep, "0.25": "0.25", ".750": "0.75"} {
		e := Economy(text)
		if err := e.Check(); err != nil || e.Short() != short {
			t.Errorf("%q: %q, %v, want %q", text, e.Short(), err, short)
		}
		if again := e.Short().Short(); again != short {
			t.Errorf("%q, shortened twice, is %q", text, again)
		}
	}
	for _, text := range []string{"Save", "kept", "1.01", "-0.1", "NaN", "inf", "1e400", "0,5", " keep", "50%", "-0.0001"} {
		var e Economy
		var wrong *EconomyError
		if err := e.Set(text); !errors.As(err, &wrong) || e != "" {
			t.Errorf("%q is taken as %q: %v", text, e, err)
		}
		if own := Economy(text); own.Check() != nil && own.Short() != own {
			t.Errorf("%q becomes %q", text, own.Short())
		}
	}
	for text, want := range map[string]Economy{`"keep"`: "keep", `0.7`: "0.7", `1`: "1", `""`: "", `null`: "", `7e-1`: "7e-1", `"much"`: "much", `2`: "2"} {
		var e Economy
		if err := json.Unmarshal([]byte(text), &e); err != nil || e != want {
			t.Errorf("%s is %q, %v", text, e, err)
		}
	}
	for _, text := range []string{`true`, `["keep"]`, `{}`} {
		var e Economy
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s is taken as %q", text, e)
		}
	}
}

func drawCut(t *rapid.T) CutInput {
	return CutInput{
		Model:  genModel(t),
		Window: rapid.IntRange(8_000, 1_000_000).Draw(t, "window"), Reserve: rapid.IntRange(0, 50_000).Draw(t, "reserve"),
		Fixed: rapid.IntRange(0, 120_000).Draw(t, "fixed"), Conversation: rapid.IntRange(0, 900_000).Draw(t, "conversation"),
		Growth:   rapid.SliceOfN(rapid.IntRange(-5_000, 60_000), 0, 14).Draw(t, "growth"),
		ColdRate: rapid.Float64Range(0, 1).Draw(t, "rate"), ExpectedTurns: rapid.Float64Range(0, 200).Draw(t, "turns"),
		Pending: rapid.IntRange(-1, 100_000).Draw(t, "pending"),
		Cold:    rapid.Bool().Draw(t, "cold"), ColdEventUsed: rapid.Bool().Draw(t, "used"), OpenLoop: rapid.Bool().Draw(t, "loop"),
	}
}

// Whoever prefers memory more is never cut earlier for money, and keeps no less at a cut.
func TestEconomyIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawCut(t)
		at := rapid.SliceOfNDistinct(rapid.Float64Range(0, 1), 2, 5, rapid.ID).Draw(t, "economies")
		slices.Sort(at)
		var less *Cut
		for _, e := range at {
			own := in
			raw, _ := json.Marshal(e)
			own.Economy = Economy(raw)
			c := PlanCut(own)
			f := c.Figures
			if f.HighWater > f.Limit || f.LowWater < in.Fixed || math.IsNaN(f.CallCost) || math.IsNaN(f.EOQBatch) {
				t.Fatalf("%v: marks %+v", e, f)
			}
			if less != nil && less.Figures.Limit == f.Limit && f.LowWater < less.Figures.LowWater {
				t.Fatalf("%v keeps %d, and less kept %d", e, f.LowWater, less.Figures.LowWater)
			}
			if less != nil && (c.Reason == ReasonCold || c.Reason == ReasonPayback) && !less.Do {
				t.Fatalf("%v cuts (%s), and less did not", e, c.Reason)
			}
			less = &c
		}
	})
}

// Keep knows no reason but the window: no cold cache, no price, no dearer tier; and what
// it keeps at a cut is all that may stand.
func TestKeepCutsForTheWindowAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawCut(t)
		in.Economy = Keep
		c := PlanCut(in)
		f := c.Figures
		if c.Reason == ReasonCold || c.Reason == ReasonPayback || f.Cliff != 0 {
			t.Fatalf("%+v", c)
		}
		if c.Do && f.Planned <= f.RoomMark {
			t.Fatalf("%d of %d tokens, and cut: %s", f.Planned, f.Budget, c.Reason)
		}
	})
	in := cutInput(t)
	in.LowWater, in.Window, in.Economy = 0, 1_000_000, Keep
	in.Planned, in.Cold, in.ExpectedTurns, in.ColdRate = 700_000, true, 200, 0.5
	if c := PlanCut(in); c.Do || c.Figures.LowWater < 500_000 {
		t.Errorf("in a window of 1M: %+v", c)
	}
	if in.Economy = ""; PlanCut(in).Reason != ReasonCold {
		t.Error("the same, balanced, is not cut: nothing was shown")
	}
}

// Balanced says nothing: a decision has no trace of it, however it is spelled.
func TestBalancedIsTheDefault(t *testing.T) {
	in := cutInput(t)
	want, _ := json.Marshal(PlanCut(in))
	for _, e := range []Economy{Balanced, "0.5", "0.50"} {
		in.Economy = e
		if got, _ := json.Marshal(PlanCut(in)); string(got) != string(want) {
			t.Errorf("%q: %s, want %s", e, got, want)
		}
	}
	in.Economy = "0.9"
	if c := PlanCut(in); c.Economy != "0.9" {
		t.Errorf("the decision names %q", c.Economy)
	}
}
