package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// The six moments at which a harness meets the kernel, and what each of them is to
// the state that is kept:
//
//	session start       StartSession       the session is read, or made; its pins stand from the first plan
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

	begins  bool                // the session may begin with it
	pending bool                // the next plan is to cut
	ending  func(summary.State) // called when all is taken in, before it is committed
}

// turn is the boundary as a turn that is observed.
func (b *Boundary) turn() Turn {
	return Turn{SessionKey: b.SessionKey, Branch: b.Branch, Model: b.Model, Messages: b.Messages, Now: b.Now, Source: b.Source}
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
	// Pinned are the pages that hosts wrote and that stand in every prompt.
	Pinned []string `json:"pinned"`
	// Rejected are updates that do not stand, with their codes. The journal keeps
	// them.
	Rejected []journal.Rejection `json:"rejected,omitempty"`
	Faults   []Fault             `json:"faults,omitempty"`
	// Flushed counts the entries that were appended to the day's log.
	Flushed int `json:"flushed"`
	// Compaction is what [Kernel.Compact] came to, nil at every other boundary.
	Compaction *Compaction `json:"compaction,omitempty"`
	// Stats is what was written.
	Stats Stats `json:"stats"`
}

// startReason is why the journal has a flush where a session began: nothing is
// destroyed by a beginning.
const startReason = "session_start"

// StartSession is to be called when a session begins or is taken up again. It
// reads what stands of it; Messages may be empty.
func (k *Kernel) StartSession(ctx context.Context, b Boundary) (*Passed, error) {
	if b.Reason == "" {
		b.Reason = startReason
	}
	if k.memory != nil {
		k.memory.Sync.SessionStarts()
	}
	b.begins = true
	return k.pass(ctx, b, journal.PointFlush)
}

// Flush makes durable what is known now. Without messages and updates a session that is
// not there is a [NoSessionError], here and at the boundaries below.
func (k *Kernel) Flush(ctx context.Context, b Boundary) (*Passed, error) {
	return k.pass(ctx, b, journal.PointFlush)
}

// Reset commits what is known and begins the session anew: summary and projections
// are empty after it; journal, pages, pins and blobs stay.
func (k *Kernel) Reset(ctx context.Context, b Boundary) (*Passed, error) {
	return k.pass(ctx, b, journal.PointReset)
}

// EndSession commits what is known. The session can be taken up again.
func (k *Kernel) EndSession(ctx context.Context, b Boundary) (*Passed, error) {
	return k.pass(ctx, b, journal.PointSessionEnd)
}

func (k *Kernel) pass(ctx context.Context, b Boundary, point journal.CommitPoint) (*Passed, error) {
	t := b.turn()
	s, w, unlock, err := k.openBoundary(ctx, &b, &t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", point, err)
	}
	defer unlock()
	b.Now = t.Now
	var job *notes.Job
	b.ending = func(st summary.State) {
		if point != journal.PointFlush {
			job = k.boundaryNotes(s, w, b, st)
		}
	}
	p, err := passBoundary(s, ctx, w, b, point)
	if err != nil {
		s.Invalidate() // what stands on disk counts
		return nil, fmt.Errorf("%s of session %s: %w", point, s.Key, err)
	}
	k.askAtBoundary(s, job, point == journal.PointReset)
	return p, nil
}

// openBoundary is openTurn for a boundary, which may come without messages. A session
// that is not there begins with what a host says or writes, and not with its end.
func (k *Kernel) openBoundary(ctx context.Context, b *Boundary, t *Turn) (*session.Session, *intake, func(), error) {
	if len(t.Messages) > 0 {
		return k.openTurn(ctx, t)
	}
	if !b.begins && len(b.Updates) == 0 {
		if err := k.known(t.SessionKey); err != nil {
			return nil, nil, nil, err
		}
	}
	s, unlock, err := k.open(ctx, t.SessionKey, true)
	if t.Now.IsZero() {
		t.Now = k.now()
	}
	return s, nil, unlock, err
}

// pass takes in the messages, commits, and does what the boundary asks for.
func passBoundary(s *session.Session, ctx context.Context, w *intake, b Boundary, point journal.CommitPoint) (*Passed, error) {
	out := &Passed{Outcome: Committed}
	if point == journal.PointReset && b.Key != "" && s.Passed(b.Key) {
		// What stands by now is the next epoch's.
		out.Outcome, out.Turns, out.Epoch, out.Pinned = Duplicate, s.Account.Committed, s.Account.Epoch, pinnedKeys(s)
		return out, nil
	}
	l := s.Branches.Newest(b.Branch, b.Model)
	msgs := l.Msgs
	if w != nil {
		msgs = w.Msgs
		if err := ingestTurn(s, ctx, w); err != nil {
			return nil, err
		}
		out.Ingested = len(w.Out.New)
	}
	st := s.Account.Furthest(l)
	if msgs != nil {
		st = advance(s, st, msgs)
	} else if n := len(l.Proj.Seen) - st.Offset.Messages; n > 0 {
		out.Faults = append(out.Faults, Fault{Code: FaultFlushMiss, Cause: string(point),
			Detail: fmt.Sprintf("%d messages that were planned are not in the summary, and the host did not send them; their pages stand", n)})
	}
	newest, faults, n, err := s.Life.Pass(ctx, &workstate.Boundary{Point: point, Begins: b.Reason == startReason, Main: b.Branch == "",
		Private: b.Private || l.Private, Msgs: msgs, From: b.Source, Reading: lastReading(s, b), Now: b.Now})
	if err != nil {
		return nil, err
	}
	out.Checkpoint, out.Faults, out.Flushed = newest, append(out.Faults, faultsOf(faults)...), n
	if b.Reason != startReason && b.Branch == "" {
		ended := point == journal.PointReset || point == journal.PointSessionEnd
		out.Faults = append(out.Faults, faultsOf(s.Life.Log().Asked(ctx, msgs, b.Now))...)
		faults, n := s.Life.Flush(ctx, ended, b.Now)
		out.Faults, out.Flushed = append(out.Faults, faultsOf(faults)...), out.Flushed+n
		if ended {
			out.Faults = append(out.Faults, faultsOf(s.Life.Log().Rules(ctx, st.Constraints, b.Now))...)
		}
	}
	if point == journal.PointReset {
		if err := s.Life.Begin(); err != nil {
			return nil, err
		}
	}
	if b.ending != nil {
		b.ending(st)
	}
	if err := commitBoundary(s, out, b, point, st); err != nil {
		return nil, err
	}
	out.Turns, out.Epoch, out.Pinned = s.Account.Committed, s.Account.Epoch, pinnedKeys(s)
	if w != nil {
		out.Stats.add(w.stats)
	}
	out.Stats.state(s.Life)
	return out, compactJournal(s, point)
}

func commitBoundary(s *session.Session, out *Passed, b Boundary, point journal.CommitPoint, st summary.State) error {
	if b.Key == "" {
		own, err := json.Marshal(b.Updates)
		if err != nil {
			return err
		}
		b.Key = ids.Page("bd", s.Name, b.Branch, string(point), b.Reason, fmt.Sprint(s.Account.Epoch, st.Offset.Messages), st.Offset.Key, string(own))
	}
	if s.Passed(b.Key) {
		out.Outcome = Duplicate
		return nil
	}
	r, err := s.CommitBoundary(b.Key, &session.Boundary{Point: point, Branch: b.Branch, Checkpoint: out.Checkpoint, Reason: s.Masker.Text(b.Reason), Last: st.Offset.Key, Time: b.Now, Pending: b.pending}, st, b.Updates)
	out.Rejected = r.Rejected
	out.Stats.journal(r.Stats)
	return err
}

// compactOver is the journal's size from which the end of a session or a reset
// compacts it, in bytes.
const compactOver = 4 << 20

// tidy compacts a large journal where nobody waits for the answer.
func compactJournal(s *session.Session, point journal.CommitPoint) error {
	if point != journal.PointReset && point != journal.PointSessionEnd || s.Journal == nil || s.Journal.Size() < compactOver {
		return nil
	}
	_, err := s.Journal.Compact()
	return err
}

// lastReading is the gauge of the branch's last plan, as far as it is known.
func lastReading(s *session.Session, b Boundary) checkpoint.Reading {
	l := s.Branches.Newest(b.Branch, b.Model)
	return checkpoint.Reading{Tokens: l.Whole(), Window: l.Window, Estimated: l.Anchor.Total == 0}
}

// Checkpoint writes the working state of the session's main line now, if it says
// anything that the newest checkpoint does not, and returns what is newest; nil if
// nothing has been captured. A session that is not there, and of which no messages are
// handed in, is a [NoSessionError].
func (k *Kernel) Checkpoint(ctx context.Context, b Boundary) (*checkpoint.Checkpoint, error) {
	b.Branch = ""
	t := b.turn()
	s, w, unlock, err := k.openBoundary(ctx, &b, &t)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	defer unlock()
	b.Now = t.Now
	c, err := checkpointOnDemand(s, ctx, w, b)
	if err != nil {
		s.Invalidate()
		return nil, fmt.Errorf("checkpoint of session %s: %w", s.Key, err)
	}
	return c, nil
}

func checkpointOnDemand(s *session.Session, ctx context.Context, w *intake, b Boundary) (*checkpoint.Checkpoint, error) {
	if s.Life.Options.Off || s.Life.Options.NoCheckpoints {
		return nil, errors.New("checkpoints are switched off")
	}
	msgs := s.Branches.Newest("", b.Model).Msgs
	if w != nil {
		msgs = w.Msgs
		if err := ingestTurn(s, ctx, w); err != nil {
			return nil, err
		}
	}
	if err := s.Life.Capture(msgs, workstate.Heard{From: b.Source}); err != nil {
		return nil, err
	}
	return s.Life.WriteCheckpoint(s.Life.Input(checkpoint.TriggerManual, lastReading(s, b), b.Now))
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

// Restore gives the text from which a session goes on after a compaction, or in a
// new conversation: what a plan shows by itself. It changes nothing. A session of which
// nothing is kept, in the state directory or the workspace, is a [NoSessionError].
func (k *Kernel) Restore(ctx context.Context, sessionKey string) (*Restored, error) {
	s, unlock, err := k.open(ctx, sessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, err := s.Life.Restore(s.Account.Observed[""])
	if err != nil {
		return nil, fmt.Errorf("restore session %s: %w", s.Key, err)
	}
	out := &Restored{Checkpoint: r.Checkpoint, Net: Net(r.From), Text: r.Text, Damaged: r.Damaged}
	if out.Text == "" && !store.Exists(s.Files, "") && !s.Keeps() {
		return nil, fmt.Errorf("restore: %w", noSession(k.state, s.Key))
	}
	return out, nil
}
