package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

// Nightly is [api.Keeper.Nightly].
func (k *Keeper) Nightly(ctx context.Context, req api.NightlyRequest) (*api.Nightly, error) {
	if k.Memory == nil {
		return nil, errors.New("nightly: memory is switched off")
	}
	if req.Now.IsZero() {
		req.Now = k.Now()
	}
	out := &api.Nightly{Steps: []api.NightlyStep{}}
	if busy, err := busy(k, req.Idle, req.Now); err != nil || busy != "" {
		out.Skipped = busy
		return out, err
	}
	if none, err := nothing(ctx, k); err != nil || none {
		out.Skipped = "the workspace holds no Markdown and no session yet"
		return out, err
	}
	jobs := []upkeep.Job{{Name: api.StepAudit, Run: func() error { return nightAudit(ctx, k, &req, out) }}, {Name: api.StepCurate, Run: func() error { return nightCurate(ctx, k, &req, out) }},
		{Name: api.StepPrune, Run: func() error { return nightPrune(ctx, k, &req, out) }}}
	if req.QuietTime {
		jobs = jobs[1:]
	}
	if req.DryRun {
		return out, preview(jobs, out)
	}
	store.KeepOutOfGit(k.State)
	var names []string
	for _, j := range jobs {
		names = append(names, j.Name)
	}
	due := func() (string, error) { return done(k, names, req.Once, req.Now) }
	came, skipped, err := k.Upkeep.Nightly(ctx, upkeep.Night{Jobs: jobs, Due: due, Before: req.Before, Now: req.Now})
	if out.Skipped = skipped; skipped != "" {
		return out, err
	}
	if came == nil {
		return nil, err
	}
	out.Steps = append(out.Steps, came...)
	return out, err
}

// preview runs the jobs of a night that writes nothing.
func preview(jobs []upkeep.Job, out *api.Nightly) error {
	for _, j := range jobs {
		if err := j.Run(); err != nil {
			return err
		}
		out.Steps = append(out.Steps, api.NightlyStep{Step: j.Name, Outcome: "ok"})
	}
	return nil
}

func nightAudit(ctx context.Context, k *Keeper, req *api.NightlyRequest, out *api.Nightly) (err error) {
	req.Audit.Now = req.Now
	out.Audit, err = k.Audit(ctx, req.Audit)
	return err
}

// nightCurate also curates the day that ends with the night, because a run after midnight finds
// most entries in yesterday's log.
func nightCurate(ctx context.Context, k *Keeper, req *api.NightlyRequest, out *api.Nightly) (err error) {
	c := req.Curate
	c.Now, c.Apply = req.Now, !req.DryRun
	out.Curated, err = k.Curate(ctx, c)
	return err
}

func nightPrune(ctx context.Context, k *Keeper, req *api.NightlyRequest, out *api.Nightly) (err error) {
	if out.Pruned, err = k.Prune(ctx, api.PruneRequest{PruneOptions: req.Prune, Apply: !req.DryRun, QuietTime: req.QuietTime, Now: req.Now}); err != nil || req.DryRun {
		return err
	}
	return k.Upkeep.Seen(ctx, req.Now)
}

// done returns when jobs last succeeded, or "" if they did not succeed within once. Clocks of
// machines may differ, so a job that was done in this machine's future counts.
func done(k *Keeper, jobs []string, once time.Duration, now time.Time) (string, error) {
	if once <= 0 {
		return "", nil
	}
	last, err := upkeep.LastRun(k.State, jobs...)
	if age := now.Sub(last); err == nil && age < once {
		return fmt.Sprintf("it was done %s ago, and once in %s is asked for", max(age, 0).Round(time.Second), once), nil
	}
	return "", err
}

// nothing reports whether the workspace has no session, and no file that upkeep reads.
func nothing(ctx context.Context, k *Keeper) (bool, error) {
	for range k.Memory.Private.Walk(ctx) {
		return false, nil
	}
	folders, err := folder.All(k.State)
	return len(folders) == 0, err
}

// busy returns the name of a session that was written to within idle, or "" if no session was.
func busy(k *Keeper, idle time.Duration, now time.Time) (string, error) {
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
