package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
)

// AuditOptions configure an audit.
type AuditOptions struct {
	// Options are the options for the workspace's files. Audit sets Jobs.
	consolidation.Options
	// Prune are the thresholds of pruning. Audit reports how many bytes pruning would leave over
	// the limit of MEMORY.md.
	Prune consolidation.PruneOptions
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
	o.Kept[health.MemorySize] = func(ctx context.Context, r *health.Report) error { return k.auditSize(ctx, r, &o) }
	return consolidation.Audit(ctx, k.Files.FS(), o.Options)
}

// auditSize reports that pruning can't bring MEMORY.md down to its limit.
func (k *Keeper) auditSize(ctx context.Context, r *health.Report, o *AuditOptions) error {
	p, err := k.Prune(ctx, PruneOptions{PruneOptions: o.Prune, Now: o.Now})
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	for _, over := range p.Over {
		path, what, _ := strings.Cut(over, " ")
		if strings.EqualFold(path, "MEMORY.md") {
			r.Add(health.Finding{Severity: health.Note, Place: health.Place{Path: path}, What: what,
				Hint: "shorten it by hand, or let 'memkernel prune --include NAME' move what is named"})
		}
	}
	return ctx.Err()
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
