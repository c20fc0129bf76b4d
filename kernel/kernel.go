// Package kernel plans the prompt before each model call of an agent, and learns from each turn. It
// composes the packages below it. Package api has the types of its requests and answers.
//
// A program calls [Open] with a folder of notes, and [Kernel.Session] for each conversation:
//
//   - [Session.Plan] before a model call takes the whole conversation and returns the prompt to
//     send. New messages and large results are stored first, so that nothing leaves the
//     prompt before it is in the journal.
//   - [Session.ObserveToolResult] may be called as results arrive. A kill in the middle of a long
//     loop then loses at most the running call.
//   - [Session.ObserveTurn] after a turn commits it, atomically and once.
//   - [Session.End] commits a conversation that is over.
//
// These methods call [Kernel.PlanContext], [Kernel.ObserveToolResult], [Kernel.ObserveTurn] and
// [Kernel.EndSession]. Further boundaries of a session are [Kernel.StartSession], [Kernel.Compact],
// [Kernel.Reset] and [Kernel.Flush]. [Kernel.Write] pins text that every prompt must show.
// [Kernel.Search], [Kernel.Read], [Kernel.Get] and [Kernel.Remember] reach memory; package tools
// offers them to models.
//
// A Kernel is safe for concurrent use, and several processes may share one state directory: a call
// locks its session. The kernel calls no model and opens no network connection unless its [Options]
// have a counter, an embedder, a compressor or a model for summaries.
package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/inspect"
	mem "github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/retain"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
)

// DefaultStateDir is the state directory's name inside a workspace.
const DefaultStateDir = ".memkernel"

// FindWorkspace returns the workspace of the folder dir, which must be an absolute path. It looks
// at dir, and then at each parent. The first folder with a state directory is the workspace, and
// set is then true. The first root of a git repository also ends the search: it is the workspace,
// and set is false. If there is neither, FindWorkspace returns "". It passes over some parents: the
// user's home, the root, and folders that every user may write to, such as /tmp.
func FindWorkspace(dir string) (workspace string, set bool) {
	home, _ := os.UserHomeDir() // without a known home, no folder is passed over as the home
	home, at := followed(home), followed(dir)
	for from := at; ; at = filepath.Dir(at) {
		switch st, err := os.Stat(filepath.Join(at, DefaultStateDir)); {
		case at != from && (at == home || at == filepath.Dir(at) || openToAll(at)):
			if at == filepath.Dir(at) {
				return "", false
			}
			continue
		case err == nil && st.IsDir() && at == from:
			return dir, true
		case err == nil && st.IsDir():
			return at, true
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, false
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// followed returns a path with its links resolved.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// openToAll reports whether every user of the machine may write to a folder.
func openToAll(dir string) bool {
	st, err := os.Stat(dir)
	return err != nil || runtime.GOOS != "windows" && st.Mode().Perm()&0o002 != 0
}

// Options configure a kernel. Nil, or the zero value, means the defaults.
type Options struct {
	// StateDir is the directory of derived state. Default: DefaultStateDir below the workspace.
	StateDir string
	// Prices is the price book. Default: the embedded price book.
	Prices *cachelayout.Book
	// WholeResults shows every result whole when the model sees it for the first time. By default
	// large results of JSON are shortened. Results that have been ingested stay as they are.
	WholeResults bool
	// Memory sets the parts of the workspace's Markdown that a kernel uses.
	Memory MemoryOptions
	// Policies are the host's rules for the updates that may be written. They apply to every
	// write of this kernel.
	Policies []journal.Policy
	// Life sets how the working state of a session is kept.
	Life LifeOptions
	// Redact lists texts that would be masked as secrets but are not secrets. All other secrets
	// are masked before anything is stored.
	Redact mask.Options
	// NoTrace keeps no records of a plan's decisions.
	NoTrace bool
	// TraceBytes is the size from which trace.jsonl is renamed to trace.1.jsonl and a new file
	// begins. The file is never renamed before it is four times as large as its first line. 0
	// takes 64 MiB.
	TraceBytes int64
	// LowWater is the size of the conversation that a cut keeps, in tokens. It is meant for
	// experiments. With 0 the cut planner chooses the size.
	LowWater int
	// Economy is a session's preference where memory costs money, unless a request sets its own:
	// save, balanced, keep, or a number from 0 to 1. Default: balanced.
	Economy cachelayout.Economy
	// Summary sets whether a model makes notes of sessions in the background.
	Summary api.SummaryOptions
	// KeepSessions is the number of sessions that are held in memory. Other sessions are read
	// again when they are used. 0 takes 64.
	KeepSessions int
	// Now is the clock for requests without a time. Default: time.Now.
	Now func() time.Time
	// Watch, if not nil, is called after each piece of work. The call is made by the goroutine
	// that did the work, with the context of the work. Calls may overlap. It must return quickly,
	// and must not call the kernel.
	Watch func(context.Context, *api.Done)

	// Store keeps the state instead of files in StateDir: journals, blobs, checkpoints and locks.
	// State of this machine alone, such as the index, stays in StateDir. The caller that opened
	// the store must close it, after the kernel.
	Store Store
}

// Store keeps a kernel's state. Package service/postgres has a Store. Only this module can
// implement the interface.
type Store interface {
	// State is for package kernel.
	State() store.Store
}

// Stored reads stored state without a kernel. It is for this module's own programs.
var Stored inspect.Stored

// Kernel plans prompts for the sessions of one workspace.
type Kernel struct {
	stateDir string
	state    store.Store // the state in it
	now      func() time.Time
	memory   *mem.Memory // nil if memory is off
	watch    watcher

	sessions *session.Table
	desk     *turn.Desk
	upkeep   *upkeep.Keeper
	inspect  *inspect.Inspector
	retain   *retain.Keeper
}

// Open opens the kernel of a workspace. It writes nothing: the state directory is made when there
// is state to keep. The error wraps [io/fs.ErrNotExist] or [io/fs.ErrPermission] if the workspace can't
// be read, and *[api.NumberError] if an option is out of range. If a newer version wrote the state
// directory, the first use of its session returns [api.ErrNewer].
func Open(ctx context.Context, workspaceDir string, opts *Options) (*Kernel, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	g, err := prepare(ctx, workspaceDir, &o)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", workspaceDir, err)
	}
	k := build(&o, g)
	if g.memory != nil {
		g.memory.Sync.Begin()
	}
	return k, ctx.Err()
}

// prepared holds the values that the parts of a kernel share.
type prepared struct {
	dir      string // of the workspace, absolute
	local    store.Disk
	state    store.Store
	masker   *mask.Masker
	memory   *mem.Memory // nil if memory is off
	contract session.Contract
}

// prepare checks the options, fills in their defaults, and opens state and memory.
func prepare(ctx context.Context, workspaceDir string, o *Options) (g prepared, err error) {
	if err := o.check(); err != nil {
		return g, fmt.Errorf("options: %w", err)
	}
	if err := o.Life.check(); err != nil {
		return g, err
	}
	if g.dir, err = filepath.Abs(workspaceDir); err != nil {
		return g, err
	}
	if st, err := os.Stat(g.dir); err != nil {
		return g, err
	} else if !st.IsDir() {
		return g, errors.New("not a directory")
	}
	if o.StateDir == "" {
		o.StateDir = filepath.Join(g.dir, DefaultStateDir)
		if _, err := store.FilesIn(g.dir, DefaultStateDir); err != nil {
			return g, fmt.Errorf("%w; if you made it so, name the folder itself as the state directory", err)
		}
	}
	g.local = store.Files(o.StateDir)
	g.state = g.local
	if o.Store != nil {
		g.state = o.Store.State()
	}
	if _, err := store.HalfMoved(g.state); err != nil {
		return g, err
	}
	if o.Prices == nil {
		o.Prices = cachelayout.DefaultBook()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Memory.setDefaults(o.StateDir)
	if g.masker, err = mask.NewMasker(o.Redact); err != nil {
		return g, fmt.Errorf("redact: %w", err)
	}
	if g.contract, err = session.NewContract(o.Policies); err != nil {
		return g, err
	}
	g.memory, err = openMemory(ctx, g.dir, g.local, g.state, o.Memory, g.masker, o.Now)
	return g, err
}

// build makes the parts of a kernel and connects them.
func build(o *Options, g prepared) *Kernel {
	m, state, local := g.memory, g.state, g.local
	k := &Kernel{stateDir: o.StateDir, state: state, now: o.Now, memory: m, watch: o.Watch}
	place := g.dir
	if m != nil && o.Memory.Files != nil {
		place = cmp.Or(m.Private.Place(), g.dir)
	}
	backups := store.BlobsIn(state.In(upkeep.BackupsFolder)) // earlier contents of memory's files
	none := func(key string) error { return noSession(state, key) }
	runs := &upkeep.Keeper{Backups: backups, Masker: g.masker, State: state, Now: o.Now, Timezone: o.Memory.Store.Timezone}
	if m != nil {
		runs.Files, runs.MaxFileBytes, runs.Changed = m.Private, o.Memory.Store.MaxFileBytes, m.Sync.Written
		m.Private.Guard(runs.RefuseLoss)
	}
	k.upkeep = runs
	life := &o.Life
	so := &session.Options{State: state, Local: local, Blobs: store.BlobsIn(state.In(folder.Blobs)), Masker: g.masker, Prices: o.Prices, Contract: g.contract,
		Memory: m, Upkeep: runs, Now: o.Now,
		Tracer: func(disk store.Disk, in string) *trace.Writer {
			if o.NoTrace {
				return nil
			}
			return trace.NewWriter(disk, in, trace.Version(), cmp.Or(o.TraceBytes, 64<<20))
		},
		Life: workstate.Options{Off: life.Off, Thresholds: life.Thresholds, FlushOff: life.NoFlush, StateFileOff: life.NoStateFile, BufferOff: life.NoBuffer, BufferAt: cmp.Or(life.BufferAt, bufferShare)},
		Keep: max(cmp.Or(o.KeepSessions, 64), 1)}
	k.sessions = session.NewTable(so)
	k.desk = &turn.Desk{Options: so, Sessions: k.sessions, Counts: budget.NewCache(0), WholeResults: o.WholeResults,
		Carry: o.Memory.carry(), LowWater: o.LowWater, Economy: o.Economy, Edits: cmp.Or(o.Memory.Edits, api.EditOwn),
		PlanLife: plan.Life{Off: life.Off, NoRestore: life.NoRestore, Thresholds: life.Thresholds, FlushOff: life.NoFlush}, Habits: turn.HabitsIn(state)}
	if o.Watch != nil {
		k.desk.Recalled = func(ctx context.Context, began time.Time, r *retrieval.Result) {
			o.Watch(ctx, &api.Done{Op: api.OpRecall, Began: began, Took: time.Since(began), Found: len(r.Hits), Reason: r.Reason})
		}
	}
	k.inspect = &inspect.Inspector{Options: so, Workspace: place, StateDir: o.StateDir, Elsewhere: state.Where("") != local.Where(""), Backups: backups, Sessions: k.sessions, Set: o.Memory.status(place), IndexPath: indexPath(o.StateDir), Embedder: o.Memory.Embedder,
		StateFile: !life.Off && !life.NoStateFile, Buffer: !life.Off && !life.NoBuffer, NoSession: none}
	runs.Project, runs.Inspector = k.sessions.Runs(), k.inspect
	k.retain = &retain.Keeper{Options: so, Sessions: k.sessions, Past: k.inspect.Set.Sessions.Enabled, Shared: k.desk.Shared, NoSession: none}
	if o.Summary.Model != nil {
		so := o.Summary // 4,000 tokens are a few tool calls, so there is a request every few turns
		so.Tokens, so.After, so.DeltaTokens = cmp.Or(so.Tokens, 4_000), cmp.Or(so.After, 15*time.Minute), cmp.Or(so.DeltaTokens, 24_000)
		so.Timeout, so.CloseWait = cmp.Or(so.Timeout, time.Minute), cmp.Or(so.CloseWait, 2*time.Second)
		k.desk.Notes = notes.NewTaker(so, state, o.Now)
	}
	return k
}

// Close releases the kernel's sessions. It is idempotent. It waits [api.SummaryOptions.CloseWait] for
// a model that is making notes.
func (k *Kernel) Close() error {
	k.desk.Notes.Stop()
	closed := k.sessions.Close()
	if m := k.memory; m != nil && !closed {
		return m.Close()
	}
	return nil
}

// StateDir returns the directory of derived state.
func (k *Kernel) StateDir() string { return k.stateDir }

// Maintenance returns the upkeep of the workspace's memory files: audit, curation, pruning.
func (k *Kernel) Maintenance() api.Keeper { return k.upkeep }
