package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
)

// Everywhere lists the text that was, or would be, removed, the searched places, and the text
// that is left.
func Everywhere(w io.Writer, e *api.Everywhere, p Style) error {
	var b strings.Builder
	goes := "would go"
	if e.Applied {
		goes = "went"
	}
	for _, s := range e.Sessions {
		what := Plural(len(s.Pages), "page")
		if s.Whole {
			what = "all of it, " + what
		}
		fmt.Fprintf(&b, "session %s: %s %s\n", Printable(s.Session), what, goes)
	}
	for _, l := range e.Lines {
		fmt.Fprintf(&b, "%s:%d %s: %s\n", Printable(l.Path), l.Line, goes, Clip(Printable(l.Text), max(p.Columns()-len(l.Path)-20, 20)))
	}
	if n := len(e.Backups); n > 0 {
		fmt.Fprintf(&b, "%s of memory's files %s\n", Plural(n, "backup"), goes)
	}
	if e.Indexed {
		b.WriteString("the index was made anew\n")
	}
	if len(e.Sessions)+len(e.Lines)+len(e.Backups)+len(e.Left) == 0 {
		b.WriteString("nothing holds it\n")
	}
	places := Plural(len(e.Left), "place")
	switch searched := Plural(e.Files, "file") + ", " + Size(e.Bytes); {
	case e.Applied && len(e.Left) > 0:
		fmt.Fprintf(&b, "searched %s: %s of it left\n", searched, places)
	case e.Applied:
		fmt.Fprintf(&b, "searched %s: nothing has these words any more\n", searched)
	case len(e.Left) > 0:
		fmt.Fprintf(&b, "%s of it would be left\n", places)
	}
	for _, l := range e.Left {
		fmt.Fprintf(&b, "  %s: %s\n", Printable(l.Path), Printable(l.Why))
	}
	if e.Applied {
		b.WriteString("not touched: transcripts that hosts keep in their own folders, and git\n")
	}
	return Flush(w, &b)
}
