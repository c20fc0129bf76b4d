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
		r := replayed(t, c.s.record(t, c.opt), c.policy, 0)
		if got := parts(r.Parts); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if a, b := *r.Parts.Total(), *r.Totals.CostUSD; math.Abs(a-b) > 1e-12 {
			t.Errorf("%s: the parts sum to %v, not to %v", c.name, a, b)
		}
	}
}

// The kernel's and the oracle's parts sum to their costs, and so does what is between them.
func TestDistancesSum(t *testing.T) {
	s := newScript()
	for turn := range 6 {
		s.wait(time.Duration(turn%3*4)*time.Minute).user(0, "go on with case_"+string(rune('a'+turn)))
		for range 4 {
			s.tool("Read", `{"file_path":"/w/case_a.go"}`, 0, "case_a = 12345\n"+text(30_000))
		}
		s.answer(0, "case_a it is")
	}
	rec := s.record(t, Options{ContextWindow: 120_000, FixedTokens: 5000})
	ours := replayed(t, rec, Memkernel, 0)
	best := replayed(t, rec, Oracle, ours.shown)
	if ours.Totals.Cuts == 0 || ours.Totals.GapCalls == 0 {
		t.Fatalf("the session has %d cuts and %d gaps", ours.Totals.Cuts, ours.Totals.GapCalls)
	}
	for _, d := range Distances([]*Result{best, ours}) {
		want := *ours.Totals.CostUSD - *ours.Bound.CostUSD
		if d.To == Oracle {
			want = *ours.Totals.CostUSD - *best.Totals.CostUSD
		}
		if sum := *d.SelectionUSD + *d.FixedUSD + *d.CutsUSD + *d.GapsUSD + *d.RestUSD; d.Policy != Memkernel || math.Abs(*d.CostUSD-want) > 1e-12 || math.Abs(sum-want) > 1e-12 {
			t.Errorf("%s to %s: %v in all, %v in parts, want %v", d.Policy, d.To, *d.CostUSD, sum, want)
		}
		if rest := math.Abs(*d.RestUSD); rest > 0.05*want {
			t.Errorf("to %s: %v of %v have no cause", d.To, rest, want)
		}
	}
	if d := Distances([]*Result{best, ours}); len(d) != 2 || d[0].To != Oracle || d[1].To != ToBound || len(Distances([]*Result{best})) != 0 || len(Distances([]*Result{ours})) != 1 {
		t.Errorf("%+v", d)
	}
}
