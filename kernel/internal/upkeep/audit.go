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
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// AuditOptions configure an audit.
type AuditOptions struct {
	// Options are the options for the workspace's files. Audit sets Jobs.
	consolidation.Options
	// JobFiles are records of jobs in addition to the state directory's own.
	JobFiles []string
	// State are the checks of the state that is kept next to memory.
	State map[health.Code]consolidation.Kept
	// NoState reports that the state directory does not exist. The checks in State and the check
	// for losses are then skipped.
	NoState bool
}

// Audit reports the faults of the workspace's Markdown, and of the state about the workspace. It
// changes nothing.
func (k *Keeper) Audit(ctx context.Context, o AuditOptions) (*health.Report, error) {
	if k.Files == nil {
		return nil, fmt.Errorf("audit: %w", errOff)
	}
	var err error
	if o.Jobs, err = k.recordedJobs(o.JobFiles); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	o.Kept = map[health.Code]consolidation.Kept{health.MemoryLoss: k.auditLoss}
	maps.Copy(o.Kept, o.State)
	if o.NoState {
		for code := range o.Kept {
			o.Kept[code] = func(_ context.Context, r *health.Report) error { r.Skip("there is no state folder"); return nil }
		}
	}
	o.Kept[health.MemorySize] = k.auditSize
	o.Derived = k.derived.Load()
	if o.Snapshot, err = k.ReadAll(ctx); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return consolidation.Audit(ctx, k.Files.FS(), o.Options)
}

// auditSize reports that machines wrote more lines of MEMORY.md than pruning leaves.
func (k *Keeper) auditSize(ctx context.Context, report *health.Report) error {
	r, unlock, err := k.begin(ctx, kindSeen, time.Time{}, false)
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
	if n := consolidation.MachineLinesOf(l.Path, l.Text, rec); n > consolidation.MachineLines {
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

// auditLoss reports the lines that MEMORY.md lost since a nightly run last saw it.
func (k *Keeper) auditLoss(ctx context.Context, r *health.Report) error {
	loss, err := k.Guard(ctx, api.GuardRequest{})
	if err != nil {
		return fmt.Errorf("guard: %w", err)
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
