package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/progress"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/summary"
)

// Memory's files are kept good by package upkeep; what follows gives it the project's
// journal and the working buffer.

// newKeeper gives the keeper of the workspace's files, made when the kernel is opened.
func (k *Kernel) newKeeper() *upkeep.Keeper {
	u := &upkeep.Keeper{Backups: k.backups, Masker: k.masker, State: k.state, Project: project{k}}
	if m := k.memory; m != nil {
		u.Files, u.MaxFileBytes, u.LossShare = m.Private, m.opts.Store.MaxFileBytes, m.opts.lossShare()
		u.Buffer, u.Changed = buffer{k}, m.Sync.Written
	}
	return u
}

// project is the journal that all sessions share, for runs over memory's files.
type project struct{ k *Kernel }

func (p project) Open(ctx context.Context, write bool) (upkeep.Journal, func(), error) {
	s, unlock, err := p.k.sessions.Use(ctx, folder.Project, folder.Project, write)
	if err != nil {
		return nil, nil, err
	}
	return session.RunsIn(s), unlock, nil
}

// buffer is the working buffer, for runs over memory's files.
type buffer struct{ k *Kernel }

func (buffer) Path() string               { return workstate.BufferPath }
func (buffer) Foreign(text string) string { return workstate.ForeignBuffer(text) }

func (b buffer) Read(ctx context.Context) (string, error) {
	read, err := b.k.ReadBuffer(ctx)
	if err != nil {
		return "", err
	}
	return read.Text, nil
}

func (b buffer) Clear(ctx context.Context, n int, hash string) error {
	return b.k.ClearBuffer(ctx, &Buffered{Bytes: n, Hash: hash})
}

// CurateRequest asks what of a day is worth a place in MEMORY.md.
type CurateRequest struct {
	// Day is the day whose log is read, YYYY-MM-DD in the user's time zone; "" is
	// that of Now.
	Day string
	// NearDuplicate is the share of their words, in threes, from which two entries
	// say the same; 0 takes that of the audit.
	NearDuplicate float64
	// Model may reword and drop what was chosen, within bounds. Nil asks nobody.
	Model summary.Model
	// Apply writes it. Without it nothing is written at all.
	Apply bool
	Now   time.Time
}

// Curated says what a day came to.
type Curated struct {
	consolidation.Curation
	Applied bool `json:"applied"`
	// Run names what was written, for an undo.
	Run string `json:"run"`
	// BufferBytes is what was read of the working buffer; pruning empties so much of
	// it.
	BufferBytes int `json:"buffer_bytes"`
	// Advice is the model's.
	Advice CurateAdvice `json:"advice"`
}

// CurateAdvice says what a model was asked, and what became of it.
type CurateAdvice struct {
	// Model is its name, "" if none was asked; Reason is OK, or why the entries stand
	// as they were chosen.
	Model  string         `json:"model"`
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail"`
	consolidation.Advised
}

// Curate brings what the day's log, the working buffer and the checkpoints hold into
// MEMORY.md: a few entries that aren't there yet, appended under the day's heading. It
// rewrites nothing, and writes nothing where there is nothing to say. The buffer is
// read and stays; what was read of it is committed, so that pruning may empty it.
func (k *Kernel) Curate(ctx context.Context, req CurateRequest) (*Curated, error) {
	o := upkeep.CurateOptions{Day: req.Day, NearDuplicate: req.NearDuplicate, Model: req.Model, Extra: func(day string) ([]consolidation.Extra, error) { return checkpointed(ctx, k, day) }, Apply: req.Apply, Now: nowOr(k, req.Now)}
	if o.NearDuplicate == 0 {
		o.NearDuplicate = consolidation.DefaultLimits().NearDuplicate
	}
	c, err := k.upkeep.Curate(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("curate: %w", err)
	}
	return &Curated{Curation: c.Curation, Applied: req.Apply, Run: c.Run, BufferBytes: c.BufferBytes, Advice: CurateAdvice(c.Advice)}, ctx.Err()
}

// nowOr is a moment, or if it is zero that of the kernel's clock.
func nowOr(k *Kernel, t time.Time) time.Time {
	if t.IsZero() {
		return k.now()
	}
	return t
}

// checkpointed are the decisions and learnings of the newest checkpoint of each
// session that was written on a day.
func checkpointed(ctx context.Context, k *Kernel, day string) ([]consolidation.Extra, error) {
	folders, err := folder.All(k.state)
	if err != nil {
		return nil, err
	}
	var out []consolidation.Extra
	for _, f := range progress.Over(ctx, "session", folders) {
		c, _, err := checkpoint.NewStore(folder.In(k.state, f)).Latest()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the checkpoints of session %s: %w", f, err)
		}
		if c == nil || k.memory.Private.Today(c.Meta.CreatedAt.Time) != day {
			continue
		}
		ref := f + "/" + string(c.Meta.CheckpointID)
		for _, d := range c.Decisions {
			out = append(out, consolidation.Extra{Text: string(d.What), Tags: workstate.Judge("decision", string(d.What), nil), Ref: ref})
		}
		for _, l := range c.Learnings {
			out = append(out, consolidation.Extra{Text: string(l), Tags: workstate.Judge("lesson", string(l), nil), Ref: ref})
		}
	}
	return out, nil
}

// PruneOptions are the thresholds of pruning; 0 takes the default, negative
// switches off.
type PruneOptions struct {
	// MemoryLines is how long MEMORY.md may get, default [DefaultMemoryLines].
	MemoryLines int
	// ObservationLines is the length from which observations.md is trimmed to
	// ObservationRest lines; defaults 100 and 60.
	ObservationLines, ObservationRest int
	// ObservationDays is the age from which an observation without a tag goes, and
	// DoneDays that from which a task that is done does; default 7.
	ObservationDays, DoneDays int
	// LogDays is the age from which a log's decisions and lessons are brought into
	// topic files; default [consolidation.LogDays].
	LogDays int
	// NearDuplicate: see [CurateRequest].
	NearDuplicate float64
	// Owners are the files that stable facts move to, default USER.md, TOOLS.md and
	// IDENTITY.md, each while it has fewer than OwnerChars characters, default
	// 18,000: where a host's limit is near.
	Owners     []string
	OwnerChars int
	// Include names what somebody else wrote and may leave as well, see
	// [consolidation.PruneOptions].
	Include []string
}

// DefaultMemoryLines is how long MEMORY.md may get: every session begins with it.
const DefaultMemoryLines = 50

// filled are the thresholds with their defaults, as package consolidation has them.
func (o PruneOptions) filled() consolidation.PruneOptions {
	for _, f := range []struct {
		to *int
		by int
	}{{&o.MemoryLines, DefaultMemoryLines}, {&o.ObservationLines, 100}, {&o.ObservationRest, 60}, {&o.ObservationDays, 7}, {&o.DoneDays, 7},
		{&o.LogDays, consolidation.LogDays}, {&o.OwnerChars, 18_000}} {
		if *f.to == 0 {
			*f.to = f.by
		}
	}
	if o.NearDuplicate == 0 {
		o.NearDuplicate = consolidation.DefaultLimits().NearDuplicate
	}
	if o.Owners == nil {
		o.Owners = []string{"USER.md", "TOOLS.md", "IDENTITY.md"}
	}
	return consolidation.PruneOptions{MemoryLines: o.MemoryLines, ObservationLines: o.ObservationLines, ObservationRest: o.ObservationRest, ObservationDays: o.ObservationDays,
		DoneDays: o.DoneDays, LogDays: o.LogDays, NearDuplicate: o.NearDuplicate, Owners: o.Owners, OwnerChars: o.OwnerChars, Include: o.Include}
}

// PruneRequest asks what should leave the files of memory.
type PruneRequest struct {
	PruneOptions
	// Apply does it. Without it nothing is written at all.
	Apply bool
	// QuietTime prunes observations and the working buffer alone.
	QuietTime bool
	Now       time.Time
}

// Pruned says what left which file, or would.
type Pruned struct {
	consolidation.Pruning
	Applied bool `json:"applied"`
	// Run names what was done, for an undo.
	Run string `json:"run"`
	// BufferBytes is what of the working buffer goes: what a curation has read.
	BufferBytes int `json:"buffer_bytes"`
	// BufferLeft is what stays of it: what none has read.
	BufferLeft int `json:"buffer_left"`
	// Kept are files that were left alone, and why: somebody changed them meanwhile, or
	// they hold what is taken for a secret.
	Kept []string `json:"kept"`
}

// Prune takes out of memory's files what no longer holds, and moves what MEMORY.md
// has no room for to the files that own it. Only what the kernel wrote itself, and
// stands as it was written, leaves, and what is named by Include; of all else it says
// what could. All that is touched is backed up first, nothing that is not a day old
// leaves, and of the working buffer go the kernel's entries that a committed curation
// has read.
func (k *Kernel) Prune(ctx context.Context, req PruneRequest) (*Pruned, error) {
	p, err := k.upkeep.Prune(ctx, upkeep.PruneOptions{PruneOptions: req.PruneOptions.filled(), QuietTime: req.QuietTime, Apply: req.Apply, Now: nowOr(k, req.Now)})
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	return (*Pruned)(p), ctx.Err()
}

// Undone says what an undo brought back.
type Undone struct {
	// Run is the pruning that was taken back, Time when it was.
	Run  string    `json:"run"`
	Time time.Time `json:"time"`
	// Files are those that are as they were.
	Files []string `json:"files"`
}

// UndoPrune takes back the last pruning: its files become what they were, and what
// left may come again. If one of them has changed since, nothing is done, and the
// error names it.
func (k *Kernel) UndoPrune(ctx context.Context, now time.Time) (*Undone, error) {
	u, err := k.upkeep.UndoPrune(ctx, nowOr(k, now))
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	return (*Undone)(u), ctx.Err()
}

// ErrLoss is what a [LossError] is.
var ErrLoss = errors.New("too much of memory would be lost")

// LossError refuses a change of MEMORY.md that loses too much of it.
type LossError struct{ *consolidation.Loss }

func (e *LossError) Error() string {
	return fmt.Sprintf("%s would lose %d of its %d lines, %.0f %%, and %.0f %% is the most: the first is line %d, %q", e.Path, len(e.Lost), e.Lines,
		100*e.Share, 100*e.Limit, e.Lost[0].Line, archive.Head(e.Lost[0].Text, 80))
}

// Is makes every LossError an ErrLoss.
func (e *LossError) Is(target error) bool { return target == ErrLoss }

// refuseLoss is asked by the store before MEMORY.md is replaced, by whomever: what is
// backed up can't be lost.
func (k *Kernel) refuseLoss(path, before, after string) error {
	loss, err := k.upkeep.LossOf(path, before, after)
	if err == nil && loss != nil {
		err = &LossError{loss}
	}
	return err
}

// GuardRequest asks whether MEMORY.md lost what it should not have.
type GuardRequest struct {
	// Before is what it was, such as what version control has of it; nil takes what
	// the last run over memory's files left.
	Before *string
	// After is what it is to become; nil takes the file.
	After *string
	// Limit is the share of its lines that may be lost; 0 takes the kernel's.
	Limit float64
}

// Guard says what MEMORY.md lost that stands neither in an owning file, a topic or the
// archive, nor was taken out by a pruning, which has it in a backup. It changes
// nothing.
func (k *Kernel) Guard(ctx context.Context, req GuardRequest) (*consolidation.Loss, error) {
	loss, err := k.upkeep.Guard(ctx, upkeep.GuardOptions(req))
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return loss, ctx.Err()
}
