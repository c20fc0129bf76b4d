package consolidation

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	// Error: something is lost, wrong or leaks.
	Error Severity = "error"
	// Warning: something soon will be, or nobody looks after it.
	Warning Severity = "warning"
	// Note: untidy.
	Note Severity = "note"
)

// Place is some lines of a file; lines are 0 where the whole file is meant.
type Place struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
}

func (p Place) String() string {
	switch {
	case p.StartLine == 0:
		return p.Path
	case p.EndLine <= p.StartLine:
		return fmt.Sprintf("%s:%d", p.Path, p.StartLine)
	}
	return fmt.Sprintf("%s:%d-%d", p.Path, p.StartLine, p.EndLine)
}

func placeOf(e *Entry) Place { return Place{e.Path, e.StartLine, e.EndLine} }

// Finding is one thing that a check found.
type Finding struct {
	Check    CheckID  `json:"check"`
	Severity Severity `json:"severity"`
	// Place is where; its path is "" for what is in no file of the workspace.
	Place
	// What is wrong, and Hint what to do.
	What string `json:"what"`
	Hint string `json:"hint"`
	// Others are the places that it disagrees with or repeats.
	Others []Place `json:"others,omitempty"`
	// Dropped are the sections that a host would not show, of a truncation.
	Dropped []Section `json:"dropped,omitempty"`
}

// Section is part of a file under one heading.
type Section struct {
	// Heading is its text, "" for what is before the first.
	Heading   string `json:"heading"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	// Chars is how many characters of it are dropped; Whole that none is left.
	Chars int  `json:"chars"`
	Whole bool `json:"whole"`
}

// CheckRun is how one check went.
type CheckRun struct {
	ID    CheckID `json:"id"`
	Title string  `json:"title"`
	// Findings counts what it found. Skipped is why it did not run, "" if it did.
	Findings int    `json:"findings"`
	Skipped  string `json:"skipped"`
}

// Report is what an audit found.
type Report struct {
	// Files and Entries count what was read.
	Files, Entries int
	Checks         []CheckRun
	// Findings are in the order of the checks, then of the places.
	Findings []Finding
}

// Add puts the findings of a check into a report that was made for it.
func (r *Report) Add(id CheckID, found ...Finding) {
	for i := range found {
		found[i].Check = id
	}
	r.Findings = append(r.Findings, found...)
	if i := r.run(id); i >= 0 {
		r.Checks[i].Findings += len(found)
	}
	r.sort()
}

// Skip notes why a check could not run.
func (r *Report) Skip(id CheckID, why string) {
	if i := r.run(id); i >= 0 {
		r.Checks[i].Skipped = why
	}
}

func (r *Report) run(id CheckID) int {
	return slices.IndexFunc(r.Checks, func(c CheckRun) bool { return c.ID == id })
}

func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Check), rank(b.Check)), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.What, b.What))
	})
}
