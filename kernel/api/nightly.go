package api

import (
	"context"
	"errors"
	"time"

	"github.com/memkernel/memkernel/kernel/health"
)

// JobsFile is where recorded jobs write down how they went, in the state folder:
// lines of JSON, {"time":…,"job":…,"error":…}.
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
	// QuietTime looks through today's log and the buffer and trims observations; it
	// neither audits nor touches MEMORY.md's older entries.
	QuietTime bool
	// Idle lets it run only if no session was written to for so long; 0 runs it
	// anyway.
	Idle time.Duration
	// Once lets it run only if none of the kind has gone well for so long, on whichever of the
	// machines that share the state; 0 runs it anyway.
	Once time.Duration
	// Before is called once it is sure that something will be done; an error of its
	// ends the run. Nil is nothing.
	Before func(ctx context.Context) error
	Now    time.Time
}

// Nightly says how a night's upkeep went.
type Nightly struct {
	Steps []NightlyStep `json:"steps"`
	// Skipped says why nothing was done, "" if something was.
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
