package kernel

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/progress"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

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
	Only, Skip []health.Code
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
func (k *Kernel) Audit(ctx context.Context, o AuditOptions) (*health.Report, error) {
	if k.memory == nil {
		return k.upkeep.Audit(ctx, upkeep.AuditOptions{})
	}
	if o.Host.Name == "" {
		o.Host, _ = consolidation.HostByName("openclaw")
	}
	if o.Limits == (consolidation.Limits{}) {
		o.Limits = consolidation.DefaultLimits()
	}
	opts := &k.memory.opts.Store
	now := nowOr(k, o.Now)
	co := consolidation.Options{Limits: o.Limits, Host: o.Host, Only: o.Only, Skip: o.Skip, Now: now, Timezone: opts.Timezone,
		Masker: k.masker, MaxFileBytes: opts.MaxFileBytes}
	state := store.Exists(k.state, "")
	if state {
		readable := sync.OnceValue(func() map[string]bool { return readable(ctx, k) })
		co.Resolves = func(id string) bool { return readable()[id] }
	}
	kept := map[health.Code]consolidation.Kept{}
	for code, find := range auditState {
		kept[code] = func(ctx context.Context, r *health.Report) error { return find(ctx, k, r, now) }
	}
	return k.upkeep.Audit(ctx, upkeep.AuditOptions{Options: co, Prune: o.Prune.filled(), JobFiles: o.JobFiles, NoState: !state, State: kept})
}

// auditState are the checks of what the kernel keeps.
var auditState = map[health.Code]func(context.Context, *Kernel, *health.Report, time.Time) error{
	health.Blobs: auditBlobs, health.Journals: auditJournals, health.Index: auditIndex,
}

// readable are the pages that memory names which can be read in a session. Each session is
// opened once, and none if memory names no page.
func readable(ctx context.Context, k *Kernel) map[string]bool {
	out := map[string]bool{}
	snap, err := k.upkeep.Snapshot(ctx)
	if err != nil {
		return out
	}
	named := snap.Mentioned()
	folders, err := folder.All(k.state)
	if err != nil {
		return out
	}
	for _, f := range progress.Over(ctx, "session", folders) {
		if len(out) == len(named) {
			break
		}
		s, unlock, err := k.sessions.Visit(ctx, f, false)
		if err != nil {
			continue
		}
		for id := range named {
			if c, err := contentOf(s, id); err == nil && c.Reason == ReasonOK {
				out[id] = true
			}
		}
		unlock()
	}
	return out
}

// auditJournals holds journals, pages, projections and blobs to their invariants.
func auditJournals(ctx context.Context, k *Kernel, r *health.Report, _ time.Time) error {
	found, err := found(ctx, k, stored)
	for _, f := range found {
		if f.Code = health.Journals; f.Session != "" {
			f.What = "session " + f.Session + ": " + f.What
		}
		r.Add(f)
	}
	return err
}

func anyBlob(k *Kernel) bool {
	for range k.blobs.Walk() {
		return true
	}
	return false
}

// auditBlobs tells the blobs that no page holds, together: one by one their names
// say nothing.
func auditBlobs(ctx context.Context, k *Kernel, r *health.Report, now time.Time) error {
	if !anyBlob(k) {
		return nil // no journal needs to be read
	}
	needed, err := erasure.Needed(ctx, k.state, nil)
	if err != nil {
		r.Skip(err.Error())
		return nil
	}
	n, bytes, example := 0, int64(0), ""
	err = erasure.Unneeded(k.blobs, needed, func(info store.BlobInfo) error {
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
		r.Add(health.Finding{Severity: health.Note,
			What: fmt.Sprintf("%d blobs of %d bytes belong to no page, such as %s", n, bytes, example), Hint: "'memkernel retain --apply' removes them"})
	}
	return err
}
