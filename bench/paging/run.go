package paging

import (
	"context"
	"errors"
	"fmt"
)

// result is the result of one workload under one policy and budget.
type result struct {
	totals
	// Thrash and Explicit are the paper's: Explicit counts all faults except pinned misses.
	Thrash   float64
	Explicit int
	// Over is the most tokens that were missing for pinned pages in any turn.
	Over int
	// MinimumFits reports whether the minimum set of pages fitted in every turn.
	MinimumFits bool
	Events      []fault
}

// run runs a workload under a policy.
func run(ctx context.Context, w *workload, p policy, budget int) (r *result, err error) {
	r = &result{MinimumFits: true}
	e := newEngine(w, p, budget)
	step := func(i int) (*outcome, error) { return e.step(i), nil }
	if p.upgrade == upgradeKernel {
		pl, end, err := newPlayer(ctx, w, budget)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
		step = func(i int) (*outcome, error) {
			shown, err := pl.turn(ctx, &w.Turns[i])
			if err != nil {
				return nil, err
			}
			return e.judge(i, shown), nil
		}
	}
	for i := range w.Turns {
		out, err := step(i)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("workload %s with budget %d, turn %d: %w", w.Name, budget, w.Turns[i].Turn, err)
		}
		r.Over, r.MinimumFits = max(r.Over, out.Over), r.MinimumFits && out.Minimum <= budget
		r.Events = append(r.Events, out.Faults...)
	}
	report := e.totals.Report()
	r.totals, r.Thrash, r.Explicit = e.totals, report.Thrash, report.ExplicitFaults
	return r, nil
}
