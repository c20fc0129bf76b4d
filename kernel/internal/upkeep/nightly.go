package upkeep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// Nightly is [api.Keeper.Nightly]. Only one process runs jobs at a time. The state directory must
// exist.
func (k *Keeper) Nightly(ctx context.Context, req api.NightlyRequest) (*api.Nightly, error) {
	if k.Files == nil {
		return nil, fmt.Errorf("nightly: %w", errOff)
	}
	req.Now = k.at(req.Now)
	out := &api.Nightly{Steps: []api.NightlyStep{}}
	if busy, err := k.busy(req.Idle, req.Now); err != nil || busy != "" {
		out.Skipped = busy
		return out, err
	}
	folders, err := folder.All(k.State)
	none := len(folders) == 0
	for range k.Files.Walk(ctx) {
		none, err = false, nil
		break
	}
	if err != nil || none {
		out.Skipped = "the workspace holds no Markdown and no session yet"
		return out, err
	}
	jobs := k.jobs(ctx, &req, out)
	if req.DryRun {
		for _, j := range jobs {
			if err := j.run(); err != nil {
				return out, err
			}
			out.Steps = append(out.Steps, api.NightlyStep{Step: j.name, Outcome: "ok"})
		}
		return out, nil
	}
	store.KeepOutOfGit(k.State)
	unlock, err := k.State.Lock("nightly.lock", store.Alone) // one process at a time
	if _, held := errors.AsType[*store.LockedError](err); held {
		return nil, fmt.Errorf("nightly: %w", api.ErrNightlyRuns)
	}
	if err != nil {
		return nil, fmt.Errorf("nightly: lock: %w", err)
	}
	defer unlock()
	if out.Skipped, err = k.doneWithin(jobs, req.Once, req.Now); err != nil || out.Skipped != "" {
		return out, err
	}
	k.last.Store(&consolidation.Snapshot{})
	defer k.last.Store(nil)
	if req.Before != nil {
		if err := req.Before(ctx); err != nil {
			return nil, err
		}
	}
	out.Steps, err = k.run(ctx, jobs, req.Now)
	return out, err
}

// job is a job, with the name under which it is recorded.
type job struct {
	name string
	run  func() error
}

// jobs returns the jobs of a night, which run one after the other.
func (k *Keeper) jobs(ctx context.Context, req *api.NightlyRequest, out *api.Nightly) []job {
	audit := func() (err error) {
		req.Audit.Now = req.Now
		out.Audit, err = k.Audit(ctx, req.Audit)
		return err
	}
	curate := func() (err error) {
		out.Curated, err = k.Curate(ctx, api.CurateRequest{Now: req.Now, Apply: !req.DryRun})
		return err
	}
	prune := func() (err error) {
		if out.Pruned, err = k.Prune(ctx, api.PruneRequest{PruneOptions: req.Prune, Apply: !req.DryRun, QuietTime: req.QuietTime, Now: req.Now}); err != nil || req.DryRun {
			return err
		}
		return k.Seen(ctx, req.Now)
	}
	all := []job{{api.StepAudit, audit}, {api.StepCurate, curate}, {api.StepPrune, prune}}
	if req.QuietTime {
		return all[1:]
	}
	return all
}

// run runs jobs in order, and skips all jobs after a failed one. It appends the results to
// [api.JobsFile].
func (k *Keeper) run(ctx context.Context, jobs []job, now time.Time) ([]api.NightlyStep, error) {
	out := []api.NightlyStep{}
	failed := ""
	for _, j := range longwork.Over(ctx, "step", jobs) {
		if failed != "" {
			out = append(out, api.NightlyStep{Step: j.name, Outcome: "skipped", Error: failed + " failed"})
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = j.run()
		}
		c := api.NightlyStep{Step: j.name, Outcome: "ok"}
		if err != nil {
			c.Outcome, c.Error, failed = "failed", err.Error(), j.name
		}
		out = append(out, c)
		if err := k.recordJob(j.name, c.Error, now); err != nil {
			return out, fmt.Errorf("nightly: %w", err)
		}
	}
	return out, ctx.Err()
}

// doneWithin returns a text that says when jobs last succeeded, or "" if they did not all succeed
// within once. The clocks of machines may differ, so a success in this machine's future counts.
func (k *Keeper) doneWithin(jobs []job, once time.Duration, now time.Time) (string, error) {
	if once <= 0 {
		return "", nil
	}
	record, err := k.State.Get(api.JobsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read what jobs were done: %w", err)
	}
	runs, _ := consolidation.ReadJobs(api.JobsFile, wholeLines(record)) // a damaged record counts as no job
	oldest := time.Duration(0)
	for _, j := range jobs {
		i := slices.IndexFunc(runs, func(r consolidation.Job) bool { return r.Name == j.name && r.Error == "" })
		if i < 0 || now.Sub(runs[i].Time) >= once {
			return "", nil
		}
		oldest = max(oldest, now.Sub(runs[i].Time))
	}
	return fmt.Sprintf("it was done %s ago, and once in %s is asked for", oldest.Round(time.Second), once), nil
}

// busy returns a text that names a session that was written to within idle, or "" if there is none.
func (k *Keeper) busy(idle time.Duration, now time.Time) (string, error) {
	if idle <= 0 {
		return "", nil
	}
	folders, err := folder.All(k.State)
	if err != nil {
		return "", err
	}
	for _, f := range folders {
		fi, err := folder.In(k.State, f).Stat(folder.JournalFile)
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

// mostJobBytes is the size from which the older half of the record of jobs is removed.
const mostJobBytes = 1 << 20 // 1 MiB

// recordJob appends the outcome of a job to the record.
func (k *Keeper) recordJob(name, failure string, now time.Time) error {
	line, err := json.Marshal(struct {
		Time  time.Time `json:"time"`
		Job   string    `json:"job"`
		Error string    `json:"error"`
	}{now.UTC(), name, strings.Join(strings.Fields(k.Masker.Text(failure)), " ")})
	if err != nil {
		return err
	}
	old, err := k.State.Get(api.JobsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record the job %s: %w", name, err)
	}
	// Earlier versions appended to the file, so that a kill could leave an incomplete last line.
	_, err = k.State.Put(store.Synced, store.Doc{Name: api.JobsFile, Data: append(wholeLines(old), append(line, '\n')...)})
	return err
}

// wholeLines returns the complete lines of a record. If the record is too large, it returns only
// the newer half of them.
func wholeLines(b []byte) []byte {
	if b = b[:bytes.LastIndexByte(b, '\n')+1]; len(b) > mostJobBytes {
		_, b, _ = bytes.Cut(b[len(b)/2:], []byte("\n"))
	}
	return b
}
