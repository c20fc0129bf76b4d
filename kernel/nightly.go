package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
)

// The steps of a nightly run, by the names under which they are recorded.
const (
	StepAudit  = "audit"
	StepCurate = "curate"
	StepPrune  = "prune"
)

// ErrNightlyRuns is that another process is at it.
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
	Audit   *consolidation.Report `json:"-"`
	Curated *Curated              `json:"-"`
	Pruned  *Pruned               `json:"-"`
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
	if busy, err := k.busy(req.Idle, req.Now); err != nil || busy != "" {
		out.Skipped = busy
		return out, err
	}
	unlock, err := k.lockNightly()
	if err != nil {
		return nil, fmt.Errorf("nightly: %w", err)
	}
	defer unlock()
	if req.Before != nil {
		if err := req.Before(ctx); err != nil {
			return nil, err
		}
	}
	steps := []struct {
		name string
		run  func() error
	}{{StepAudit, func() error { return k.nightAudit(ctx, &req, out) }}, {StepCurate, func() error { return k.nightCurate(ctx, &req, out) }},
		{StepPrune, func() error { return k.nightPrune(ctx, &req, out) }}}
	if req.QuietTime {
		steps = steps[1:]
	}
	failed := ""
	for i, s := range steps {
		if failed != "" {
			out.Steps = append(out.Steps, NightlyStep{s.name, "skipped", failed + " failed"})
			continue
		}
		err := wait(ctx, req.Gap, i > 0)
		if err == nil {
			err = s.run()
		}
		step := NightlyStep{Step: s.name, Outcome: "ok"}
		if err != nil {
			step.Outcome, step.Error, failed = "failed", err.Error(), s.name
		}
		out.Steps = append(out.Steps, step)
		if err := k.recordJob(s.name, step.Error, req.Now); err != nil {
			return out, fmt.Errorf("nightly: %w", err)
		}
	}
	return out, ctx.Err()
}

func (k *Kernel) nightAudit(ctx context.Context, req *NightlyRequest, out *Nightly) (err error) {
	req.Audit.Now, req.Audit.Prune = req.Now, req.Prune
	out.Audit, err = k.Audit(ctx, req.Audit)
	return err
}

// nightCurate curates the day that ends with the night, too: a run after midnight
// finds most of what there is in yesterday's log.
func (k *Kernel) nightCurate(ctx context.Context, req *NightlyRequest, out *Nightly) (err error) {
	c := req.Curate
	c.Now, c.Apply = req.Now, true
	out.Curated, err = k.Curate(ctx, c)
	return err
}

func (k *Kernel) nightPrune(ctx context.Context, req *NightlyRequest, out *Nightly) (err error) {
	if out.Pruned, err = k.Prune(ctx, PruneRequest{PruneOptions: req.Prune, Apply: true, QuietTime: req.QuietTime, Now: req.Now}); err != nil {
		return err
	}
	return k.seen(ctx, req.Now)
}

func wait(ctx context.Context, d time.Duration, do bool) error {
	if !do || d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// lockNightly lets one process at a time do a night's upkeep.
func (k *Kernel) lockNightly() (func(), error) {
	ignoreState(k.state)
	release, err := k.state.Lock("nightly.lock", store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, ErrNightlyRuns
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return release, nil
}

// busy says which session was written to within a time, "" if none was.
func (k *Kernel) busy(idle time.Duration, now time.Time) (string, error) {
	if idle <= 0 {
		return "", nil
	}
	folders, err := k.sessionFolders()
	if err != nil {
		return "", err
	}
	for _, f := range folders {
		fi, err := k.folder(f).Stat(journalFile)
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

// mostJobBytes is how large the record of jobs gets before its older half goes.
const mostJobBytes = 1 << 20 // 1 MiB

// recordJob appends how a job went.
func (k *Kernel) recordJob(name, failure string, now time.Time) error {
	line, err := json.Marshal(struct {
		Time  time.Time `json:"time"`
		Job   string    `json:"job"`
		Error string    `json:"error"`
	}{now.UTC(), name, oneLine(k.masker.Text(failure))})
	if err != nil {
		return err
	}
	old, err := k.state.Get(JobsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record the job %s: %w", name, err)
	}
	// A line that a kill cut short is ended, so that the next can be read.
	if n := len(old); n > 0 && old[n-1] != '\n' || n > mostJobBytes {
		_, err := k.state.Put(store.Synced, store.Doc{Name: JobsFile, Data: append(wholeLines(old), append(line, '\n')...)})
		return err
	}
	f := k.state.Journal(JobsFile)
	defer f.Close()
	_, err = f.Append(int64(len(old)), append(line, '\n'), true)
	return err
}

// wholeLines are the lines of a record that are whole: all of a small one, the newer
// half of one that has grown too large.
func wholeLines(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] != '\n' {
		b = b[:len(b)-1]
	}
	if len(b) <= mostJobBytes {
		return b
	}
	b = b[len(b)/2:]
	for i, c := range b {
		if c == '\n' {
			return b[i+1:]
		}
	}
	return nil
}
