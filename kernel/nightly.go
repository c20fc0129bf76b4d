package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

// JobsFile is where recorded jobs write down how they went, in the state folder:
// lines of JSON, {"time":…,"job":…,"error":…}.
const JobsFile = upkeep.JobsFile

// The steps of a nightly run, by the names under which they are recorded.
const (
	StepAudit  = "audit"
	StepCurate = "curate"
	StepPrune  = "prune"
)

// ErrNightlyRuns is that another process is at it.
var ErrNightlyRuns = upkeep.ErrRuns

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
	// Before is called once it is sure that something will be done; an error of its
	// ends the run. Nil is nothing.
	Before func(ctx context.Context) error
	// Gap is waited between two steps.
	Gap time.Duration
	Now time.Time
}

// Nightly says how a night's upkeep went.
type Nightly struct {
	Steps []NightlyStep `json:"steps"`
	// Skipped says why nothing was done, "" if something was.
	Skipped string `json:"skipped"`
	// Audit, Curated and Pruned are what the steps came to, nil for those that did
	// not run.
	Audit   *health.Report `json:"-"`
	Curated *Curated       `json:"-"`
	Pruned  *Pruned        `json:"-"`
}

// NightlyStep is one step.
type NightlyStep struct {
	Step string `json:"step"`
	// Outcome is ok, failed or skipped.
	Outcome string `json:"outcome"`
	// Error is why it failed, or what it was skipped for.
	Error string `json:"error"`
}

// Failed tells whether a step failed.
func (n *Nightly) Failed() bool {
	for _, s := range n.Steps {
		if s.Outcome == "failed" {
			return true
		}
	}
	return false
}

// Nightly runs audit, curation and pruning, in this order and never two at a time. A
// step is skipped if the one before it failed; what an audit finds is no failure. Each
// step may be killed at any point: what it promised is made good by the next. A second
// run of the same night finds nothing to do. How the steps went is appended to
// [JobsFile].
func (k *Kernel) Nightly(ctx context.Context, req NightlyRequest) (*Nightly, error) {
	if k.memory == nil {
		return nil, errors.New("nightly: memory is switched off")
	}
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	out := &Nightly{Steps: []NightlyStep{}}
	if busy, err := busy(k, req.Idle, req.Now); err != nil || busy != "" {
		out.Skipped = busy
		return out, err
	}
	store.KeepOutOfGit(k.state)
	jobs := []upkeep.Job{{Name: StepAudit, Run: func() error { return nightAudit(ctx, k, &req, out) }}, {Name: StepCurate, Run: func() error { return nightCurate(ctx, k, &req, out) }},
		{Name: StepPrune, Run: func() error { return nightPrune(ctx, k, &req, out) }}}
	if req.QuietTime {
		jobs = jobs[1:]
	}
	came, err := k.upkeep.Nightly(ctx, upkeep.Night{Jobs: jobs, Before: req.Before, Gap: req.Gap, Now: req.Now})
	if came == nil {
		return nil, err
	}
	for _, c := range came {
		out.Steps = append(out.Steps, NightlyStep(c))
	}
	return out, err
}

func nightAudit(ctx context.Context, k *Kernel, req *NightlyRequest, out *Nightly) (err error) {
	req.Audit.Now, req.Audit.Prune = req.Now, req.Prune
	out.Audit, err = k.Audit(ctx, req.Audit)
	return err
}

// nightCurate curates the day that ends with the night, too: a run after midnight
// finds most of what there is in yesterday's log.
func nightCurate(ctx context.Context, k *Kernel, req *NightlyRequest, out *Nightly) (err error) {
	c := req.Curate
	c.Now, c.Apply = req.Now, true
	out.Curated, err = k.Curate(ctx, c)
	return err
}

func nightPrune(ctx context.Context, k *Kernel, req *NightlyRequest, out *Nightly) (err error) {
	if out.Pruned, err = k.Prune(ctx, PruneRequest{PruneOptions: req.Prune, Apply: true, QuietTime: req.QuietTime, Now: req.Now}); err != nil {
		return err
	}
	return k.upkeep.Seen(ctx, req.Now)
}

// busy says which session was written to within a time, "" if none was.
func busy(k *Kernel, idle time.Duration, now time.Time) (string, error) {
	if idle <= 0 {
		return "", nil
	}
	folders, err := folder.All(k.state)
	if err != nil {
		return "", err
	}
	for _, f := range folders {
		fi, err := folder.In(k.state, f).Stat(folder.JournalFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if age := now.Sub(fi.Time); age < idle {
			return fmt.Sprintf("session %s was at work %s ago, and %s of quiet are asked for", f, max(age, 0).Round(time.Second), idle), nil
		}
	}
	return "", nil
}
