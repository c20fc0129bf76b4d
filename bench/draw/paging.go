package draw

import (
	"fmt"
	"io"
	"strings"

	bench "github.com/memkernel/memkernel/bench/paging"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Paging draws runs of the paging engine, one a line.
func Paging(w io.Writer, rs []*bench.Result, p display.Style) error {
	var b strings.Builder
	last := ""
	for _, r := range rs {
		if r.Workload != last {
			last = r.Workload
			fmt.Fprintf(&b, "%s\n", p.Paint(display.Bold, display.Clip(r.Workload, p.Columns())))
			fmt.Fprintf(&b, "  %-15s %6s %8s %6s %6s %6s %7s %7s\n", "policy", "budget", "explicit", "pinned", "alerts", "hits", "thrash", "gap")
		}
		fmt.Fprintf(&b, "  %-15s %6d %8d %6d %6d %6d %7.3f %7s\n", r.Policy, r.Budget, r.ExplicitFaults, r.Faults[paging.PinnedInvariantMiss], r.Alerts, r.Hits, r.Thrash, gap(r))
		for _, c := range paging.Codes() {
			if n := r.Faults[c]; n > 0 {
				fmt.Fprintf(&b, "    %s %d\n", c, n)
			}
		}
		if r.Over > 0 {
			fmt.Fprintf(&b, "    %s %d: %d tokens are missing, first for %s\n", "budget_insufficient", r.BudgetInsufficient, r.Over, display.Clip(r.Short[0].Page, 24))
		}
	}
	b.WriteString(p.Paint(display.Gray, "gap: explicit faults over the oracle's, looking 3 turns ahead / to the end") + "\n")
	return display.Flush(w, &b)
}

// gap is a run's oracle gap, for both horizons.
func gap(r *bench.Result) string {
	if r.OracleGap == nil || r.OracleGapInfinite == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", *r.OracleGap, *r.OracleGapInfinite)
}
