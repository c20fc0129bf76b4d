package paging

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// Table10 runs trace-derived workloads at the given lengths, 0 for the whole
// session, the kernel among the policies if it is wanted. A session counts at a length
// only if it is that long. The second table is ours: what the same runs have to fetch.
func Table10(ctx context.Context, sessions []*transcript.Session, kernel bool, lengths ...int) ([]*Table, error) {
	faults := &Table{Name: "Table 10", Title: fmt.Sprintf("explicit faults on %d recorded sessions, budget %d", len(sessions), traceBudget),
		Columns: []string{"median", "lowest", "highest", "thrash"}, digits: []int{0, 0, 0, 3}}
	fetches := &Table{Name: "Table 10, fetches", Title: "what was needed and not shown; medians", Columns: []string{"resolved", "prompt/turn", "fetch/turn", "price/turn"},
		digits: []int{0, 1, 1, 1}, Note: "resolved: pointers followed, a call each; fetch/turn: units written anew and\ncopies carried; price/turn: a write at 1.25, a read at 0.1, and one more\nreading of the prompt for every page fetched"}
	for _, n := range lengths {
		ws := traces(sessions, n)
		label := fmt.Sprint(n)
		if n == 0 {
			label = "all"
		}
		policies := []string{pointersOnly, "retrieval", "comp-hybrid", "clawvm"}
		if kernel {
			policies = append(policies, kernelPolicy)
		}
		for _, name := range policies {
			rs, err := runAll(ctx, ws, name)
			if err != nil {
				return nil, err
			}
			if name != pointersOnly {
				faults.row(name+" "+label, spread(rs, paper10[name+" "+label])...)
			}
			fetches.row(name+" "+label, fetched(rs)...)
		}
		faults.Note += fmt.Sprintf("%s: %d sessions\n", label, len(ws))
	}
	faults.Note += "other sessions than the paper's; budgets are units of 50 tokens"
	return []*Table{faults, fetches}, nil
}

// pointersOnly is clawvm with nothing above the minimum set: by faults alone it is
// as good as the whole policy.
const pointersOnly = "pointers"

// tracePolicy finds a policy of the tables by its name.
func tracePolicy(name string) (paging.Policy, error) {
	if name != pointersOnly {
		return paging.ByName(name)
	}
	p, err := paging.ByName("clawvm")
	p.Name, p.Prefetch, p.Upgrade, p.Weights = name, false, paging.UpgradeNone, paging.UpgradeNone.Weights()
	return p, err
}

// paper10 is the paper's median, range and thrash.
var paper10 = map[string]*[4]float64{
	"retrieval 100": {51, 49, 77, 0.677}, "retrieval 200": {83, 71, 109, 0.527},
	"comp-hybrid 100": {1, 1, 1, 0.047}, "comp-hybrid 200": {0, 0, 0, 0.029},
	"clawvm 100": {0, 0, 0, 0.032}, "clawvm 200": {0, 0, 0, 0.032},
}

func traces(sessions []*transcript.Session, turns int) (out []*Workload) {
	for _, s := range sessions {
		w := fromTranscript(s, s.ID, turns)
		if len(w.Turns) >= turns && len(w.Turns) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// runAll runs workloads under one policy at the budget of Table 10.
func runAll(ctx context.Context, ws []*Workload, policy string) ([]*Result, error) {
	p, err := tracePolicy(policy)
	if err != nil {
		return nil, err
	}
	var out []*Result
	for _, w := range ws {
		r, err := Run(ctx, w, p, traceBudget, Options{NoOracle: true})
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// spread is median, lowest, highest and mean thrash of runs.
func spread(rs []*Result, paper *[4]float64) []Cell {
	ours := [4]float64{}
	if len(rs) > 0 {
		sorted := slices.Clone(rs)
		slices.SortStableFunc(sorted, func(a, b *Result) int { return cmp.Compare(a.ExplicitFaults, b.ExplicitFaults) })
		ours[0], ours[1], ours[2] = median(rs, func(r *Result) float64 { return float64(r.ExplicitFaults) }), float64(sorted[0].ExplicitFaults), float64(sorted[len(sorted)-1].ExplicitFaults)
	}
	for _, r := range rs {
		ours[3] += r.Thrash / float64(len(rs))
	}
	var cells []Cell
	for i, v := range ours {
		if paper == nil {
			cells = append(cells, alone(v))
		} else {
			cells = append(cells, cell(Ours, v, paper[i]))
		}
	}
	return cells
}

// fetched returns the medians of what runs had to fetch.
func fetched(rs []*Result) []Cell {
	return []Cell{
		alone(median(rs, func(r *Result) float64 { return float64(r.Resolutions) })),
		alone(median(rs, func(r *Result) float64 { return r.TokensPerTurn })),
		alone(median(rs, func(r *Result) float64 { return r.perTurn(r.Turns) })),
		alone(median(rs, func(r *Result) float64 { return r.price(r.Turns, r.TokensPerTurn) })),
	}
}

// median returns the upper one of an even number, 0 of none.
func median(rs []*Result, of func(*Result) float64) float64 {
	if len(rs) == 0 {
		return 0
	}
	vs := make([]float64, len(rs))
	for i, r := range rs {
		vs[i] = of(r)
	}
	slices.Sort(vs)
	return vs[len(vs)/2]
}
