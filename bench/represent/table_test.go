package represent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/pagevm"
)

// Table draws one level of a report: a line for each kind, all kinds last. Survival
// is in percent, behind it that of the first and last bytes of the same size, and
// "-" where no result has such facts.
func (r Report) Table(l pagevm.Level) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %5s %9s %9s %6s", l, "n", "full", "shown", "share")
	for c := range classes {
		fmt.Fprintf(&b, "  %12s", c)
	}
	b.WriteByte('\n')
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(r[l])), func(k string) bool { return k == All })
	for _, k := range append(kinds, All) {
		row := r[l][k]
		if row == nil {
			continue
		}
		fmt.Fprintf(&b, "%-12s %5d %9d %9d %5.1f%%", k, row.Results, row.Full, row.Shown, 100*row.Share())
		for c := range classes {
			fmt.Fprintf(&b, "  %12s", row.cell(c))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *Row) cell(c Class) string {
	if r.Survival[c].N == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f (%.1f)", 100*r.Survival[c].Value(), 100*r.Cut[c].Value())
}
