package paging

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Options are the options of a run. Zero values mean the defaults.
type Options struct {
	// NoOracle leaves out the oracle gap, which would take two more runs.
	NoOracle bool
	// Faults keeps every fault in the result.
	Faults bool
	// Trace, if set, gets the decision trace of the run as JSON lines.
	Trace io.Writer
}

// Result is the result of one workload under one policy and budget.
type Result struct {
	Workload string `json:"workload"`
	Policy   string `json:"policy"`
	Budget   int    `json:"budget"`
	Turns    int    `json:"turns"`
	// ExplicitFaults counts all faults except pinned misses.
	ExplicitFaults int `json:"explicit_faults"`
	// Faults has the number of faults by code. It has every code.
	Faults map[paging.Code]int `json:"faults"`
	// BudgetInsufficient counts the faults that no policy could have prevented.
	BudgetInsufficient int `json:"budget_insufficient"`
	// Over is the most tokens that were missing for pinned pages in any turn.
	Over   int     `json:"over_tokens"`
	Short  []Short `json:"short"`
	Alerts int     `json:"alerts"`
	Hits   int     `json:"hits"`
	Cold   int     `json:"cold"`
	Thrash float64 `json:"thrash"`
	// OracleGap is how many explicit faults the run has more than the oracle that looks three
	// turns ahead. OracleGapInfinite compares with the oracle that sees the whole run. Both are
	// nil if the oracles were not run.
	OracleGap         *int `json:"oracle_gap"`
	OracleGapInfinite *int `json:"oracle_gap_infinite"`
	Commits           int  `json:"commits"`
	// Rejected counts refused writebacks by reason code.
	Rejected      map[string]int `json:"rejected"`
	Tokens        int64          `json:"tokens"`
	TokensPerTurn float64        `json:"tokens_per_turn"`
	// MinimumFits reports whether the minimum set of pages fitted in every turn.
	MinimumFits bool    `json:"minimum_fits"`
	Events      []Fault `json:"fault_events,omitempty"`
	// Live has the number of faults that the kernel itself named in its plans, by code. It is nil
	// for the policies of the engine.
	Live map[string]int `json:"live_faults,omitempty"`
}

func newResult(w *Workload, p Policy, budget int) *Result {
	return &Result{Workload: w.Name, Policy: p.Name, Budget: budget, MinimumFits: true, Short: []Short{}, Rejected: map[string]int{journal.CodeDestructive: 0}}
}

// Run runs a workload under a policy.
func Run(ctx context.Context, w *Workload, p Policy, budget int, opt Options) (*Result, error) {
	r, err := runOnce(ctx, w, p, budget, opt)
	if err != nil || opt.NoOracle {
		return r, err
	}
	oracle, err := PolicyByName("oracle")
	if err != nil {
		return nil, err
	}
	for horizon, gap := range map[int]**int{OracleHorizon: &r.OracleGap, Forever: &r.OracleGapInfinite} {
		oracle.Horizon = horizon
		best, err := runOnce(ctx, w, oracle, budget, Options{})
		if err != nil {
			return nil, err
		}
		over := r.ExplicitFaults - best.ExplicitFaults
		*gap = &over
	}
	return r, nil
}

func runOnce(ctx context.Context, w *Workload, p Policy, budget int, opt Options) (*Result, error) {
	err := w.check()
	if err == nil && budget <= 0 {
		err = errors.New("give a budget over 0")
	}
	var r *Result
	switch {
	case err != nil:
	case p.Upgrade == upgradeKernel:
		r, err = runKernel(ctx, w, p, budget, opt)
	default:
		r, err = runPolicy(ctx, w, p, budget, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("workload %s under %s with budget %d: %w", w.Name, p.Name, budget, err)
	}
	return r, nil
}

// runPolicy runs a policy of the paper.
func runPolicy(ctx context.Context, w *Workload, p Policy, budget int, opt Options) (*Result, error) {
	if opt.Trace != nil {
		if err := writeLine(opt.Trace, traceHead{Trace: traceFormat, Policy: &p, Budget: budget, Workload: w}); err != nil {
			return nil, err
		}
	}
	r, e := newResult(w, p, budget), newEngine(w, p, budget)
	for i := range w.Turns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out := e.step(i)
		if opt.Trace != nil {
			if err := writeLine(opt.Trace, traceLine{w.Turns[i].Turn, out}); err != nil {
				return nil, err
			}
		}
		r.see(out, opt)
	}
	r.sum(e.totals)
	return r, nil
}

// see records the parts of a turn's outcome that the totals leave out.
func (r *Result) see(out *Outcome, opt Options) {
	if out.Over > r.Over {
		r.Over, r.Short = out.Over, out.Short
	}
	if out.Minimum > r.Budget {
		r.MinimumFits = false
	}
	for _, c := range out.Commits {
		if c.Rejected != "" {
			r.Rejected[c.Rejected]++
		}
	}
	if opt.Faults {
		r.Events = append(r.Events, out.Faults...)
	}
}

func (r *Result) sum(t Totals) {
	report := t.Report()
	r.Turns, r.ExplicitFaults, r.Faults = t.Turns, report.ExplicitFaults, map[paging.Code]int{}
	for _, c := range paging.Codes() {
		r.Faults[c] = t.Faults[c]
	}
	r.BudgetInsufficient, r.Alerts, r.Hits, r.Cold, r.Thrash = t.Insufficient, t.Alerts, t.Hits, t.Cold, report.Thrash
	r.Commits, r.Tokens = t.Commits, t.Tokens
	if t.Turns > 0 {
		r.TokensPerTurn = float64(t.Tokens) / float64(t.Turns)
	}
}
