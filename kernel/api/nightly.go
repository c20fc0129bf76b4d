package api

import (
	"context"
	"errors"
	"time"

	"github.com/memkernel/memkernel/kernel/health"
)

// JobsFile is the file in the state folder to which recorded jobs append their outcome: lines of
// JSON, {"time":…,"job":…,"error":…}.
const JobsFile = "jobs.jsonl"

// The steps of a nightly run, by the names under which they are recorded.
const (
	StepAudit  = "audit"
	StepCurate = "curate"
	StepPrune  = "prune"
)

// ErrNightlyRuns is returned where another process does a night's upkeep.
var ErrNightlyRuns = errors.New("another nightly run is under way in this workspace")

// NightlyRequest is a request for a night's upkeep.
type NightlyRequest struct {
	Audit  AuditOptions
	Prune  PruneOptions
	Curate CurateRequest
	// QuietTime makes the run read today's log and the working buffer and trim observations. Such
	// a run neither audits nor changes MEMORY.md's older entries.
	QuietTime bool
	// Idle is the time without a write to any session that must have passed before upkeep runs; 0
	// runs it at any time.
	Idle time.Duration
	// Once is the time in which upkeep runs only once: nothing runs if a run of the kind
	// succeeded within this time on any machine that shares the state. 0 sets no such limit.
	Once time.Duration
	// DryRun makes the run show what each step would do now. It writes nothing.
	DryRun bool
	// Before, if not nil, is called as soon as it is certain that there is work to do. If Before
	// returns an error, the run ends.
	Before func(ctx context.Context) error
	Now    time.Time
}

// Nightly is the outcome of a night's upkeep.
type Nightly struct {
	Steps []NightlyStep `json:"steps"`
	// Skipped is why nothing was done, "" if something was.
	Skipped string `json:"skipped"`
	// Audit is the result of the audit, nil if it did not run.
	Audit *health.Report `json:"-"`
	// Curated is the result of the curation, nil if it did not run.
	Curated *Curated `json:"-"`
	// Pruned is the result of the pruning, nil if it did not run.
	Pruned *Pruned `json:"-"`
}

// NightlyStep is one step.
type NightlyStep struct {
	// Step is audit, curate or prune.
	Step string `json:"step"`
	// Outcome is ok, failed or skipped.
	Outcome string `json:"outcome"`
	// Error is why the step failed, or why it was skipped.
	Error string `json:"error"`
}

// Failed reports whether a step failed.
func (n *Nightly) Failed() bool {
	for _, s := range n.Steps {
		if s.Outcome == "failed" {
			return true
		}
	}
	return false
}
