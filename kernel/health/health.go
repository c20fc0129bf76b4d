// Package health defines findings, their severities and the list of check codes. It runs tables
// of checks and collects the findings in a report. Package consolidation has the checks of the
// workspace, and kernel/internal/inspect has the checks of the stored state. Package health reads no file
// and prints nothing. Its callers format the findings.
package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/longwork"
)

// Severity is how much a finding matters.
type Severity string

// The severities, from the least.
const (
	// OK: nothing has to be done about the subject. An OK finding is not a fault.
	OK Severity = "ok"
	// Note: something is untidy.
	Note Severity = "note"
	// Warning: something will soon be wrong, or nobody maintains it.
	Warning Severity = "warning"
	// Error: something is lost, wrong or leaks, or doesn't work.
	Error Severity = "error"
)

// Code names the subject of a check.
type Code string

// The codes of checks of the workspace's files.
const (
	SessionState   Code = "session_state"
	Observations   Code = "observations"
	DailyLog       Code = "daily_log"
	Jobs           Code = "jobs"
	StaleFiles     Code = "stale_files"
	MemoryAge      Code = "memory_age"
	MemoryLoss     Code = "memory_loss"
	MemorySize     Code = "memory_size"
	WorkingBuffer  Code = "working_buffer"
	BootstrapSize  Code = "bootstrap_size"
	Truncation     Code = "truncation"
	Links          Code = "links"
	Duplicates     Code = "duplicates"
	Contradictions Code = "contradictions"
	Drift          Code = "drift"
	Secrets        Code = "secrets"
	Conflicts      Code = "conflict_markers"
	Files          Code = "files"
	Pointers       Code = "pointers"
)

// The codes of the stored state, and of a doctor's other checks.
const (
	Blobs     Code = "blobs"
	Backups   Code = "backups"
	Journals  Code = "journals"
	Index     Code = "index"
	Config    Code = "config"
	Workspace Code = "workspace"
	Embedding Code = "embedding"
	State     Code = "state"
	Prices    Code = "prices"
	Window    Code = "window"
	Agents    Code = "agents"
)

// Place is a range of lines of a file. For a whole file the lines are 0.
type Place struct {
	// Path is relative to the workspace. It is "" for a finding outside the workspace's files.
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

// Lines returns a range of lines of a file.
func Lines(path string, from, to int) Place { return Place{Path: path, StartLine: from, EndLine: to} }

func (p Place) String() string {
	switch {
	case p.StartLine == 0:
		return p.Path
	case p.EndLine <= p.StartLine:
		return fmt.Sprintf("%s:%d", p.Path, p.StartLine)
	}
	return fmt.Sprintf("%s:%d-%d", p.Path, p.StartLine, p.EndLine)
}

// Finding is one result of a check. Findings in the state folder have its JSON form. Documents of
// other findings add the members that it leaves out.
type Finding struct {
	Code     Code     `json:"-"`
	Severity Severity `json:"-"`
	// Session is the session's key, or its folder if the key is not known; "" for a finding about
	// no session.
	Session string `json:"session"`
	// Place is the place of the finding. Its path is "" if the finding is in no file of the
	// workspace.
	Place `json:"-"`
	// What describes the finding.
	What string `json:"what"`
	// Hint describes the remedy, "" if there is nothing to mend.
	Hint string `json:"hint"`
	// Others are the places that the finding disagrees with or repeats, or that have the same
	// cause.
	Others []Place `json:"-"`
	// Dropped are the sections that a host would leave out. Only findings about a truncated file
	// have them.
	Dropped []Section `json:"-"`
}

// String returns the finding on one line: its place, text and remedy.
func (f Finding) String() string {
	line := f.What
	if where := cmp.Or(f.Place.String(), f.Session); where != "" {
		line = where + ": " + line
	}
	if f.Hint != "" {
		line += " (" + f.Hint + ")"
	}
	return line
}

// Section is part of a file under one heading.
type Section struct {
	// Heading is the heading's text, "" for the lines before the first heading.
	Heading   string `json:"heading"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	// Chars is the number of dropped characters of the section.
	Chars int `json:"chars"`
	// Whole reports that the whole section was dropped.
	Whole bool `json:"whole"`
}

// Check is a row of a table of checks. It has a code, the text for a check without findings, and
// the function that makes the check. The function adds its findings to the report. It must return
// an error only if it could not make the check.
type Check[T any] struct {
	Code  Code
	Title string
	Run   func(context.Context, T, *Report) error
}

// CheckRun is the outcome of one check.
type CheckRun struct {
	ID Code `json:"id"`
	// Title is the rule that the check verifies.
	Title string `json:"title"`
	// Findings counts the faults that the check found.
	Findings int `json:"findings"`
	// Skipped is why the check did not run, "" if it ran.
	Skipped string `json:"skipped"`
}

// Report holds the findings of checks.
type Report struct {
	// Files and Entries count the files and entries that an audit read.
	Files, Entries int
	Checks         []CheckRun
	// Findings are in the order of the checks. The findings of an audit are in the order of their
	// places.
	Findings []Finding
}

// Run runs the checks of a table over one subject, in order.
func Run[T any](ctx context.Context, r *Report, table []Check[T], subject T) error {
	within := longwork.Within(ctx, "check")
	for _, c := range longwork.Over(ctx, "check", table) {
		r.Checks = append(r.Checks, CheckRun{ID: c.Code, Title: c.Title})
		if err := c.Run(within, subject, r); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Add adds findings of the running check to the report. A finding with a code keeps its code.
func (r *Report) Add(found ...Finding) {
	c := r.current()
	for _, f := range found {
		if f.Severity != OK {
			c.Findings++
		}
		f.Code = cmp.Or(f.Code, c.ID)
		r.Findings = append(r.Findings, f)
	}
}

// Skip records why the running check can't run.
func (r *Report) Skip(why string) { r.current().Skipped = why }

// current returns the running check. A finding that is added before any check ran belongs to no
// check.
func (r *Report) current() *CheckRun {
	if len(r.Checks) == 0 {
		return &CheckRun{}
	}
	return &r.Checks[len(r.Checks)-1]
}

// Count returns the number of findings of a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

// Faults returns the number of findings that need action.
func (r *Report) Faults() int { return len(r.Findings) - r.Count(OK) }

// Sort puts the findings in the order of the checks, then of the places.
func (r *Report) Sort() {
	rank := map[Code]int{}
	for i, c := range r.Checks {
		rank[c.ID] = i
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Code], rank[b.Code]), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.What, b.What))
	})
}

// Wrong returns an error finding with its remedy. The session is "" for a finding about no
// session.
func Wrong(session, what, hint string) Finding {
	return Finding{Severity: Error, Session: session, What: what, Hint: hint}
}

// DoctorOptions are settings of a doctor; the zero value means the defaults.
type DoctorOptions struct {
	// Network requests one vector from the embedder. Without Network nothing is sent.
	Network bool
	// Now is the moment up to which ages are counted; zero takes the kernel's clock.
	Now time.Time
}
