package replay

import (
	"math"
	"testing"
	"time"
)

// parts are a result's in millionths of a dollar.
func parts(p Parts) (out [5]float64) {
	for i, v := range p.all() {
		out[i] = millionths(*v)
	}
	return out
}

// Selection, fixed part, cuts, gaps, rest.
func TestPartsByHand(t *testing.T) {
	late := newScript().user(1000, "one").answer(500, "yes").user(4000, "two").answer(500, "yes").user(3000, "three").answer(50, "yes")
	for _, c := range []struct {
		name   string
		s      *script
		policy string
		opt    Options
		want   [5]float64
	}{
		// New are 100, 250 and 350 tokens at 12.5; the second call reads 100, the third
		// writes 350 again. The fixed part is written twice and read once.
		{"a gap", threeTurns(10 * time.Minute), Fullest, Options{}, [5]float64{700*12.5 + 100, 26_000, 0, 350 * 12.5, 0}},
		{"no gap", threeTurns(10 * time.Minute), Fullest, Options{TTL: time.Hour}, [5]float64{700*20 + 100 + 350, 20_000 + 2000, 0, 0, 0}},
		{"no writes", threeTurns(10 * time.Minute), Fullest, Options{Model: "auto"}, [5]float64{700*10 + 100, 10_000 + 1000 + 10_000, 0, 350 * 10, 0}},
		// The third call's 3,000 are sent with a summary; 500 of what is new only the
		// call that wrote the summary saw, and in their place are 500 of the summary.
		{"a cut", late, AppendLate, Options{ContextWindow: 10_000, Reserve: 1000},
			[5]float64{(1000+4500+3500)*12.5 + 1000, 12_500 + 2000, 1500*12.5 + 7000 + 100_000, 0, 0}},
	} {
		c.opt.FixedTokens = 1000
		r := replayed(t, c.s.record(t, c.opt), c.policy)
		if got := parts(r.Parts); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if a, b := *r.Parts.Total(), *r.Totals.CostUSD; math.Abs(a-b) > 1e-12 {
			t.Errorf("%s: the parts sum to %v, not to %v", c.name, a, b)
		}
	}
}
