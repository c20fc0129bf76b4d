package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// Pass takes in the messages of a boundary, commits, and carries out its requests.
func (d *Desk) Pass(ctx context.Context, of api.Boundary, point journal.CommitPoint) (*api.Passed, error) {
	return d.atBoundary(ctx, of, point, func(s *session.Session, w *intake, b boundary) (*api.Passed, error) {
		return passBoundary(ctx, s, w, b, point)
	})
}

// inBoundary calls f with the session of a boundary, opened for writing, and the boundary's
// messages, made valid, or nil if it came without.
func (d *Desk) inBoundary(ctx context.Context, of api.Boundary, what string, f func(*session.Session, *intake, boundary) error) error {
	if of.Now.IsZero() {
		of.Now = d.Now()
	}
	return d.Sessions.Write(ctx, of.SessionKey, func(s *session.Session) (err error) {
		b := boundary{Boundary: of}
		var w *intake
		if t := b.turn(); len(t.Messages) > 0 {
			if w, err = d.take(ctx, s, &t); err != nil {
				return fmt.Errorf("%s: observe session %s: %w", what, s.Key, err)
			}
		}
		if err := f(s, w, b); err != nil {
			s.Invalidate() // the data on disk counts
			return fmt.Errorf("%s of session %s: %w", what, s.Key, err)
		}
		return nil
	})
}

// atBoundary passes a boundary by the function pass. Then it asks the model for notes and facts.
func (d *Desk) atBoundary(ctx context.Context, of api.Boundary, point journal.CommitPoint, pass func(*session.Session, *intake, boundary) (*api.Passed, error)) (p *api.Passed, err error) {
	err = d.inBoundary(ctx, of, string(point), func(s *session.Session, w *intake, b boundary) (err error) {
		var job *notes.Job
		b.ending = func(st summary.State) {
			if point != journal.PointFlush {
				job = d.boundaryNotes(s, w, b, st)
			}
		}
		if p, err = pass(s, w, b); err != nil {
			return err
		}
		d.stateFacts(p.Flushed, b.Now)
		d.askAtBoundary(s, job, point == journal.PointReset)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// passBoundary takes in the messages, commits, and carries out the boundary's requests.
func passBoundary(ctx context.Context, s *session.Session, w *intake, b boundary, point journal.CommitPoint) (*api.Passed, error) {
	out := &api.Passed{Outcome: api.Committed}
	if point == journal.PointReset && b.Key != "" && s.Passed(b.Key) {
		// The present state is already the next epoch's.
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
		out.Faults = append(out.Faults, fault.Fault{Code: fault.FlushMiss, Cause: string(point),
			Detail: fmt.Sprintf("%d messages that were planned are not in the summary, and the host did not send them; their pages stand", n)})
	}
	newest, faults, n, err := s.Life.Pass(ctx, &workstate.Boundary{Point: point, Begins: b.Reason == StartReason, Main: b.Branch == "",
		Private: b.Private || l.Private, Msgs: msgs, From: b.Source, Reading: lastReading(s, b), Now: b.Now})
	if err != nil {
		return nil, err
	}
	out.Checkpoint, out.Faults, out.Flushed = newest, append(out.Faults, faults...), n
	if b.Reason != StartReason && b.Branch == "" {
		ended := point == journal.PointReset || point == journal.PointSessionEnd
		out.Faults = append(out.Faults, s.Life.Log().Asked(ctx, msgs, b.Now)...)
		faults, n := s.Life.Flush(ctx, ended, b.Now)
		out.Faults, out.Flushed = append(out.Faults, faults...), out.Flushed+n
		if ended {
			out.Faults = append(out.Faults, s.Life.Log().Rules(ctx, st.Constraints, b.Now)...)
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
		addStats(&out.Stats, w.stats)
	}
	addState(&out.Stats, s.Life)
	return out, compactJournal(s, point)
}

func commitBoundary(s *session.Session, out *api.Passed, b boundary, point journal.CommitPoint, st summary.State) error {
	if b.Key == "" {
		own, err := json.Marshal(b.Updates)
		if err != nil {
			return err
		}
		b.Key = ids.Page("bd", s.Name, b.Branch, string(point), b.Reason, fmt.Sprint(s.Account.Epoch, st.Offset.Messages), st.Offset.Key, string(own))
	}
	if s.Passed(b.Key) {
		out.Outcome = api.Duplicate
		return s.Stands()
	}
	r, err := s.CommitBoundary(b.Key, &session.Boundary{Point: point, Branch: b.Branch, Checkpoint: out.Checkpoint, Reason: s.Masker.Text(b.Reason), Last: st.Offset.Key, Time: b.Now, Pending: b.pending}, st, b.Updates)
	out.Rejected = r.Rejected
	addJournal(&out.Stats, r.Stats)
	return err
}

// compactOver is the journal's size from which the end of a session or a reset
// compacts it, in bytes.
const compactOver = 4 << 20

// compactJournal compacts a large journal at a boundary where no caller waits for the answer.
func compactJournal(s *session.Session, point journal.CommitPoint) error {
	if point != journal.PointReset && point != journal.PointSessionEnd || s.Journal == nil || s.Journal.Size() < compactOver {
		return nil
	}
	_, err := s.Journal.Compact()
	return err
}

// lastReading returns the gauge of the branch's last plan, as far as it is known.
func lastReading(s *session.Session, b boundary) checkpoint.Reading {
	l := s.Branches.Newest(b.Branch, b.Model)
	return checkpoint.Reading{Tokens: l.Whole(), Window: l.Window, Estimated: l.Anchor.Total == 0}
}

// Checkpoint writes the working state of the session's main line now, if the state differs from
// the newest checkpoint. It returns the newest checkpoint, or nil if nothing has been captured.
func (d *Desk) Checkpoint(ctx context.Context, of api.Boundary) (*checkpoint.Checkpoint, error) {
	of.Branch = ""
	var c *checkpoint.Checkpoint
	err := d.inBoundary(ctx, of, "checkpoint", func(s *session.Session, w *intake, b boundary) (err error) {
		c, err = checkpointOnDemand(ctx, s, w, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func checkpointOnDemand(ctx context.Context, s *session.Session, w *intake, b boundary) (*checkpoint.Checkpoint, error) {
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
	if err := s.Life.Capture(msgs, workstate.Heard{From: b.Source}); err != nil {
		return nil, err
	}
	return s.Life.WriteCheckpoint(s.Life.Input(checkpoint.TriggerManual, lastReading(s, b), b.Now))
}
