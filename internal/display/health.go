package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel/health"
)

// severities are the colours of the severities.
var severities = map[health.Severity]ink{health.OK: green, health.Note: cyan, health.Warning: yellow, health.Error: red}

// finding writes one finding after its head, which takes indent columns. It writes the hint below
// the finding, unless the next finding has the same hint.
func finding(b *strings.Builder, p Style, head string, indent int, text, hint string, next *health.Finding) {
	p.hang(b, head, indent, "", text)
	if next == nil || next.Hint != hint {
		p.para(b, indent+2, Gray, hint)
	}
}

// Check lists the findings of a check of a state folder.
func Check(w io.Writer, dir string, found []health.Finding) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(w, "%s: nothing found\n", Printable(dir))
		return err
	}
	for _, f := range found {
		where := cmp.Or(f.Session, "blobs")
		if _, err := fmt.Fprintf(w, "%s: %s\n", Printable(where), Printable(f.What)); err != nil {
			return err
		}
		if f.Hint != "" {
			fmt.Fprintf(w, "  %s\n", Printable(f.Hint))
		}
	}
	return nil
}

// Doctor lists the passed and failed checks of a report.
func Doctor(w io.Writer, r *health.Report, p Style) error {
	var b strings.Builder
	for i := range r.Findings {
		f := &r.Findings[i]
		var next *health.Finding
		if i+1 < len(r.Findings) && r.Findings[i+1].Code == f.Code {
			next = &r.Findings[i+1]
		}
		finding(&b, p, p.Paint(severities[f.Severity], Left(string(f.Severity), 8))+Left(string(f.Code), 11), 19, f.What, f.Hint, next)
	}
	fmt.Fprintf(&b, "%s, %s, %s, %d ok\n", Plural(r.Count(health.Error), "error"), Plural(r.Count(health.Warning), "warning"),
		Plural(r.Count(health.Note), "note"), r.Count(health.OK))
	return Flush(w, &b)
}

// shownFindings is the number of findings of a check that the text shows.
const shownFindings = 10

// Audit lists the findings of an audit, grouped by check. If all is set, it shows every finding.
func Audit(w io.Writer, r *health.Report, p Style, all bool) error {
	var b strings.Builder
	clean := 0
	var skipped []string
	var well []health.Finding
	for _, c := range r.Checks {
		var found []health.Finding
		for i := range r.Findings {
			switch f := &r.Findings[i]; {
			case f.Code != c.ID:
			case f.Severity == health.OK:
				well = append(well, *f)
			default:
				found = append(found, *f)
			}
		}
		switch {
		case c.Skipped != "":
			skipped = append(skipped, fmt.Sprintf("%s: %s", c.ID, c.Skipped))
		case len(found) == 0:
			clean++
		default:
			ofCheck(&b, p, c, found, all)
		}
	}
	for i := range well {
		p.para(&b, 0, Gray, string(well[i].Code)+": "+well[i].What)
		if all {
			places(&b, p, 2, &well[i])
		}
	}
	for _, s := range skipped {
		p.para(&b, 0, Gray, "not run: "+s)
	}
	fmt.Fprintf(&b, "%s with %s read:\n", Plural(r.Files, "file"), Plural(r.Entries, "entry"))
	if n := len(r.Checks) - clean - len(skipped); n > 0 {
		fmt.Fprintf(&b, "%s by %s; ", Plural(r.Faults(), "finding"), Plural(n, "check"))
	}
	fmt.Fprintf(&b, "%s found nothing", Plural(clean, "check"))
	if len(skipped) > 0 {
		fmt.Fprintf(&b, "; %d not run", len(skipped))
	}
	b.WriteString("\n")
	return Flush(w, &b)
}

// places lists the other places of a finding, indented.
func places(b *strings.Builder, p Style, indent int, f *health.Finding) {
	var names []string
	for _, o := range f.Others {
		names = append(names, o.String())
	}
	p.para(b, indent, Gray, "also "+strings.Join(names, ", "))
}

func ofCheck(b *strings.Builder, p Style, c health.CheckRun, found []health.Finding, all bool) {
	b.WriteString(p.Paint(Bold, string(c.ID)) + fmt.Sprintf(" (%d)\n", len(found)))
	more := 0
	if !all && len(found) > shownFindings {
		found, more = found[:shownFindings], len(found)-shownFindings
	}
	for i := range found {
		f := &found[i]
		var next *health.Finding
		if i+1 < len(found) {
			next = &found[i+1]
		}
		finding(b, p, "  "+p.Paint(severities[f.Severity], Left(string(f.Severity), 8)), 10, strings.TrimSpace(f.Place.String()+" "+f.What), f.Hint, next)
		if all && len(f.Others) > 1 {
			places(b, p, 12, f)
		}
	}
	if more > 0 {
		fmt.Fprintf(b, "  and %d more; --all shows them\n", more)
	}
}
