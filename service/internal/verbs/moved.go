package verbs

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/service/internal/moving"
)

// movedState is the document of migrate --state, and a part of the document of migrate --memory.
type movedState struct {
	Schema string `json:"schema"`
	moving.Report
}

// movedFiles is the document of migrate --memory.
type movedFiles struct {
	movedState
	// LeftOut lists the files that were not copied.
	LeftOut []moving.CopyLeft `json:"left_out"`
}

// showMoved prints the places, the counts, and the files that were not copied.
func showMoved(w io.Writer, what string, d *movedState, leftOut []moving.CopyLeft, p display.Style) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		for i, l := range display.Wrap(fmt.Sprintf(format, args...), p.Columns()-11) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "%s %s\n", p.Paint(display.Bold, display.Left(name, 10)), l)
		}
	}
	row("from", "%s", display.Printable(d.From))
	row("to", "%s", display.Printable(d.To))
	row(what, "%s of %s bytes: %s copied, %s were there", display.Thousands(d.Documents), display.Thousands(int(d.Bytes)), display.Thousands(d.Copied), display.Thousands(d.Documents-d.Copied))
	row("compared", "all alike, by hash")
	for _, l := range leftOut {
		row("left out", "%s: %s", display.Printable(l.Path), l.Reason)
	}
	if d.Removed {
		row("removed", "from %s", display.Printable(d.From))
	}
	return display.Flush(w, &b)
}
