package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// Audit is [api.Keeper.Audit].
func (k *Keeper) Audit(ctx context.Context, req api.AuditOptions) (_ *health.Report, err error) {
	defer wrap("audit", &err)
	if k.Files == nil {
		return nil, errOff
	}
	if req.Host.Name == "" {
		req.Host, _ = consolidation.HostByName("openclaw")
	}
	now := k.at(req.Now)
	o := consolidation.Options{Host: req.Host, Only: req.Only, Skip: req.Skip, Now: now, Timezone: k.Timezone, Masker: k.Masker,
		Kept: map[health.Code]consolidation.Kept{health.MemoryLoss: k.auditLoss}}
	maps.Copy(o.Kept, k.Inspector.Kept(now))
	if store.Exists(k.State, "") {
		o.Resolves = k.Inspector.Resolves(ctx)
	} else {
		for code := range o.Kept {
			o.Kept[code] = func(_ context.Context, r *health.Report) error { r.Skip("there is no state folder"); return nil }
		}
	}
	o.Kept[health.MemorySize] = k.auditSize
	if o.Jobs, err = k.recordedJobs(req.JobFiles); err != nil {
		return nil, err
	}
	snap, err := k.ReadAll(ctx)
	if err != nil {
		return nil, err
	}
	return consolidation.Audit(ctx, snap, o)
}

// auditSize reports a MEMORY.md in which machines wrote more lines than pruning leaves.
func (k *Keeper) auditSize(ctx context.Context, report *health.Report) error {
	r, unlock, err := k.begin(ctx, api.RunSeen, time.Time{}, false)
	if err != nil {
		return err
	}
	defer unlock()
	l, err := k.Files.ReadFile("MEMORY.md")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, markdownstore.ErrDenied) {
		return nil
	}
	if err != nil {
		return err
	}
	rec, unread := r.record()
	if n := rec.MachineLines(l.Path, l.Text); n > consolidation.MachineLines {
		report.Add(health.Finding{Severity: health.Note, Place: health.Place{Path: l.Path}, What: fmt.Sprintf("has %d lines that machines wrote, the limit is %d", n, consolidation.MachineLines),
			Hint: "'memkernel prune --apply' moves those that matter least into topic files"})
	}
	return unread()
}

// recordedJobs reads the results of recorded jobs from files. Each named file must exist.
func (k *Keeper) recordedJobs(files []string) ([]consolidation.Job, error) {
	var out []consolidation.Job
	own := k.State.Where(api.JobsFile)
	for _, file := range append([]string{own}, files...) {
		read := os.ReadFile
		if file == own {
			read = func(string) ([]byte, error) { return k.State.Get(api.JobsFile) }
		}
		data, err := read(file)
		if file == own && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the record of jobs: %w", err)
		}
		jobs, err := consolidation.ReadJobs(file, data)
		if err != nil {
			return nil, fmt.Errorf("read the record of jobs: %w", err)
		}
		out = append(out, jobs...)
	}
	return out, nil
}

// auditLoss reports the lines that MEMORY.md has lost since a run last saw it.
func (k *Keeper) auditLoss(ctx context.Context, r *health.Report) error {
	loss, err := k.Guard(ctx, api.GuardRequest{})
	if err != nil {
		return err
	}
	if !loss.Refused {
		return ctx.Err()
	}
	var lines []string
	for _, l := range loss.Lost[:min(len(loss.Lost), 3)] {
		lines = append(lines, fmt.Sprintf("%.60q", strings.ToValidUTF8(k.Masker.Text(l.Text), "\uFFFD")))
	}
	r.Add(health.Finding{Severity: health.Error, Place: health.Place{Path: loss.Path},
		What: fmt.Sprintf("lost %d of %d lines since the last nightly run, such as %s", len(loss.Lost), loss.Lines, strings.Join(lines, ", ")),
		Hint: "'memkernel guard' lists them; bring back what was not meant to go"})
	return nil
}
