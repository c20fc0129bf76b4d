package paging

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/pagevm/paging"
)

// Tables runs the paper's evaluation without the trace-derived part. It returns the tables in
// order: 3 to 9, LRU, and the weight sweep.
func Tables(ctx context.Context) ([]*Table, error) {
	var out []*Table
	for _, make := range []func(context.Context) (*Table, error){table3, table4, table5, table6, lru, sweep, table7, table8, table9} {
		t, err := make(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Sum adds up runs.
type Sum struct {
	Runs, Explicit, Pinned, Insufficient      int
	Bootstrap, Flush, Repeated, Alerts, Clean int
	Thrash                                    float64 // sum; divide by Runs
	Tokens                                    int64
}

func (s *Sum) add(r *Result) {
	s.Runs++
	s.Explicit += r.ExplicitFaults
	s.Pinned += r.Faults[paging.PinnedInvariantMiss]
	s.Insufficient += r.BudgetInsufficient
	s.Bootstrap += r.Faults[paging.PostCompactionBootstrap]
	s.Flush += r.Faults[paging.FlushMiss]
	s.Repeated += r.Faults[paging.Refetch] + r.Faults[paging.DuplicateTool]
	s.Alerts += r.Alerts
	s.Thrash += r.Thrash
	s.Tokens += r.Tokens
	if r.ExplicitFaults == 0 {
		s.Clean++
	}
}

// mean returns a sum divided by the number of runs.
func (s *Sum) mean(v float64) float64 { return v / float64(max(s.Runs, 1)) }

// sumOf runs workloads under a policy at budgets.
func sumOf(ctx context.Context, ws []*Workload, p Policy, budgets ...int) (s Sum, err error) {
	for _, w := range ws {
		for _, b := range budgets {
			r, err := Run(ctx, w, p, b, Options{NoOracle: true})
			if err != nil {
				return s, err
			}
			s.add(r)
		}
	}
	return s, nil
}

func sumByName(ctx context.Context, ws []*Workload, policy string, budgets ...int) (Sum, error) {
	p, err := PolicyByName(policy)
	if err != nil {
		return Sum{}, err
	}
	return sumOf(ctx, ws, p, budgets...)
}

// table3 runs the regressions. A figure of 1 means that the regression raises its code.
func table3(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Table 3", Title: "Tier-1 regressions, raised with their code", Columns: []string{"passes"}}
	for _, g := range regressions() {
		passes := 1.0
		if err := g.run(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			passes = 0
		}
		t.row(g.Name, cell(Structural, passes, 1))
	}
	return t, nil
}

// table4 averages over four families and six budgets.
func table4(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Table 4", Title: "means over 4 families and 6 budgets", Columns: []string{"explicit", "thrash"}, digits: []int{1, 3},
		Note: "Fault counts of the first two rows are structural. Thrash is a property of\nthe workload: ours repeat fewer calls per demand than the paper's."}
	for _, r := range []struct {
		policy           string
		kind             Kind
		explicit, thrash float64
	}{{"retrieval", Structural, 67.8, 3.993}, {"retrieval+cache", Structural, 10.8, 1.642}, {"comp-hybrid", Ours, 1.5, 1.017}, {"clawvm", Structural, 0, 0.901}, {"oracle", Structural, 0, 0.901}} {
		s, err := sumByName(ctx, Families(), r.policy, budgets()...)
		if err != nil {
			return nil, err
		}
		t.row(r.policy, cell(r.kind, s.mean(float64(s.Explicit)), r.explicit), cell(Ours, s.mean(s.Thrash), r.thrash))
	}
	return t, nil
}

// variant is a policy with one setting changed, with the paper's figures: bootstrap, flush,
// duplicate and refetch, total.
type variant struct {
	name  string
	turn  func(*Policy)
	kinds [4]Kind
	paper [4]float64
}

func (v *variant) policy(base string) (Policy, error) {
	p, err := PolicyByName(base)
	if err == nil && v.turn != nil {
		v.turn(&p)
	}
	return p, err
}

// ablate runs variants of a policy at budget 180, summed over the families.
func ablate(ctx context.Context, t *Table, base string, variants []variant) (*Table, error) {
	t.Columns = []string{"bootstrap", "flush", "dup+refetch", "total"}
	for _, v := range variants {
		p, err := v.policy(base)
		if err != nil {
			return nil, err
		}
		s, err := sumOf(ctx, Families(), p, 180)
		if err != nil {
			return nil, err
		}
		ours := [4]int{s.Bootstrap, s.Flush, s.Repeated, s.Explicit}
		var cells []Cell
		for i := range ours {
			cells = append(cells, cell(v.kinds[i], float64(ours[i]), v.paper[i]))
		}
		t.row(v.name, cells...)
	}
	return t, nil
}

var (
	allStructural = [4]Kind{Structural, Structural, Structural, Structural}
	flushOnly     = [4]Kind{Ours, Structural, Ours, Ours}
)

// upgradeBy sets a strategy with its weights.
func upgradeBy(u Upgrade) func(*Policy) {
	return func(p *Policy) { p.Upgrade, p.Weights = u, u.Weights() }
}

// table5 adds single features to the bare baseline.
func table5(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Table 5", Title: "additive ablation at budget 180, summed over 4 families"}
	t, err := ablate(ctx, t, "retrieval", []variant{
		{"baseline", nil, allStructural, [4]float64{20, 23, 228, 271}},
		{"+pin", func(p *Policy) { p.Pin = true }, allStructural, [4]float64{0, 23, 228, 251}},
		{"+resolve", func(p *Policy) { p.Resolve = true }, allStructural, [4]float64{20, 23, 0, 43}},
		{"+commit compact", func(p *Policy) { p.WritebackCompaction = true }, allStructural, [4]float64{20, 3, 228, 251}},
		{"+commit reset", func(p *Policy) { p.WritebackReset = true }, allStructural, [4]float64{20, 20, 228, 268}},
		{"+upgrade", upgradeBy(UpgradeUtility), flushOnly, [4]float64{7, 23, 42, 72}},
	})
	if err != nil {
		return nil, err
	}
	return ablate(ctx, t, "clawvm", []variant{{"clawvm", nil, allStructural, [4]float64{}}})
}

// table6 removes single features from ClawVM.
func table6(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Table 6", Title: "subtractive ablation at budget 180, summed over 4 families"}
	return ablate(ctx, t, "clawvm", []variant{
		{"clawvm", nil, allStructural, [4]float64{}},
		{"-pin", func(p *Policy) { p.Pin = false }, [4]Kind{Ours, Structural, Structural, Ours}, [4]float64{9, 0, 0, 9}},
		{"-resolve", func(p *Policy) { p.Resolve = false }, [4]Kind{Structural, Structural, Ours, Ours}, [4]float64{0, 0, 126, 126}},
		{"-commit compact", func(p *Policy) { p.WritebackCompaction = false }, allStructural, [4]float64{0, 20, 0, 20}},
		{"-commit reset", func(p *Policy) { p.WritebackReset = false }, allStructural, [4]float64{0, 3, 0, 3}},
		{"-upgrade", upgradeBy(UpgradeNone), allStructural, [4]float64{}},
		{"-prefetch", func(p *Policy) { p.Prefetch = false }, allStructural, [4]float64{}},
	})
}

// lru compares recency order with utility order, at budgets 120 to 300.
func lru(ctx context.Context) (*Table, error) {
	t := &Table{Name: "LRU", Title: "ClawVM with pure recency order, budgets 120 to 300", Columns: []string{"explicit", "thrash"}, digits: []int{0, 3}}
	for _, p := range []string{"lru", "clawvm"} {
		s, err := sumByName(ctx, Families(), p, 120, 180, 240, 300)
		if err != nil {
			return nil, err
		}
		t.row(p, cell(Structural, float64(s.Explicit), 0), cell(Ours, s.mean(s.Thrash), 0.901))
	}
	return t, nil
}

// sweep varies each of the paper's four weights within its range: 21
// configurations, 84 runs.
func sweep(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Weight sweep", Title: "21 configurations at budget 180, 84 runs", Columns: []string{"explicit", "thrash low", "thrash high"}, digits: []int{0, 3, 3}}
	for _, v := range sweeps {
		low, high, explicit := 1e300, 0.0, 0
		for _, x := range v.values {
			p, err := PolicyByName("clawvm")
			if err != nil {
				return nil, err
			}
			v.set(&p.Weights, x)
			s, err := sumOf(ctx, Families(), p, 180)
			if err != nil {
				return nil, err
			}
			low, high, explicit = min(low, s.mean(s.Thrash)), max(high, s.mean(s.Thrash)), explicit+s.Explicit
		}
		t.row(fmt.Sprintf("%s (%d)", v.name, len(v.values)), cell(Structural, float64(explicit), 0), cell(Ours, low, 0.901), cell(Ours, high, 0.901))
	}
	return t, nil
}

// sweeps holds the values that each weight takes. The paper gives the ranges, and the steps
// within them are ours. The default weights have one row of their own.
var sweeps = []struct {
	name   string
	values []float64
	set    func(*Weights, float64)
}{
	{"defaults", []float64{0}, func(*Weights, float64) {}},
	{"pin hard", []float64{0.5, 1, 1.5, 3, 4}, func(w *Weights, x float64) { w.PinHard = x }},
	{"pin soft", []float64{0, 0.3, 0.9, 1.2, 1.5}, func(w *Weights, x float64) { w.PinSoft = x }},
	{"recency", []float64{0.1, 0.3, 0.5, 0.9, 1.2}, func(w *Weights, x float64) { w.Recency = x }},
	{"recompute", []float64{0, 0.2, 0.6, 0.9, 1.2}, func(w *Weights, x float64) { w.Recompute = x }},
}
