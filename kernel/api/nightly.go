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

// NightlyRequest asks for a night's upkeep.
type NightlyRequest struct {
	Audit  AuditOptions
	Prune  PruneOptions
	Curate CurateRequest
	// QuietTime searches today's log and the buffer and trims observations. It neither audits nor
	// changes MEMORY.md's older entries.
	QuietTime bool
	// Idle runs it only if no session was written to for that long; 0 runs it anyway.
	Idle time.Duration
	// Once runs it only if no run of the kind succeeded within that time, on any of the machines
	// that share the state; 0 runs it anyway.
	Once time.Duration
	// Before, if not nil, is called once it is certain that there is work to do. If it returns an
	// error the run ends.
	Before func(ctx context.Context) error
	Now    time.Time
}

// Nightly is the outcome of a night's upkeep.
type Nightly struct {
	Steps []NightlyStep `json:"steps"`
	// Skipped is why nothing was done, "" if something was.
	Skipped string `json:"skipped"`
	// Audit, Curated and Pruned are the results of the steps, nil for those that did not run.
	Audit   *health.Report `json:"-"`
	Curated *Curated       `json:"-"`
	Pruned  *Pruned        `json:"-"`
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
