// Package maintain is a kernel's [api.Keeper]: it fills in the defaults of the hosts'
// requests about memory's files, and hands the requests to package upkeep, which does the work.
// It adds the parts that upkeep does not know: the project's journal, the working buffer, the
// checkpoints of a day, and whether sessions are quiet. It changes no file itself.
package maintain

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/inspect"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// Keeper answers requests. Its fields are set once, Sessions and Inspector before the first
// request.
type Keeper struct {
	State store.Store
	// Memory is nil if memory is off. Package upkeep decides which of memory's files are read and
	// which are refused.
	Memory   *memory.Memory
	Timezone *time.Location
	Upkeep   *upkeep.Keeper
	Masker   *mask.Masker
	Now      func() time.Time

	Sessions  *session.Table
	Inspector *inspect.Inspector
}

var _ api.Keeper = (*Keeper)(nil)

// Options are the parts of a keeper.
type Options struct {
	State   store.Store
	Backups *store.Blobs
	Masker  *mask.Masker
	Now     func() time.Time
	// Memory is nil if memory is off.
	Memory       *memory.Memory
	MaxFileBytes int64
	Timezone     *time.Location
}

// New makes a keeper, with an upkeep that uses its sessions.
func New(o Options) *Keeper {
	k := &Keeper{State: o.State, Memory: o.Memory, Timezone: o.Timezone, Masker: o.Masker, Now: o.Now}
	k.Upkeep = &upkeep.Keeper{Backups: o.Backups, Masker: o.Masker, State: o.State, Project: project{k}, Now: o.Now}
	if m := o.Memory; m != nil {
		k.Upkeep.Files, k.Upkeep.MaxFileBytes = m.Private, o.MaxFileBytes
		k.Upkeep.Buffer, k.Upkeep.Changed = buffer{m.Private}, m.Sync.Written
		m.Private.Guard(k.refuseLoss)
	}
	return k
}

// project is the journal that all sessions share, for runs over memory's files.
type project struct{ k *Keeper }

func (p project) Open(ctx context.Context, write bool) (upkeep.Journal, func(), error) {
	open := p.k.Sessions.Project
	if !write {
		open = func(ctx context.Context) (*session.Session, func(), error) {
			return p.k.Sessions.ReadFolder(ctx, folder.Project)
		}
	}
	s, end, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return session.RunsIn(s), end, nil
}

// buffer is the working buffer, for runs over memory's files.
type buffer struct{ files *markdownstore.Store }

func (buffer) Path() string               { return workstate.BufferPath }
func (buffer) Foreign(text string) string { return workstate.ForeignBuffer(text) }

func (b buffer) Read(ctx context.Context) (string, error) {
	text, err := workstate.ReadBuffer(b.files)
	if err != nil {
		return "", err
	}
	return text, ctx.Err()
}

func (b buffer) Clear(ctx context.Context, n int, hash string) error {
	if err := workstate.ClearBuffer(ctx, b.files, n, hash); err != nil {
		return fmt.Errorf("clear the working buffer: %w", err)
	}
	return ctx.Err()
}

// Audit is [api.Keeper.Audit].
func (k *Keeper) Audit(ctx context.Context, o api.AuditOptions) (*health.Report, error) {
	if k.Memory == nil {
		return k.Upkeep.Audit(ctx, upkeep.AuditOptions{})
	}
	if o.Host.Name == "" {
		o.Host, _ = consolidation.HostByName("openclaw")
	}
	now := nowOr(k, o.Now)
	co := consolidation.Options{Host: o.Host, Only: o.Only, Skip: o.Skip, Now: now, Timezone: k.Timezone,
		Masker: k.Masker, MaxFileBytes: k.Upkeep.MaxFileBytes}
	state := store.Exists(k.State, "")
	if state {
		co.Resolves = k.Inspector.Resolves(ctx)
	}
	return k.Upkeep.Audit(ctx, upkeep.AuditOptions{Options: co, JobFiles: o.JobFiles, NoState: !state, State: k.Inspector.Kept(now)})
}

// Curate is [api.Keeper.Curate].
func (k *Keeper) Curate(ctx context.Context, req api.CurateRequest) (*api.Curated, error) {
	o := upkeep.CurateOptions{Day: req.Day, Model: req.Model, Apply: req.Apply, Now: nowOr(k, req.Now)}
	c, err := k.Upkeep.Curate(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("curate: %w", err)
	}
	c.Applied = req.Apply
	c.Facts, err = k.Upkeep.Facts(ctx, &upkeep.FactOptions{Day: c.Day, Model: req.Model, Tokens: req.FactTokens, Price: req.Price, Apply: req.Apply})
	if err != nil {
		return nil, fmt.Errorf("curate: %w", err)
	}
	return c, ctx.Err()
}

// nowOr returns t, or the time of the kernel's clock if t is zero.
func nowOr(k *Keeper, t time.Time) time.Time {
	if t.IsZero() {
		return k.Now()
	}
	return t
}

// filled returns the thresholds as options of package consolidation, with defaults filled in.
func filled(o api.PruneOptions) consolidation.PruneOptions {
	return consolidation.PruneOptions{MemoryLines: cmp.Or(o.MemoryLines, consolidation.MachineLines), OwnerChars: cmp.Or(o.OwnerChars, 18_000), Include: o.Include}
}

// Prune is [api.Keeper.Prune].
func (k *Keeper) Prune(ctx context.Context, req api.PruneRequest) (*api.Pruned, error) {
	p, err := k.Upkeep.Prune(ctx, upkeep.PruneOptions{PruneOptions: filled(req.PruneOptions), QuietTime: req.QuietTime, Apply: req.Apply, Now: nowOr(k, req.Now)})
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	return p, ctx.Err()
}

// refuseLoss refuses a replacement of MEMORY.md that would lose lines. The store calls it before
// each replacement. A text that is backed up can't be lost.
func (k *Keeper) refuseLoss(path, before, after string) error {
	loss, err := k.Upkeep.LossOf(path, before, after)
	if err == nil && loss != nil {
		err = &api.LossError{Loss: loss}
	}
	return err
}

// Why is [api.Keeper.Why].
func (k *Keeper) Why(ctx context.Context, req api.WhyRequest) (*api.Grounds, error) {
	g, err := k.Upkeep.Why(ctx, req.Entry, nowOr(k, req.Now))
	if err != nil {
		return nil, fmt.Errorf("why: %w", err)
	}
	g.Use, err = k.Inspector.Use(ctx, g.Text)
	return g, err
}

// History is [api.Keeper.History].
func (k *Keeper) History(ctx context.Context, req api.HistoryRequest) (*api.History, error) {
	h, err := k.Upkeep.History(ctx, req, k.Now())
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return h, nil
}

// Provenance is [api.Keeper.Provenance].
func (k *Keeper) Provenance(ctx context.Context, path string, line int) (consolidation.Provenance, error) {
	p, err := k.Upkeep.Provenance(ctx, path, line)
	if err != nil {
		return p, fmt.Errorf("provenance: %w", err)
	}
	return p, nil
}

// Guard is [api.Keeper.Guard].
func (k *Keeper) Guard(ctx context.Context, req api.GuardRequest) (*consolidation.Loss, error) {
	loss, err := k.Upkeep.Guard(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return loss, ctx.Err()
}
