package verbs

import (
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
func showMoved(s *display.Sheet, what string, d *movedState, leftOut []moving.CopyLeft) {
	row := func(name, form string, values ...any) {
		s.Hang(s.Paint("bold", display.Left(name, 10))+" ", 11, "", form, values...)
	}
	row("from", "{}", d.From)
	row("to", "{}", d.To)
	row(what, "{} of {} bytes: {} copied, {} were there", d.Documents, d.Bytes, d.Copied, d.Documents-d.Copied)
	row("compared", "all alike, by hash")
	for _, l := range leftOut {
		row("left out", "{}: {}", l.Path, l.Reason)
	}
	if d.Removed {
		row("removed", "from {}", d.From)
	}
}
