package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
)

// shownFindings is how many findings of a check the text shows.
const shownFindings = 10

func writeCheck(b *strings.Builder, p painter, c consolidation.CheckRun, found []consolidation.Finding, all bool) {
	b.WriteString(p.do(bold, string(c.ID)) + fmt.Sprintf(" (%d)\n", c.Findings))
	colours := map[consolidation.Severity]style{consolidation.Error: red, consolidation.Warning: yellow, consolidation.Note: cyan}
	for i := range found {
		f := &found[i]
		if i == shownFindings && !all {
			fmt.Fprintf(b, "  and %d more; --all shows them\n", len(found)-i)
			break
		}
		head := "  " + p.do(colours[f.Severity], left(string(f.Severity), 8))
		for _, l := range wrap(printable(strings.TrimSpace(placeText(f.Place)+f.What)), columns-10) {
			b.WriteString(head + l + "\n")
			head = strings.Repeat(" ", 10)
		}
		if next := i + 1; next < len(found) && found[next].Hint == f.Hint && (all || next < shownFindings) {
			continue // said once, behind the last
		}
		for _, l := range wrap(f.Hint, columns-12) {
			b.WriteString(strings.Repeat(" ", 12) + p.do(gray, l) + "\n")
		}
	}
}

func placeText(p consolidation.Place) string {
	if p.Path == "" {
		return ""
	}
	return p.String() + " "
}

// auditText groups the findings by check.
func drawAudit(w io.Writer, r *consolidation.Report, p painter, all bool) error {
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
		for _, l := range wrap("not run: "+printable(s), columns) {
			b.WriteString(p.do(gray, l) + "\n")
		}
	}
	fmt.Fprintf(&b, "%s, %s: %s in %s, %d clean\n", plural(r.Files, "file"), strings.Replace(plural(r.Entries, "entry"), "entrys", "entries", 1),
		plural(len(r.Findings), "finding"), plural(len(r.Checks)-clean-len(skipped), "check"), clean)
	return flush(w, &b)
}
