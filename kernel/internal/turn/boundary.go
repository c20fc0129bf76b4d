package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// Pass ingests the messages of a boundary, commits, and carries out the boundary's requests.
func (d *Desk) Pass(ctx context.Context, of api.Boundary, point journal.CommitPoint) (*api.Passed, error) {
	return inBoundary(ctx, d, of, point, func(s *session.Session, w *intake, b *boundary) (p *api.Passed, err error) {
		if point == journal.PointCompaction {
			p, err = d.compact(ctx, s, w, b)
		} else {
			p, err = d.passBoundary(ctx, s, w, b)
		}
		if err != nil {
			return nil, err
		}
		st := s.TakeSpent()
		st.Ingested, st.LiftedBytes = p.Stats.Ingested, p.Stats.LiftedBytes
		p.Stats = st
		d.startNotes(s, b.job)
		return p, nil
	})
}

// inBoundary calls f with the session of a boundary, opened for writing, and with the boundary's
// messages, made valid. A boundary without messages has a nil intake.
func inBoundary[T any](ctx context.Context, d *Desk, of api.Boundary, point journal.CommitPoint, f func(*session.Session, *intake, *boundary) (*T, error)) (*T, error) {
	of.Now = d.At(of.Now)
	return session.In(ctx, d.Sessions, "", of.SessionKey, func(s *session.Session) (out *T, err error) {
		b := &boundary{Boundary: of, point: point}
		var w *intake
		if t := b.turn(); len(t.Messages) > 0 {
			if w, err = d.take(ctx, s, &t); err != nil {
				return nil, fmt.Errorf("%s: observe session %s: %w", point, s.Key, err)
			}
		}
		if out, err = f(s, w, b); err != nil {
			return nil, s.Failed(string(point)+" of", err)
		}
		return out, nil
	})
}

// passBoundary ingests the messages that the host sends at a boundary, such as a compaction or the
// session's end, commits them, and then does what the boundary asks for.
func (d *Desk) passBoundary(ctx context.Context, s *session.Session, w *intake, b *boundary) (*api.Passed, error) {
	out := &api.Passed{Outcome: api.Committed}
	if b.point == journal.PointReset && b.Key != "" && s.Passed(b.Key) {
		// The session's state already belongs to the next epoch.
		out.Outcome, out.Turns, out.Epoch, out.Pinned = api.Duplicate, s.Account.Committed, s.Account.Epoch, pinnedKeys(s)
		return out, s.Stands()
	}
	l := s.Branches.Newest(b.Branch, b.Model)
	msgs := l.Msgs
	if w != nil {
		msgs = w.Msgs
		if err := ingestTurn(ctx, s, w); err != nil {
			return nil, err
		}
		out.Ingested = len(w.Out.New)
	}
	st := s.Account.Furthest(l)
	if msgs != nil {
		st = advance(s, st, msgs)
	} else if n := len(l.Proj.Seen) - st.Offset.Messages; n > 0 {
		out.Faults = append(out.Faults, fault.Fault{Code: "flush_miss", Cause: string(b.point),
			Detail: fmt.Sprintf("%d messages that were planned are not in the summary, and the host did not send them; their pages stand", n)})
	}
	newest, faults, n, err := s.Life.Pass(ctx, &workstate.Boundary{Point: b.point, Begins: b.Reason == StartReason, Main: b.Branch == "",
		Private: b.Private || l.Private, Msgs: msgs, From: b.Source, Reading: lastReading(s, b), Now: b.Now})
	if err != nil {
		return nil, err
	}
	out.Checkpoint, out.Faults, out.Flushed = newest, append(out.Faults, faults...), n
	if w != nil && b.Reason != StartReason && b.point != journal.PointFlush && !d.Notes.Busy(s.Files) { // the last delta, of any size
		if b.job = d.noteJob(s, w, b.turn(), st, true); b.job != nil {
			b.job.EndsEpoch = b.point == journal.PointReset
		}
	}
	if err := commitBoundary(s, out, b, st); err != nil {
		return nil, err
	}
	out.Turns, out.Epoch, out.Pinned = s.Account.Committed, s.Account.Epoch, pinnedKeys(s)
	if w != nil {
		out.Stats.LiftedBytes = w.LiftedBytes
	}
	// A large journal is compacted at a boundary whose answer no caller waits for.
	if over := b.point == journal.PointReset || b.point == journal.PointSessionEnd; over && s.Journal != nil && s.Journal.Size() >= compactOver {
		err = s.Journal.Compact()
	}
	return out, err
}

func commitBoundary(s *session.Session, out *api.Passed, b *boundary, st summary.State) error {
	key := b.Key
	if key == "" {
		own, err := json.Marshal(b.Updates)
		if err != nil {
			return err
		}
		key = ingest.PageID("bd", s.Name, b.Branch, string(b.point), b.Reason, fmt.Sprint(s.Account.Epoch, st.Offset.Messages), st.Offset.Key, string(own))
	}
	if s.Passed(key) {
		out.Outcome = api.Duplicate
		return s.Stands()
	}
	r, err := s.CommitBoundary(key, &session.Boundary{Point: b.point, Branch: b.Branch, Checkpoint: out.Checkpoint, Reason: s.Masker.Text(b.Reason), Last: st.Offset.Key, Time: b.Now, Pending: b.pending}, st, b.Updates)
	out.Rejected = r.Rejected
	return err
}

// compactOver is the journal's size from which the end of a session or a reset
// compacts it, in bytes.
const compactOver = 4 << 20

// lastReading returns the gauge of the branch's last plan, as far as the plan is known.
func lastReading(s *session.Session, b *boundary) checkpoint.Reading {
	l := s.Branches.Newest(b.Branch, b.Model)
	return checkpoint.Reading{Tokens: l.Whole(), Window: l.Window}
}

// Checkpoint writes the working state of the session's main line now, if the state differs from
// the newest checkpoint. It returns the newest checkpoint, or nil if nothing has been captured.
func (d *Desk) Checkpoint(ctx context.Context, of api.Boundary) (*checkpoint.Checkpoint, error) {
	of.Branch = ""
	return inBoundary(ctx, d, of, "checkpoint", func(s *session.Session, w *intake, b *boundary) (*checkpoint.Checkpoint, error) {
		if s.Life.Options.Off {
			return nil, errors.New("checkpoints are switched off")
		}
		msgs := s.Branches.Newest("", b.Model).Msgs
		if w != nil {
			msgs = w.Msgs
			if err := ingestTurn(ctx, s, w); err != nil {
				return nil, err
			}
		}
		if err := s.Life.Capture(msgs, b.Source, nil); err != nil {
			return nil, err
		}
		return s.Life.WriteCheckpoint(s.Life.Input(checkpoint.TriggerManual, lastReading(s, b), b.Now))
	})
}
