package kernel

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// The six moments at which a harness meets the kernel, and what each of them is to
// the state that is kept:
//
//	session start       StartSession       the session is read, or made; its pins are shown from the first plan
//	prompt assembly     PlanContext        ingest, then the projection; a cut commits the summary first
//	tool result         ObserveToolResult  ingest
//	to make room        Compact            ingest, commit point "compaction", then the cut
//	before reset        Reset              ingest, commit point "reset", then a new epoch
//	session end         EndSession         ingest, commit point "session_end", the journal compacted
//
// ObserveTurn is the commit point "turn", Flush one on demand.

// Boundary is a moment at which all that is known of a session has to be durable.
type Boundary struct {
	SessionKey, Branch, Model string
	// Messages is the host's whole conversation now. Without it, what the last plan
	// was made of counts.
	Messages []memkernel.Message
	// Updates are what the host writes at this moment; see [Kernel.Write].
	Updates []journal.Update
	// Key makes the delivery idempotent. Default: a hash of session, epoch, kind and
	// newest message.
	Key string
	// Reason says why, for the record.
	Reason string
	Now    time.Time
	// Compact says what [Kernel.Compact] is to come to.
	Compact *CompactWish
	// Private: see [Turn.Private].
	Private bool
	// Source says where the conversation comes from.
	Source Source
}

// room is the boundary as package turn passes it.
func (b *Boundary) room() turn.Boundary {
	out := turn.Boundary{SessionKey: b.SessionKey, Branch: b.Branch, Model: b.Model, Messages: b.Messages, Updates: b.Updates, Key: b.Key,
		Reason: b.Reason, Now: b.Now, Private: b.Private, Source: b.Source}
	if w := b.Compact; w != nil {
		out.Wish = turn.Wish{Wish: plan.Wish{Tokens: w.Tokens, Share: w.Share, Force: w.Force, Compaction: (*plan.Compaction)(w.Provider)}, FixedTokens: w.FixedTokens, Overflow: (*plan.Overflow)(w.Overflow)}
		if w.Call != nil {
			call := w.Call.call()
			out.Wish.Call = &call.Request
		}
	}
	return out
}

// Passed is the answer to a [Boundary].
type Passed struct {
	// Outcome is committed, or duplicate if nothing was new.
	Outcome Outcome `json:"outcome"`
	// Ingested counts the pages that were new, Turns the session's committed turns.
	Ingested int `json:"ingested"`
	Turns    int `json:"turns"`
	// Epoch counts the resets of the session.
	Epoch int `json:"epoch"`
	// Checkpoint is the newest checkpoint, "" if there is none.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Pinned are the pages that hosts wrote and that every prompt shows.
	Pinned []string `json:"pinned"`
	// Rejected are updates that were refused, with their codes. The journal keeps
	// them.
	Rejected []journal.Rejection `json:"rejected,omitempty"`
	Faults   []fault.Fault       `json:"faults,omitempty"`
	// Flushed counts the entries that were appended to the day's log.
	Flushed int `json:"flushed"`
	// Compaction is what [Kernel.Compact] came to, nil at every other boundary.
	Compaction *Compaction `json:"compaction,omitempty"`
	// Stats is what was written.
	Stats Stats `json:"stats"`
}

// StartSession is to be called when a session begins or is taken up again. It
// reads what is kept of it; Messages may be empty.
func (k *Kernel) StartSession(ctx context.Context, b Boundary) (*Passed, error) {
	if b.Reason == "" {
		b.Reason = turn.StartReason
	}
	if k.memory != nil {
		k.memory.Sync.SessionStarts()
	}
	return passed(k.desk.Pass(ctx, b.room(), journal.PointFlush))
}

// Flush makes durable what is known now. Without messages and updates a session that is
// not there is a [NoSessionError], here and at the boundaries below.
func (k *Kernel) Flush(ctx context.Context, b Boundary) (*Passed, error) {
	return pass(ctx, k, b, journal.PointFlush)
}

// Reset commits what is known and begins the session anew: summary and projections
// are empty after it; journal, pages, pins and blobs stay.
func (k *Kernel) Reset(ctx context.Context, b Boundary) (*Passed, error) {
	return pass(ctx, k, b, journal.PointReset)
}

// EndSession commits what is known. The session can be taken up again.
func (k *Kernel) EndSession(ctx context.Context, b Boundary) (*Passed, error) {
	return pass(ctx, k, b, journal.PointSessionEnd)
}

func pass(ctx context.Context, k *Kernel, b Boundary, point journal.CommitPoint) (*Passed, error) {
	if err := b.begun(k); err != nil {
		return nil, fmt.Errorf("%s: %w", point, err)
	}
	return passed(k.desk.Pass(ctx, b.room(), point))
}

// begun refuses a boundary of a session that is not there: one begins with what a host says
// or writes, and not with its end.
func (b *Boundary) begun(k *Kernel) error {
	if len(b.Messages) > 0 || len(b.Updates) > 0 {
		return nil
	}
	return known(k.state, k.sessions, b.SessionKey)
}

// passed is what became of a boundary, as hosts get it.
func passed(p *turn.Passed, err error) (*Passed, error) {
	if err != nil {
		return nil, err
	}
	return &Passed{Outcome: Outcome(p.Outcome), Ingested: p.Ingested, Turns: p.Turns, Epoch: p.Epoch, Checkpoint: p.Checkpoint, Pinned: p.Pinned,
		Rejected: p.Rejected, Faults: append([]fault.Fault(nil), p.Faults...), Flushed: p.Flushed, Compaction: compaction(p.Compaction), Stats: Stats(p.Stats)}, nil
}

// Checkpoint writes the working state of the session's main line now, if it says
// anything that the newest checkpoint does not, and returns what is newest; nil if
// nothing has been captured. A session that is not there, and of which no messages are
// handed in, is a [NoSessionError].
func (k *Kernel) Checkpoint(ctx context.Context, b Boundary) (*checkpoint.Checkpoint, error) {
	if err := b.begun(k); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return k.desk.Checkpoint(ctx, b.room())
}

// Restored is the text from which a session goes on.
type Restored struct {
	// Checkpoint is the newest one, "" if there is none.
	Checkpoint string `json:"checkpoint"`
	// Net is the record that the text was made from, "" if there is none; Text is
	// empty then.
	Net  Net    `json:"net"`
	Text string `json:"text"`
	// Damaged are checkpoints and state files that could not be used.
	Damaged []string `json:"damaged"`
}

// RestoreRequest asks for the text from which a session goes on.
type RestoreRequest struct {
	SessionKey string
	// Occasion is where the text will stand; what it begins with says so.
	Occasion checkpoint.Occasion
	// Resolver is the tool or command by which its reader gets what an id stands for, as
	// in [PlanRequest]. Without it no id is named.
	Resolver string
	// Shown is text that the reader also sees, whose rules are not said again.
	Shown string
	// Neighbour asks for the state of the session of the workspace that spoke last, other
	// than SessionKey, for a new session whose user asks to go on from there.
	Neighbour bool
}

// Beside returns the line by which a new conversation under a key learns which other
// session was at work in the workspace, "" if none was.
func Beside(k *Kernel, key string, now time.Time) string {
	n := neighbour(k, key, now)
	if n == nil {
		return ""
	}
	return checkpoint.Beside(n.Key, n.At)
}

// PlannedAt returns when the newest plan of a session was recorded, zero if none was.
func PlannedAt(k *Kernel, key string) time.Time {
	name, err := folder.Of(k.state, keyOr(key))
	if err != nil {
		return time.Time{}
	}
	fi, err := folder.In(k.state, name).Stat(folder.RecordsFile)
	if err != nil {
		return time.Time{}
	}
	return fi.Time
}

func neighbour(k *Kernel, key string, now time.Time) *plan.Neighbour {
	if k.memory == nil {
		return nil
	}
	return turn.Neighbour(k.state, k.memory.Private, keyOr(key), now)
}

// Restore gives the text from which a session goes on after a compaction, or in a
// new conversation: what a plan shows by itself. It changes nothing. A session of which
// nothing is kept, in the state directory or the workspace, is a [NoSessionError].
func (k *Kernel) Restore(ctx context.Context, req RestoreRequest) (*Restored, error) {
	if req.Neighbour {
		out := &Restored{Damaged: []string{}}
		n := neighbour(k, req.SessionKey, k.now())
		if n == nil {
			return out, nil
		}
		c, err := n.State()
		if err == nil && c != nil {
			out.Net, out.Text = NetCheckpoint, checkpoint.Restore(c, &checkpoint.RestoreOptions{Occasion: checkpoint.OtherSession})
		}
		return out, err
	}
	s, unlock, err := k.open(ctx, req.SessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, err := s.Life.Restore(s.Account.Observed[""], &checkpoint.RestoreOptions{Occasion: req.Occasion, Resolver: req.Resolver, Shown: req.Shown})
	if err != nil {
		return nil, fmt.Errorf("restore session %s: %w", s.Key, err)
	}
	out := &Restored{Checkpoint: r.Checkpoint, Net: Net(r.From), Text: r.Text, Damaged: r.Damaged}
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
