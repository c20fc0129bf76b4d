package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/judge/solve"
)

// Tasks is a line for each policy: what it solved, by kind of task, and its whole bill.
func Tasks(w io.Writer, r *solve.Report, p Style) error {
	var b strings.Builder
	window := 0
	for _, row := range r.Rows {
		if row.Window != window {
			window = row.Window
			fmt.Fprintf(&b, "%s\n%s", p.Paint(Bold, "a window of "+shortTokens(window)), p.Paint(Gray, left("", taskLabel)+right("solved", 9)))
			for _, k := range solve.Kinds() {
				b.WriteString(p.Paint(Gray, right(k, taskColumn)))
			}
			b.WriteString(p.Paint(Gray, right("bill", 9)) + "\n")
		}
		b.WriteString(left(row.Policy, taskLabel) + right(fmt.Sprintf("%d/%d", row.Solved, row.Tasks), 9))
		for _, n := range row.ByKind {
			b.WriteString(right(fmt.Sprint(n), taskColumn))
		}
		b.WriteString(right(inCents(&row.CostUSD), 9) + "\n")
	}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; !o.Solved && o.Policy == "memkernel" {
			for _, l := range Wrap("memkernel, "+o.Name()+": "+Printable(o.Why), p.columns()-2) {
				b.WriteString("  " + p.Paint(Gray, l) + "\n")
			}
		}
	}
	return flush(w, &b)
}

// The columns of tasks, in characters.
const (
	taskLabel  = 17
	taskColumn = 7
)
