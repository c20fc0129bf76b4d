package document

import (
	"github.com/memkernel/memkernel/kernel/health"
)

// Check is the document of check.
type Check struct {
	Schema   string `json:"schema"`
	StateDir string `json:"state_dir"`
	// OK reports whether nothing was found. If something was found, the exit code is 3.
	OK       bool             `json:"ok"`
	Findings []health.Finding `json:"findings"`
}

// OfCheck returns the document of the findings in a state folder.
func OfCheck(stateDir string, found []health.Finding) Check {
	return Check{"memkernel/check/v1", stateDir, len(found) == 0, List(found)}
}

// Doctor is the document of doctor.
type Doctor struct {
	Schema string `json:"schema"`
	// OK is set if no check fails.
	OK   bool        `json:"ok"`
	Rows []DoctorRow `json:"rows"`
}

// DoctorRow is one check of doctor.
type DoctorRow struct {
	// Area is config, workspace, index, embedding, state, window or prices.
	Area string `json:"area"`
	// State is ok, warn or fail.
	State string `json:"state"`
	What  string `json:"what"`
	// Hint says how to repair the fault, "" if there is no fault.
	Hint string `json:"hint"`
}

// OfDoctor returns the document of a doctor's findings.
func OfDoctor(r *health.Report) Doctor {
	doc := Doctor{"memkernel/doctor/v1", r.Count(health.Error) == 0, []DoctorRow{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		doc.Rows = append(doc.Rows, DoctorRow{string(f.Code), StateOf(f.Severity), f.What, f.Hint})
	}
	return doc
}

// StateOf returns doctor's word for a severity: ok, warn or fail.
func StateOf(s health.Severity) string {
	switch s {
	case health.OK:
		return "ok"
	case health.Error:
		return "fail"
	}
	return "warn"
}

// Audit is the document of audit.
type Audit struct {
	Schema    string `json:"schema"`
	Workspace string `json:"workspace"`
	// Clean is set if no finding needs a repair.
	Clean bool `json:"clean"`
	// Files counts the files that were read. Entries counts the list items, paragraphs, quotes
	// and tables in them.
	Files   int `json:"files"`
	Entries int `json:"entries"`
	// Checks lists the requested checks in order.
	Checks   []health.CheckRun `json:"checks"`
	Findings []auditFinding    `json:"findings"`
}

// auditFinding is a finding with all members present.
type auditFinding struct {
	Check string `json:"check"`
	// Severity is error, warning or note. It is ok for findings that need no repair, such as
	// links in logs of past days.
	Severity string `json:"severity"`
	auditPlace
	What string `json:"what"`
	// Hint says how to repair the problem.
	Hint string `json:"hint"`
	// Others are the other places of duplicates and contradictions, and of findings with the same
	// cause.
	Others []auditPlace `json:"others"`
	// Dropped lists the sections that a host drops.
	Dropped []health.Section `json:"dropped"`
}

type auditPlace struct {
	// Path is relative to the workspace. It is "" for a finding outside the workspace's files.
	Path string `json:"path"`
	// StartLine is 0 if the finding is about the whole file.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
}

// OfAudit returns the document of the findings in a workspace.
func OfAudit(workspace string, r *health.Report) Audit {
	doc := Audit{"memkernel/audit/v1", workspace, r.Faults() == 0, r.Files, r.Entries, r.Checks, []auditFinding{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		out := auditFinding{string(f.Code), string(f.Severity), auditPlace(f.Place), f.What, f.Hint, []auditPlace{}, List(f.Dropped)}
		for _, p := range f.Others {
			out.Others = append(out.Others, auditPlace(p))
		}
		doc.Findings = append(doc.Findings, out)
	}
	return doc
}
