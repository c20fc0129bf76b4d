package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
)

// writers holds the words for who wrote an entry, in every verb.
var writers = map[string]string{"": "somebody", api.ByPerson: "a person", api.ByWords: "a person", api.ByAgent: "an agent", api.ByUpkeep: "memkernel's upkeep", api.BySession: "memkernel, of a session", api.ByMark: "memkernel"}

// Entries prints entries of memory: the address, the date and the writer, and below them the text.
func Entries(w io.Writer, l *api.MemoryList, p Style) error {
	var b strings.Builder
	for i := range l.Entries {
		e := &l.Entries[i]
		head := p.Paint(Bold, address(e.Path, e.Line))
		if e.Date != "" && !strings.Contains(e.Path, e.Date) {
			head += "  " + e.Date
		}
		fmt.Fprintf(&b, "%s  %s\n", head, p.Paint(Gray, writers[e.By]))
		p.para(&b, 2, "", e.Text)
	}
	return Flush(w, &b)
}

func address(path string, line int) string { return fmt.Sprintf("%s:%d", Printable(path), line) }

var cited = textutil.LazyRegexp(`#L(\d+)(?:-L\d+)?$`)

// Address returns the address FILE:LINE of a citation, which is FILE#L3-L9.
func Address(citation string) string { return Printable(cited.ReplaceAllString(citation, ":$1")) }

// Edited prints an entry that was added, replaced or removed: its address, and its text. A text
// that is no longer there is marked as old.
func Edited(w io.Writer, e *api.EntryEdited) error {
	var b strings.Builder
	b.WriteString(address(e.Path, e.Line) + "\n")
	text := func(mark, text string) {
		for l := range strings.SplitSeq(text, "\n") {
			b.WriteString(strings.TrimRight("  "+mark+Printable(l), " ") + "\n")
			mark = strings.Repeat(" ", len(mark))
		}
	}
	switch {
	case e.Before == "":
		text("", e.After)
	case e.EndLine == 0:
		text("gone  ", e.Before)
	default:
		text("old  ", e.Before)
		text("new  ", e.After)
	}
	return Flush(w, &b)
}
