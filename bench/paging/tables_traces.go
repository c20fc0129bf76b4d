package paging

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/transcript"
)

// Table10 runs trace-derived workloads at the given lengths. A length of 0 means the whole
// session. If kernel is set, the kernel is among the policies. A session counts at a length only
// if it is that long.
func Table10(ctx context.Context, sessions []*transcript.Session, kernel bool, lengths ...int) (*Table, error) {
	t := &Table{Name: "Table 10", Title: fmt.Sprintf("explicit faults on %d recorded sessions, budget %d", len(sessions), traceBudget),
		Columns: []string{"median", "lowest", "highest", "thrash"}, digits: []int{0, 0, 0, 3}}
	policies := []string{"retrieval", "comp-hybrid", "clawvm"}
	if kernel {
		policies = append(policies, kernelPolicy)
	}
	for _, n := range lengths {
		ws := traces(sessions, n)
		label := fmt.Sprint(n)
		if n == 0 {
			label = "all"
		}
		for _, name := range policies {
			p, err := PolicyByName(name)
			if err != nil {
				return nil, err
			}
			var rs []*Result
			for _, w := range ws {
				r, err := Run(ctx, w, p, traceBudget, Options{NoOracle: true})
				if err != nil {
					return nil, err
				}
				rs = append(rs, r)
			}
			t.row(name+" "+label, spread(rs, paper10[name+" "+label])...)
		}
		t.Note += fmt.Sprintf("%s: %d sessions\n", label, len(ws))
	}
	t.Note += "other sessions than the paper's; budgets are units of 50 tokens"
	return t, nil
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

// spread returns the median, the lowest, the highest and the mean thrash of runs. For an even
// number of runs it uses the upper median.
func spread(rs []*Result, paper *[4]float64) []Cell {
	ours := [4]float64{}
	if n := len(rs); n > 0 {
		slices.SortStableFunc(rs, func(a, b *Result) int { return cmp.Compare(a.ExplicitFaults, b.ExplicitFaults) })
		for i, r := range []*Result{rs[n/2], rs[0], rs[n-1]} {
			ours[i] = float64(r.ExplicitFaults)
		}
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
