package paging

import (
	"context"
	"fmt"
	"io"
	"slices"

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
	Over   int            `json:"over_tokens"`
	Short  []paging.Short `json:"short"`
	Alerts int            `json:"alerts"`
	Hits   int            `json:"hits"`
	Cold   int            `json:"cold"`
	Thrash float64        `json:"thrash"`
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
	MinimumFits bool           `json:"minimum_fits"`
	Events      []paging.Fault `json:"fault_events,omitempty"`
	// Live has the number of faults that the kernel itself named in its plans, by code. It is nil
	// for the policies of the engine.
	Live map[string]int `json:"live_faults,omitempty"`
}

func newResult(w *Workload, p paging.Policy, budget int) *Result {
	return &Result{Workload: w.Name, Policy: p.Name, Budget: budget, MinimumFits: true, Short: []paging.Short{}, Rejected: map[string]int{paging.DestructiveOp: 0}}
}

// Run runs a workload under a policy.
func Run(ctx context.Context, w *Workload, p paging.Policy, budget int, opt Options) (*Result, error) {
	r, err := runOnce(ctx, w, p, budget, opt)
	if err != nil || opt.NoOracle {
		return r, err
	}
	oracle, err := paging.ByName("oracle")
	if err != nil {
		return nil, err
	}
	for horizon, gap := range map[int]**int{paging.OracleHorizon: &r.OracleGap, paging.Forever: &r.OracleGapInfinite} {
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

// stepper is an engine, or a traced engine.
type stepper interface {
	Add(paging.Page) error
	Step(*paging.Turn) (*paging.Outcome, error)
}

func runOnce(ctx context.Context, w *Workload, p paging.Policy, budget int, opt Options) (*Result, error) {
	if p.Upgrade == paging.UpgradeOutside {
		return runKernel(ctx, w, p, budget, opt)
	}
	cfg := paging.Config{Policy: p, Budget: budget}
	var s stepper
	e, err := paging.New(cfg)
	if err == nil {
		s = e
		if opt.Trace != nil {
			var tr *paging.Tracer
			if tr, err = paging.NewTracer(cfg, opt.Trace); err == nil {
				s, e = tr, tr.Engine
			}
		}
	}
	r := newResult(w, p, budget)
	if err == nil {
		err = r.play(ctx, s, newScript(w, p), opt)
	}
	if err != nil {
		return nil, fmt.Errorf("workload %s under %s with budget %d: %w", w.Name, p.Name, budget, err)
	}
	r.sum(e.Totals())
	return r, nil
}

// play runs all turns.
func (r *Result) play(ctx context.Context, s stepper, sc *script, opt Options) error {
	for _, p := range sc.first {
		if err := s.Add(p); err != nil {
			return err
		}
	}
	for i := range sc.turns {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := s.Step(sc.turn(i))
		if err != nil {
			return err
		}
		r.see(out, opt)
	}
	return nil
}

// see records the parts of a turn's outcome that the totals leave out.
func (r *Result) see(out *paging.Outcome, opt Options) {
	if out.Over > r.Over {
		r.Over, r.Short = out.Over, slices.Clone(out.Short)
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

func (r *Result) sum(t paging.Totals) {
	r.Turns, r.ExplicitFaults, r.Faults = t.Turns, t.Explicit(), map[paging.Code]int{}
	for _, c := range paging.Codes() {
		r.Faults[c] = t.Of(c)
	}
	r.BudgetInsufficient, r.Alerts, r.Hits, r.Cold, r.Thrash = t.Insufficient, t.Alerts, t.Hits, t.Cold, t.Thrash()
	r.Commits, r.Tokens = t.Commits, t.Tokens
	if t.Turns > 0 {
		r.TokensPerTurn = float64(t.Tokens) / float64(t.Turns)
	}
}

// script is a workload that is prepared for the engine. It is played once, in order.
type script struct {
	first []paging.Page
	turns []paging.Turn
	sight *foresight // nil unless the policy is an oracle
}

// turn returns the next turn to play, with the future that an oracle may know.
func (sc *script) turn(i int) *paging.Turn {
	if sc.sight != nil {
		sc.turns[i].Future = sc.sight.from(sc.turns, i)
	}
	return &sc.turns[i]
}

// newScript decides when each page is created. If the policy is an oracle, newScript gives it the
// future.
func newScript(w *Workload, p paging.Policy) *script {
	sc := &script{turns: make([]paging.Turn, len(w.Turns))}
	later := map[string]*Page{}
	for i := range w.Turns {
		for _, c := range w.Turns[i].Calls {
			later[c.Page] = nil
		}
	}
	for i := range w.Pages {
		if _, ok := later[w.Pages[i].ID]; ok {
			later[w.Pages[i].ID] = &w.Pages[i]
			continue
		}
		sc.first = append(sc.first, w.Pages[i].page())
	}
	for i := range w.Turns {
		t := &w.Turns[i]
		sc.turns[i] = paging.Turn{Turn: t.Turn, Session: t.Session, Demand: t.Demand, Calls: t.Calls, Dirty: t.Dirty, Begin: t.Begin, End: t.End, Events: t.Events, Recall: t.Recall}
		sc.arrivals(&sc.turns[i], later)
	}
	if p.Upgrade == paging.UpgradeOracle {
		sc.sight = newForesight(sc.turns, p.Horizon)
	}
	return sc
}

// arrivals makes the pages arrive that a turn names for the first time.
func (sc *script) arrivals(t *paging.Turn, later map[string]*Page) {
	arrive := func(id string) {
		if p := later[id]; p != nil {
			t.Arrive = append(t.Arrive, p.page())
			delete(later, id)
		}
	}
	for _, id := range t.Demand {
		arrive(id)
	}
	for _, c := range t.Calls {
		arrive(c.Page)
	}
	for _, list := range [...][]string{t.Dirty, t.Begin, t.End} {
		for _, id := range list {
			arrive(id)
		}
	}
}
