package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
)

// shownFindings is how many findings of a check the text shows.
const shownFindings = 10

// Audit groups the findings of an audit by check; all shows every one.
func Audit(w io.Writer, r *consolidation.Report, p Style, all bool) error {
	var b strings.Builder
	at, clean := 0, 0
	var skipped []string
	for _, c := range r.Checks {
		first := at
		for at < len(r.Findings) && r.Findings[at].Check == c.ID {
			at++
		}
		switch {
		case c.Skipped != "":
			skipped = append(skipped, fmt.Sprintf("%s: %s", c.ID, c.Skipped))
		case c.Findings == 0:
			clean++
		default:
			writeCheck(&b, p, c, r.Findings[first:at], all)
		}
	}
	for _, s := range skipped {
		for _, l := range Wrap("not run: "+Printable(s), Columns) {
			b.WriteString(p.Paint(Gray, l) + "\n")
		}
	}
	fmt.Fprintf(&b, "%s, %s: %s in %s, %d clean\n", Plural(r.Files, "file"), strings.Replace(Plural(r.Entries, "entry"), "entrys", "entries", 1),
		Plural(len(r.Findings), "finding"), Plural(len(r.Checks)-clean-len(skipped), "check"), clean)
	return flush(w, &b)
}

func writeCheck(b *strings.Builder, p Style, c consolidation.CheckRun, found []consolidation.Finding, all bool) {
	b.WriteString(p.Paint(Bold, string(c.ID)) + fmt.Sprintf(" (%d)\n", c.Findings))
	colours := map[consolidation.Severity]Ink{consolidation.Error: red, consolidation.Warning: yellow, consolidation.Note: cyan}
	for i := range found {
		f := &found[i]
		if i == shownFindings && !all {
			fmt.Fprintf(b, "  and %d more; --all shows them\n", len(found)-i)
			break
		}
		head := "  " + p.Paint(colours[f.Severity], left(string(f.Severity), 8))
		for _, l := range Wrap(Printable(strings.TrimSpace(placeText(f.Place)+f.What)), Columns-10) {
			b.WriteString(head + l + "\n")
			head = strings.Repeat(" ", 10)
		}
		if next := i + 1; next < len(found) && found[next].Hint == f.Hint && (all || next < shownFindings) {
			continue // said once, behind the last
		}
		for _, l := range Wrap(f.Hint, Columns-12) {
			b.WriteString(strings.Repeat(" ", 12) + p.Paint(Gray, l) + "\n")
		}
	}
}

func placeText(p consolidation.Place) string {
	if p.Path == "" {
		return ""
	}
	return p.String() + " "
}
