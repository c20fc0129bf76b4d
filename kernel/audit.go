package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

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
		co.Resolves = k.inspect.Resolves(ctx)
	}
	return k.upkeep.Audit(ctx, upkeep.AuditOptions{Options: co, Prune: o.Prune.filled(), JobFiles: o.JobFiles, NoState: !state, State: k.inspect.Kept(now)})
}
