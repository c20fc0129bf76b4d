package policies

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/replay/recall"
)

// drawn invents a session: questions, results that name things, answers that refer
// to them much later, gaps.
func drawn(t *rapid.T) *script {
	s := newScript()
	for turn := range rapid.IntRange(1, 5).Draw(t, "turns") {
		s.wait(time.Duration(rapid.SampledFrom([]int{0, 0, 7, 90}).Draw(t, "gap")) * time.Minute)
		s.user(0, fmt.Sprintf("please look at case_%d", turn))
		for range rapid.IntRange(0, 4).Draw(t, "calls") {
			name := rapid.IntRange(0, 5).Draw(t, "file")
			s.tool("Read", fmt.Sprintf(`{"file_path":"/w/f_%d.go"}`, name), 0, fmt.Sprintf("value_%d is here\n%s", name, text(3*rapid.IntRange(100, 9000).Draw(t, "size"))))
		}
		s.answer(0, fmt.Sprintf("value_%d it is, and case_%d", rapid.IntRange(0, 5).Draw(t, "value"), rapid.IntRange(0, 4).Draw(t, "case")))
	}
	return s
}

// TestBoundHolds: no policy that shows everything new once stays below the bound,
// net and fixed part are the whole, and the oracle shows what was asked for.
func TestBoundHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawn(rt)
		opt := replay.Options{ContextWindow: 60_000, FixedTokens: rapid.SampledFrom([]int{0, 5000}).Draw(rt, "fixed"),
			Model: rapid.SampledFrom([]string{"marked", "auto"}).Draw(rt, "model"), TTL: rapid.SampledFrom([]time.Duration{5 * time.Minute, time.Hour}).Draw(rt, "ttl")}
		rec := s.record(t, opt)
		goal := &replay.Result{}
		for _, policy := range []string{replay.Fullest, replay.AppendLate, claudeCodeRule, contextEditingRule, CacheTTL, ClearTools, "masking-batch-2", "masking-1", replay.Oracle} {
			r := replayed(t, rec, policy, map[bool]*replay.Result{true: goal}[policy == replay.Oracle])
			if policy == replay.AppendLate {
				goal.Shown = r.Shown
			}
			if policy == replay.Oracle && r.Shown < goal.Shown {
				rt.Errorf("the oracle shows %d references, %d were asked for", r.Shown, goal.Shown)
			}
			checkResult(rt, rec, r)
		}
	})
}

func checkResult(t *rapid.T, rec *replay.Recording, r *replay.Result) {
	const eps = 1e-9
	if *r.Totals.NetCostUSD < *r.Bound.NetCostUSD-eps || *r.Totals.CostUSD < *r.Bound.CostUSD-eps {
		t.Errorf("%s costs %v, net %v, below the bound %v, net %v", r.Policy, *r.Totals.CostUSD, *r.Totals.NetCostUSD, *r.Bound.CostUSD, *r.Bound.NetCostUSD)
	}
	if r.Totals.Violations > 0 {
		t.Errorf("%s: %d violations", r.Policy, r.Totals.Violations)
	}
	for _, c := range r.Calls {
		if c.Read+c.Write+c.Uncached != c.Input || c.Write5m+c.Write1h != c.Write || c.NetInput != c.Input-rec.Opt.FixedTokens || *c.NetCostUSD > *c.CostUSD+eps {
			t.Errorf("%s: call %d does not add up: %+v", r.Policy, c.Index+1, c)
		}
		if s := c.Recall; s.References != s.Shown+s.Named+s.Pointer+s.Missing || r.Policy == replay.Fullest && s.Shown != s.References {
			t.Errorf("%s: call %d: %+v", r.Policy, c.Index+1, s)
		}
	}
}

// TestPlannerFindsTheCheapest compares the planner with all plans that there are.
func TestPlannerFindsTheCheapest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScript()
		for range rapid.IntRange(1, 4).Draw(rt, "calls") {
			s.wait(time.Duration(rapid.SampledFrom([]int{0, 9}).Draw(rt, "gap")) * time.Minute)
			if rapid.Bool().Draw(rt, "tool") {
				s.user(0, text(rapid.IntRange(1, 900).Draw(rt, "question"))).tool("Read", "{}", 0, text(rapid.IntRange(1, 900).Draw(rt, "result")))
			} else {
				s.user(0, text(rapid.IntRange(1, 900).Draw(rt, "question")))
			}
			s.answer(0, text(rapid.IntRange(1, 900).Draw(rt, "answer")))
		}
		rec := s.record(t, replay.Options{})
		p := newPlanner(rec)
		for n := range rec.Calls {
			p.recent[n] = rec.Seen(n) // these sessions are shorter than what is presumed
			p.refs[n] = drawnPlaces(rt, rec, n)
		}
		lambda := rapid.Float64Range(0, 5000).Draw(rt, "lambda")
		got := p.worth(p.best(lambda), lambda)
		if want := p.cheapest(0, lambda); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			rt.Errorf("the planner's plan is worth %v, the best %v", got, want)
		}
	})
}

func drawnPlaces(t *rapid.T, rec *replay.Recording, n int) [][]recall.Place {
	var out [][]recall.Place
	for range rapid.IntRange(0, 3).Draw(t, "references") {
		m := rapid.IntRange(0, rec.End(n)-1).Draw(t, "place")
		at := recall.Place{Message: m}
		for i := range rec.Messages[m].Parts {
			at.CallID = ""
			if p := rec.Messages[m].Parts[i]; p.Call != nil {
				at.CallID = p.Call.ID
			} else if p.Result != nil {
				at.CallID = p.Result.CallID
			}
		}
		out = append(out, []recall.Place{at})
	}
	return out
}

// cheapest tries every row of cuts from call i on, and for every stretch every
// choice of older atoms and results. What a stretch is worth does not depend on the
// others.
func (p *planner) cheapest(i int, lambda float64) float64 {
	n := len(p.write)
	if i == n {
		return 0
	}
	older := atomOf(p.rec, p.base(i))
	best := math.Inf(1)
	for j := i + 1; j <= n; j++ {
		rest := p.cheapest(j, lambda)
		for _, keep := range p.choices(older) {
			best = min(best, rest+p.worthOf(stretch{i, keep}, j, lambda))
		}
	}
	return best
}

// choices lists every choice of the first atoms.
func (p *planner) choices(atoms int) [][]kept {
	if atoms == 0 {
		return [][]kept{nil}
	}
	var out [][]kept
	for _, c := range p.choices(atoms - 1) {
		out = append(out, c, append(c[:len(c):len(c)], kept{atom: atoms - 1}))
		if len(p.units[atoms-1].results) > 0 {
			out = append(out, append(c[:len(c):len(c)], kept{atom: atoms - 1, full: []int{0}}))
		}
	}
	return out
}

// worth is a plan's cost less what its references earn.
func (p *planner) worth(plan []stretch, lambda float64) (sum float64) {
	for k, s := range plan {
		end := len(p.write)
		if k+1 < len(plan) {
			end = plan[k+1].from
		}
		sum += p.worthOf(s, end, lambda)
	}
	return sum
}

// worthOf is the worth of one stretch, summed call by call.
func (p *planner) worthOf(s stretch, end int, lambda float64) (sum float64) {
	base := p.base(s.from)
	standing := p.rec.Sum(base, p.rec.Seen(s.from))
	for _, o := range s.keep {
		standing += p.units[o.atom].tokens
		for _, r := range o.full {
			standing += p.units[o.atom].results[r].saves
		}
	}
	for t := s.from; t < end; t++ {
		price := p.on[t]
		if t == s.from {
			price = p.write[t]
		}
		sum += float64(standing)*price + float64(p.grown[t])*p.write[t]
		standing += p.grown[t]
		for _, places := range p.refs[t] {
			if places[0].Message >= base || p.holds(s.keep, places[0]) {
				sum -= lambda
			}
		}
	}
	return sum
}

// TestOracleByHand: a large result is needed once, long after. The oracle lets it go
// and every plan that shows it is dearer; asked for all, it keeps it.
func TestOracleByHand(t *testing.T) {
	s := newScript().user(0, "look").tool("Read", `{"file_path":"a.go"}`, 0, "the answer is deep_thought_42\n"+text(60_000))
	for range 30 {
		s.tool("Bash", `{"command":"make"}`, 0, text(6_000))
	}
	s.answer(0, "so deep_thought_42 it is")
	rec := s.record(t, replay.Options{ContextWindow: 500_000, FixedTokens: 1000})
	all := percentOf(rec, 100)
	none, every := replayed(t, rec, replay.Oracle, &replay.Result{}), replayed(t, rec, replay.Oracle, &replay.Result{Shown: all})
	full := replayed(t, rec, replay.Fullest, nil)
	if every.Shown < all || full.Shown != all || none.Shown >= all {
		t.Errorf("shown: %d with no goal, %d of %d, %d in full", none.Shown, every.Shown, all, full.Shown)
	}
	if a, b, c := *none.Totals.NetCostUSD, *every.Totals.NetCostUSD, *full.Totals.NetCostUSD; !(a < b && b <= c) {
		t.Errorf("net costs: %v with no goal, %v, %v in full", a, b, c)
	}
	if none.Totals.Violations+every.Totals.Violations > 0 {
		t.Error("the oracle's prompts break rules")
	}
	if !strings.Contains(strings.Join(shownResults(stepped(rec, newOracle(rec, nil, &replay.Result{}), nil)[len(rec.Calls)-1].Items), ""), "0123") {
		t.Error("the newest results do not stand")
	}
}
