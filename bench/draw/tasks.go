package draw

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/bench/solve"
	"github.com/memkernel/memkernel/internal/display"
)

// Tasks is a line for each policy: what it solved, by kind of task, and its whole bill.
func Tasks(w io.Writer, r *solve.Report, p display.Style) error {
	var b strings.Builder
	window := 0
	for _, row := range r.Rows {
		if row.Window != window {
			window = row.Window
			fmt.Fprintf(&b, "%s\n%s", p.Paint(display.Bold, "a window of "+display.ShortTokens(window)), p.Paint(display.Gray, display.Left("", taskLabel)+display.Right("solved", 9)))
			for _, k := range solve.Kinds() {
				b.WriteString(p.Paint(display.Gray, display.Right(k, taskColumn)))
			}
			b.WriteString(p.Paint(display.Gray, display.Right("bill", 9)) + "\n")
		}
		b.WriteString(display.Left(row.Policy, taskLabel) + display.Right(fmt.Sprintf("%d/%d", row.Solved, row.Tasks), 9))
		for _, n := range row.ByKind {
			b.WriteString(display.Right(fmt.Sprint(n), taskColumn))
		}
		b.WriteString(display.Right(display.InCents(&row.CostUSD), 9) + "\n")
	}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; !o.Solved && o.Policy == "memkernel" {
			for _, l := range display.Wrap("memkernel, "+o.Name()+": "+display.Printable(o.Why), p.Columns()-2) {
				b.WriteString("  " + p.Paint(display.Gray, l) + "\n")
			}
		}
	}
	return display.Flush(w, &b)
}

// The columns of tasks, in characters.
const (
	taskLabel  = 17
	taskColumn = 7
)
