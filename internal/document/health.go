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

// Health is the document of doctor and audit.
type Health struct {
	Schema string `json:"schema"`
	// OK reports whether nothing has to be repaired. For doctor, warnings count as OK.
	OK bool `json:"ok"`
	// Files counts the files that were read. Entries counts the list items, paragraphs, quotes
	// and tables in them. A doctor reads none.
	Files   int `json:"files"`
	Entries int `json:"entries"`
	// Checks lists the checks in order.
	Checks   []health.CheckRun `json:"checks"`
	Findings []finding         `json:"findings"`
}

type finding struct {
	Check health.Code `json:"check"`
	// Severity is ok for findings that need no repair.
	Severity health.Severity `json:"severity"`
	health.Place
	What string `json:"what"`
	// Hint says how to repair the problem, "" if there is none.
	Hint string `json:"hint"`
	// Others are the other places of duplicates and contradictions, and of findings with the same
	// cause.
	Others []health.Place `json:"others"`
	// Dropped lists the sections that a host drops.
	Dropped []health.Section `json:"dropped"`
}

// OfDoctor returns the document of a doctor's report.
func OfDoctor(r *health.Report) Health {
	return ofReport("memkernel/doctor/v1", r.Count(health.Error) == 0, r)
}

// OfAudit returns the document of an audit.
func OfAudit(r *health.Report) Health { return ofReport("memkernel/audit/v1", r.Faults() == 0, r) }

func ofReport(schema string, ok bool, r *health.Report) Health {
	doc := Health{schema, ok, r.Files, r.Entries, List(r.Checks), []finding{}}
	for _, f := range r.Findings {
		doc.Findings = append(doc.Findings, finding{f.Code, f.Severity, f.Place, f.What, f.Hint, List(f.Others), List(f.Dropped)})
	}
	return doc
}
