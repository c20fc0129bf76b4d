package display

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/health"
)

// severities are the colours of the severities.
var severities = map[health.Severity]ink{health.OK: green, health.Note: cyan, health.Warning: yellow, health.Error: red}

// finding writes finding i after its head, which takes indent columns. It writes the hint below
// the finding, unless the next finding of the same check has the same hint.
func (s *Sheet) finding(all []health.Finding, i int, head string, indent int, text string) {
	f := &all[i]
	s.Hang(head, indent, "", "{}", text)
	if i+1 == len(all) || all[i+1].Code != f.Code || all[i+1].Hint != f.Hint {
		s.Para(indent+2, Gray, "{}", f.Hint)
	}
}

// severity returns the severity of a finding in its colour, in eight columns.
func (p Style) severity(f *health.Finding) string {
	return p.Paint(severities[f.Severity], Left(string(f.Severity), 8))
}

// Check lists the findings of a check of a state folder.
func Check(s *Sheet, d *document.Check) {
	if d.OK {
		s.Line("{}: nothing found", d.StateDir)
	}
	for _, f := range d.Findings {
		s.Line("{}: {}", cmp.Or(f.Session, "blobs"), f.What)
		if f.Hint != "" {
			s.Line("  {}", f.Hint)
		}
	}
}

// Doctor lists the passed and failed checks of a report.
func Doctor(s *Sheet, r *health.Report) {
	for i := range r.Findings {
		f := &r.Findings[i]
		s.finding(r.Findings, i, s.severity(f)+Left(string(f.Code), 11), 19, f.What)
	}
	s.Line("{error}, {warning}, {note}, {%d} ok", r.Count(health.Error), r.Count(health.Warning), r.Count(health.Note), r.Count(health.OK))
}

// Audit lists the findings of an audit, grouped by check.
func Audit(s *Sheet, r *health.Report) {
	clean := 0
	var skipped []string
	for _, c := range r.Checks {
		var found []health.Finding
		for _, f := range r.Findings {
			if f.Code == c.ID && f.Severity != health.OK {
				found = append(found, f)
			}
		}
		switch {
		case c.Skipped != "":
			skipped = append(skipped, string(c.ID)+": "+c.Skipped)
		case len(found) == 0:
			clean++
		default:
			s.ofCheck(c, found)
		}
	}
	for _, c := range r.Checks {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Code == c.ID && f.Severity == health.OK {
				s.Para(0, Gray, "{}: {}", f.Code, f.What)
				if s.All {
					s.places(2, f)
				}
			}
		}
	}
	for _, text := range skipped {
		s.Para(0, Gray, "not run: {}", text)
	}
	s.Line("{file} with {entry} read:", r.Files, r.Entries)
	by := ""
	if n := len(r.Checks) - clean - len(skipped); n > 0 {
		by = s.Say("{finding} by {check}; ", r.Faults(), n)
	}
	not := ""
	if len(skipped) > 0 {
		not = s.Say("; {%d} not run", len(skipped))
	}
	s.Line("{}{check} found nothing{}", by, clean, not)
}

// places lists the other places of a finding, indented.
func (s *Sheet) places(indent int, f *health.Finding) {
	var names []string
	for _, o := range f.Others {
		names = append(names, o.String())
	}
	s.Para(indent, Gray, "also {}", names)
}

// ofCheck lists the findings of a check.
func (s *Sheet) ofCheck(c health.CheckRun, found []health.Finding) {
	s.Line("{} ({%d})", inked{Bold, c.ID}, len(found))
	shown := first(s, found)
	for i := range shown {
		f := &shown[i]
		s.finding(shown, i, "  "+s.severity(f), 10, strings.TrimSpace(f.Place.String()+" "+f.What))
		if s.All && len(f.Others) > 1 {
			s.places(12, f)
		}
	}
	if more := len(found) - len(shown); more > 0 {
		s.Line("  and {%d} more; --all shows them", more)
	}
}
