package document

import (
	"github.com/memkernel/memkernel/kernel/health"
)

// Check is the document of check.
type Check struct {
	Schema   string           `json:"schema"`
	StateDir string           `json:"state_dir"`
	OK       bool             `json:"ok"`
	Findings []health.Finding `json:"findings"`
}

// OfCheck is what a check of a state folder found.
func OfCheck(stateDir string, found []health.Finding) Check {
	return Check{"memkernel/check/v1", stateDir, len(found) == 0, List(found)}
}

// Doctor is the document of doctor.
type Doctor struct {
	Schema string `json:"schema"`
	// OK: nothing fails.
	OK   bool        `json:"ok"`
	Rows []DoctorRow `json:"rows"`
}

// DoctorRow is one thing that a doctor looked at.
type DoctorRow struct {
	Area  string `json:"area"`
	State string `json:"state"`
	What  string `json:"what"`
	Hint  string `json:"hint"`
}

// OfDoctor is what a doctor found.
func OfDoctor(r *health.Report) Doctor {
	doc := Doctor{"memkernel/doctor/v1", r.Count(health.Error) == 0, []DoctorRow{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		doc.Rows = append(doc.Rows, DoctorRow{string(f.Code), StateOf(f.Severity), f.What, f.Hint})
	}
	return doc
}

// StateOf is how a doctor says a severity: ok, warn or fail.
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
	// Clean: nothing that was found is to be done anything about.
	Clean    bool              `json:"clean"`
	Files    int               `json:"files"`
	Entries  int               `json:"entries"`
	Checks   []health.CheckRun `json:"checks"`
	Findings []auditFinding    `json:"findings"`
}

// auditFinding is a finding with every member there.
type auditFinding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	auditPlace
	What    string           `json:"what"`
	Hint    string           `json:"hint"`
	Others  []auditPlace     `json:"others"`
	Dropped []health.Section `json:"dropped"`
}

type auditPlace struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

// OfAudit is what an audit of a workspace found.
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
