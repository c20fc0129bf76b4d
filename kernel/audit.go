package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
)

// JobsFile is where recorded jobs write down how they went, in the state folder:
// lines of JSON, {"time":…,"job":…,"error":…}.
const JobsFile = "jobs.jsonl"

// orphanAge is the age from which a blob that no page holds is told: a younger one
// may belong to a line that is just being written.
const orphanAge = time.Hour

// AuditOptions say what an audit looks at; the zero value of each field means the
// default.
type AuditOptions struct {
	// Limits are the thresholds; all of them 0 take [consolidation.DefaultLimits].
	consolidation.Limits
	// Host is whose limits hold for the files that a session begins with; default
	// OpenClaw's.
	Host consolidation.Host
	// Only and Skip name the checks to run, and those not to.
	Only, Skip []consolidation.CheckID
	// Prune are the thresholds of pruning: what it would leave over the limit of
	// MEMORY.md is found.
	Prune PruneOptions
	// JobFiles are records of jobs beside the state folder's own, see
	// [consolidation.ReadJobs].
	JobFiles []string
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// Audit looks for what is wrong with the workspace's Markdown, and with what is kept
// of it. It changes nothing: the workspace is opened to be read alone, and so is the
// state folder; not even a lock is taken.
func (k *Kernel) Audit(ctx context.Context, o AuditOptions) (*consolidation.Report, error) {
	if k.memory == nil {
		return nil, errors.New("audit: memory is switched off")
	}
	jobs, err := k.recordedJobs(o.JobFiles)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if o.Host.Name == "" {
		o.Host, _ = consolidation.HostByName("openclaw")
	}
	if o.Now.IsZero() {
		o.Now = k.now()
	}
	if o.Limits == (consolidation.Limits{}) {
		o.Limits = consolidation.DefaultLimits()
	}
	opts := &k.memory.opts.Store
	co := consolidation.Options{Limits: o.Limits, Host: o.Host, Only: o.Only, Skip: o.Skip, Now: o.Now, Timezone: opts.Timezone,
		Masker: k.masker, MaxFileBytes: opts.MaxFileBytes, Jobs: jobs}
	state := store.Exists(k.state, "")
	if state {
		readable := sync.OnceValue(func() map[string]bool { return k.readable(ctx) })
		co.Resolves = func(id string) bool { return readable()[id] }
	}
	r, err := consolidation.Audit(ctx, k.memory.private.FS(), co)
	if err != nil {
		return nil, err
	}
	if co.Runs(consolidation.CheckMemorySize) {
		if err := k.auditSize(ctx, r, &o); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
	}
	return r, k.auditState(ctx, r, &co, state)
}

// auditSize tells that pruning can't bring MEMORY.md down to its limit.
func (k *Kernel) auditSize(ctx context.Context, r *consolidation.Report, o *AuditOptions) error {
	if o.Prune.MemoryLines < 0 {
		r.Skip(consolidation.CheckMemorySize, "upkeep.memory_lines is 0")
		return nil
	}
	p, err := k.Prune(ctx, PruneRequest{PruneOptions: o.Prune, Now: o.Now})
	if err != nil {
		return err
	}
	for _, over := range p.Over {
		path, what, _ := strings.Cut(over, " ")
		if strings.EqualFold(path, "MEMORY.md") {
			r.Add(consolidation.CheckMemorySize, consolidation.Finding{Severity: consolidation.Note, Place: consolidation.Place{Path: path}, What: what,
				Hint: "shorten it by hand, let 'memkernel prune --include NAME' move what is named, or raise upkeep.memory_lines"})
		}
	}
	return nil
}

// recordedJobs reads how recorded jobs went. A record that was named must exist.
func (k *Kernel) recordedJobs(files []string) ([]consolidation.Job, error) {
	var out []consolidation.Job
	own := filepath.Join(k.stateDir, JobsFile)
	for _, file := range append([]string{own}, files...) {
		read := os.ReadFile
		if file == own {
			read = func(string) ([]byte, error) { return k.state.Get(JobsFile) }
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

// readable are the pages that memory names which can be read in a session. Each session is
// opened once, and none if memory names no page.
func (k *Kernel) readable(ctx context.Context) map[string]bool {
	out := map[string]bool{}
	snap, err := k.snapshot(ctx)
	if err != nil {
		return out
	}
	named := snap.Mentioned()
	folders, err := k.sessionFolders()
	if err != nil {
		return out
	}
	for _, f := range folders {
		if len(out) == len(named) {
			break
		}
		s, unlock, err := k.visit(ctx, f, false)
		if err != nil {
			continue
		}
		for id := range named {
			if c, err := s.get(id); err == nil && c.Reason == ReasonOK {
				out[id] = true
			}
		}
		unlock()
	}
	return out
}

// auditState runs the checks of what the kernel keeps.
func (k *Kernel) auditState(ctx context.Context, r *consolidation.Report, o *consolidation.Options, state bool) error {
	for _, c := range []struct {
		id  consolidation.CheckID
		run func(context.Context, *consolidation.Report, time.Time) error
	}{{consolidation.CheckMemoryLoss, k.auditLoss}, {consolidation.CheckBlobs, k.auditBlobs}, {consolidation.CheckJournals, k.auditJournals}, {consolidation.CheckIndex, k.auditIndex}} {
		if !o.Runs(c.id) {
			continue
		}
		if !state {
			r.Skip(c.id, "there is no state folder")
			continue
		}
		if err := c.run(ctx, r, o.Now); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	return ctx.Err()
}

// auditJournals holds journals, pages, projections and blobs to their invariants.
func (k *Kernel) auditJournals(ctx context.Context, r *consolidation.Report, _ time.Time) error {
	found, err := k.checkState(ctx)
	if err != nil {
		return err
	}
	for _, f := range found {
		what := f.What
		if f.Session != "" {
			what = "session " + f.Session + ": " + what
		}
		r.Add(consolidation.CheckJournals, consolidation.Finding{Severity: consolidation.Error, What: what, Hint: f.Hint})
	}
	return nil
}

func (k *Kernel) anyBlob() bool {
	for range k.blobs.Walk() {
		return true
	}
	return false
}

// auditBlobs tells the blobs that no page holds, together: one by one their names
// say nothing.
func (k *Kernel) auditBlobs(ctx context.Context, r *consolidation.Report, now time.Time) error {
	if !k.anyBlob() {
		return nil // no journal needs to be read
	}
	needed, err := neededBlobs(k.state, nil)
	if err != nil {
		r.Skip(consolidation.CheckBlobs, err.Error())
		return nil
	}
	n, bytes, example := 0, int64(0), ""
	err = k.unneeded(needed, func(info store.BlobInfo) error {
		at, err := k.blobs.Stat(info.Hash)
		if err != nil || now.Sub(at.Time) < orphanAge {
			return nil
		}
		if n++; n == 1 {
			example = info.Hash
		}
		bytes += info.Bytes
		return ctx.Err()
	})
	if n > 0 && err == nil {
		r.Add(consolidation.CheckBlobs, consolidation.Finding{Severity: consolidation.Note,
			What: fmt.Sprintf("%d blobs of %d bytes belong to no page, such as %s", n, bytes, example), Hint: "'memkernel retain --apply' removes them"})
	}
	return err
}
