package kernel

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// A harness calls the kernel at six points. Each call changes the stored state:
//
//	session start       StartSession       the session is read, or made; its pins are shown from the first plan
//	prompt assembly     PlanContext        ingest, then the projection; a cut commits the summary first
//	tool result         ObserveToolResult  ingest
//	to make room        Compact            ingest, commit point "compaction", then the cut
//	before reset        Reset              ingest, commit point "reset", then a new epoch
//	session end         EndSession         ingest, commit point "session_end", the journal compacted
//
// ObserveTurn is the commit point "turn". Flush is a commit point on demand.

// StartSession must be called when a session begins or is resumed. It reads the session's stored
// state. Messages may be empty.
func (k *Kernel) StartSession(ctx context.Context, b api.Boundary) (*api.Passed, error) {
	if b.Reason == "" {
		b.Reason = turn.StartReason
	}
	if k.memory != nil {
		k.memory.Sync.SessionStarts()
	}
	return k.desk.Pass(ctx, b, journal.PointFlush)
}

// Flush makes the known state durable now. If the session does not exist and there are neither
// messages nor updates, Flush returns an [api.NoSessionError]. Reset and EndSession do the same.
func (k *Kernel) Flush(ctx context.Context, b api.Boundary) (*api.Passed, error) {
	return pass(ctx, k, b, journal.PointFlush)
}

// Reset commits the known state and resets the session. The summary and the projections are empty
// afterwards. Journal, pages, pins and blobs stay.
func (k *Kernel) Reset(ctx context.Context, b api.Boundary) (*api.Passed, error) {
	return pass(ctx, k, b, journal.PointReset)
}

// EndSession commits the known state. The session can be resumed.
func (k *Kernel) EndSession(ctx context.Context, b api.Boundary) (*api.Passed, error) {
	return pass(ctx, k, b, journal.PointSessionEnd)
}

func pass(ctx context.Context, k *Kernel, b api.Boundary, point journal.CommitPoint) (*api.Passed, error) {
	if err := begun(k, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", point, err)
	}
	return k.desk.Pass(ctx, b, point)
}

// begun returns an error if a boundary's session does not exist and the boundary brings no messages
// or updates. With messages or updates the boundary begins the session.
func begun(k *Kernel, b *api.Boundary) error {
	if len(b.Messages) > 0 || len(b.Updates) > 0 {
		return nil
	}
	return known(k.state, k.sessions, b.SessionKey)
}

// Checkpoint writes the working state of the session's main line if it differs from the newest
// checkpoint. It returns the newest checkpoint, nil if no state has been captured. If the session
// does not exist and no messages are handed in, it returns an [api.NoSessionError].
func (k *Kernel) Checkpoint(ctx context.Context, b api.Boundary) (*checkpoint.Checkpoint, error) {
	if err := begun(k, &b); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return k.desk.Checkpoint(ctx, b)
}

// Hooks returns the functions for hosts' hooks that add text to prompts but plan none. It is for
// this module's own programs.
func (k *Kernel) Hooks() turn.Hooks { return turn.Hooks{Desk: k.desk} }

// MemoryEditor changes memory's files, by compare-and-swap.
type MemoryEditor = turn.MemoryEditor

// Editor returns the kernel's editor of memory.
func (k *Kernel) Editor() MemoryEditor { return MemoryEditor{Desk: k.desk} }

// Restore returns the text from which a session continues after a compaction, or in a new
// conversation. Plans show this text without a call of Restore. Restore changes nothing. It
// returns an [api.NoSessionError] for a session that has stored state neither in the state
// directory nor in the workspace.
func (k *Kernel) Restore(ctx context.Context, req api.RestoreRequest) (*api.Restored, error) {
	if req.Neighbour {
		out := &api.Restored{Damaged: []string{}}
		n := k.Hooks().Neighbour(req.SessionKey, k.now())
		if n == nil {
			return out, nil
		}
		c, err := n.State()
		if err == nil && c != nil {
			out.Net, out.Text = api.NetCheckpoint, checkpoint.Restore(c, &checkpoint.RestoreOptions{Occasion: checkpoint.OtherSession})
		}
		return out, err
	}
	s, unlock, err := k.open(ctx, req.SessionKey)
	if err != nil {
		return nil, err
	}
	defer unlock()
	out, err := s.Life.Restore(s.Account.Observed[""], &checkpoint.RestoreOptions{Occasion: req.Occasion, Resolver: req.Resolver, Shown: req.Shown})
	if err != nil {
		return nil, fmt.Errorf("restore session %s: %w", s.Key, err)
	}
	if out.Text != "" || s.Keeps() {
		return out, nil
	}
	there, err := store.Find(s.Files, "")
	if err == nil && !there {
		err = noSession(k.state, s.Key)
	}
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return out, nil
}

// ObserveTurn commits a turn: its pages, its usage, and the updated summary. It is atomic, since a
// single journal line is the commit. It is idempotent per AdvancementKey. Neither a repeated turn
// nor a conflict is an error: [api.Observation] distinguishes them.
//
// The error wraps [api.ErrNoMessages], [api.ErrDamaged], [api.ErrNewer], [api.ErrClosed] or the
// error of ctx if that is the cause. A turn that was not committed may be delivered again.
func (k *Kernel) ObserveTurn(ctx context.Context, t api.Turn) (*api.Observation, error) {
	return k.observed(ctx, api.OpTurn, t, k.desk.TakeTurn)
}

// ObserveToolResult ingests a host's messages so far, in the middle of a turn, so that a kill
// loses at most the running call. It does not change the prompt.
func (k *Kernel) ObserveToolResult(ctx context.Context, t api.Turn) (*api.Observation, error) {
	return k.observed(ctx, api.OpToolResult, t, k.desk.Ingest)
}

// observed ingests a turn with the function take, and reports it to the watcher.
func (k *Kernel) observed(ctx context.Context, op api.Op, t api.Turn, take func(context.Context, api.Turn) (*api.Observation, error)) (*api.Observation, error) {
	done := k.watch.begin(op)
	out, err := take(ctx, t)
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Model, d.Observation = t.Model, out })
	return out, err
}

// Compact makes room now. It first ingests and commits the conversation. Then it cuts the prompt
// durably, and returns the outcome in [api.Passed.Compaction]. The next plan begins with the
// shortened prompt. Compact asks no model. It needs no messages if the session was planned in
// this process. A host that compacts its own history must call Compact first, and takes the texts
// from the outcome. If the session does not exist and there are no messages, Compact returns an
// [api.NoSessionError].
func (k *Kernel) Compact(ctx context.Context, b api.Boundary) (*api.Passed, error) {
	if err := b.Compact.Check(); err != nil {
		return nil, fmt.Errorf("%s of session %s: %w", journal.PointCompaction, b.SessionKey, err)
	}
	if err := begun(k, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", journal.PointCompaction, err)
	}
	done := k.watch.begin(api.OpCompact)
	p, err := k.desk.Pass(ctx, b, journal.PointCompaction)
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Passed = p })
	return p, err
}

// FlushTurn makes the prompts of a flush turn.
func (k *Kernel) FlushTurn(ctx context.Context, r api.FlushRequest) (*api.FlushTurn, error) {
	if r.SessionKey != "" && len(r.Messages) == 0 {
		if err := known(k.state, k.sessions, r.SessionKey); err != nil {
			return nil, fmt.Errorf("flush turn: %w", err)
		}
	}
	return k.desk.FlushTurn(ctx, r)
}

// ObserveFlush appends a model's answer to the day's log. It masks secrets, writes every item
// once and changes no existing line. The entry's mark names the agent as its author. If the reply
// has a bill, the bill is recorded with the bills of the session's calls. The estimated cost of
// the call without memkernel is zero, since there would be no such call.
func (k *Kernel) ObserveFlush(ctx context.Context, r api.FlushReply) (*api.Flushed, error) {
	return k.desk.Flushed(ctx, r)
}
