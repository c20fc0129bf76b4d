package main

import (
	"fmt"
	"io"
	"strings"

	bench "github.com/memkernel/memkernel/bench/paging"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// gap is a run's oracle gap, for both horizons.
func gap(r *bench.Result) string {
	if r.OracleGap == nil || r.OracleGapInfinite == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", *r.OracleGap, *r.OracleGapInfinite)
}

// pagingTable draws runs, one a line.
func drawPaging(w io.Writer, rs []*bench.Result, p painter) error {
	var b strings.Builder
	last := ""
	for _, r := range rs {
		if r.Workload != last {
			last = r.Workload
			fmt.Fprintf(&b, "%s\n", p.do(bold, clip(r.Workload, columns)))
			fmt.Fprintf(&b, "  %-15s %6s %8s %6s %6s %6s %7s %7s %8s\n", "policy", "budget", "explicit", "pinned", "alerts", "hits", "thrash", "gap", "p50 us")
		}
		fmt.Fprintf(&b, "  %-15s %6d %8d %6d %6d %6d %7.3f %7s %8.1f\n", r.Policy, r.Budget, r.ExplicitFaults, r.Faults[paging.PinnedInvariantMiss], r.Alerts, r.Hits, r.Thrash, gap(r), r.P50)
		for _, c := range paging.Codes() {
			if n := r.Faults[c]; n > 0 {
				fmt.Fprintf(&b, "    %s %d\n", c, n)
			}
		}
		if r.FetchedTokens > 0 {
			fmt.Fprintf(&b, "    %s followed, %d refetched, %d restored: %s tokens, %s carried\n", plural(r.Resolutions, "pointer"), r.Refetches, r.Restores,
				thousands(int(r.FetchedTokens)), thousands(int(r.CarriedTokens)))
		}
		if r.Over > 0 {
			fmt.Fprintf(&b, "    %s %d: %d tokens are missing, first for %s\n", "budget_insufficient", r.BudgetInsufficient, r.Over, clip(r.Short[0].Page, 24))
		}
	}
	b.WriteString(p.do(gray, "gap: explicit faults over the oracle's, looking 3 turns ahead / to the end") + "\n")
	return flush(w, &b)
}
