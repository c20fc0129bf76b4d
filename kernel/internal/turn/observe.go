package turn

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// TakeTurn commits a turn: its pages, its usage, and the updated summary.
func (d *Desk) TakeTurn(ctx context.Context, t api.Turn) (*api.Observation, error) {
	ctx = markdownstore.Since(ctx, time.Now()) // the session's unit brings new writes
	return inTurn(ctx, d, &t, func(s *session.Session, w *intake) (*api.Observation, error) {
		o, err := d.endTurn(ctx, s, w, t)
		if err != nil {
			return nil, s.Failed("observe turn of", err)
		}
		if o.Outcome != api.Conflict && !d.Notes.Busy(s.Files) {
			d.startNotes(s, d.noteJob(s, w, t, s.Account.Observed[t.Branch], false))
		}
		return o, nil
	})
}

// inTurn calls f with the session of a turn, opened for writing, and with the turn's messages, made
// valid. If another process writes to the session meanwhile, it calls f again.
func inTurn[T any](ctx context.Context, d *Desk, t *api.Turn, f func(*session.Session, *intake) (T, error)) (T, error) {
	return session.In(ctx, d.Sessions, t.PlanID, t.SessionKey, func(s *session.Session) (out T, err error) {
		t.Now = d.At(t.Now)
		in, err := d.take(ctx, s, t)
		if err != nil {
			return out, fmt.Errorf("observe session %s: %w", s.Key, err)
		}
		return f(s, in)
	})
}

// endTurn writes the results of a turn, in the order of its lines. The commit is the record of the
// turn itself: later deliveries of the turn are duplicates. So entries that the person asked to
// remember, and the authors of lines in memory's files, are written before the commit. A turn that
// the host calls open is not committed yet.
func (d *Desk) endTurn(ctx context.Context, s *session.Session, w *intake, t api.Turn) (*api.Observation, error) {
	w.absorb(s)
	end := w.turnEnd()
	start := turnStart(w.Msgs, end)
	o := &api.Observation{Outcome: api.OpenTurn, Ingested: len(w.Out.New)}
	entry := &session.Turn{}
	if end > 0 {
		first := w.Hosts[start].Key
		entry = &session.Turn{Branch: t.Branch, Over: turnEnd(w.Msgs) < end, Completes: s.Account.Over[first], Model: t.Model, Last: w.Hosts[end-1].Key,
			Captured: t.Branch == "" && !s.Life.Options.Off, Chain: pagevm.Chain(pagevm.SeenOf(w.Hosts[start:end]))}
		if entry.Over || entry.Completes {
			entry.First = first
		}
		o.Outcome, o.AdvancementKey = api.Committed, cmp.Or(t.AdvancementKey, ingest.PageID("turn", s.Name, t.Branch, entry.Last))
	}
	_, again := s.Account.Chains[o.AdvancementKey]

	if err := w.commitPages(ctx, s); err != nil { // pages: blobs, then a record of the journal
		return nil, err
	}
	if t.Branch == "" { // state/*.json
		var err error
		if again {
			err = s.Life.CaptureAgain(w.Msgs, start, t.Source)
		} else {
			err = s.Life.Capture(w.Msgs, t.Source, billed(&t))
		}
		if err != nil {
			return nil, err
		}
	}
	o.Faults = append(o.Faults, s.Life.Damages()...)
	if t.Branch == "" && (!again || end < len(w.Msgs)) { // the day's log
		o.Faults = append(o.Faults, s.Life.Log().Statements(ctx, w.Msgs, turnEnd(w.Msgs[:start]), t.Now)...)
	}
	if end > 0 && !again {
		o.Faults = append(o.Faults, d.hearWrites(ctx, s, w.Msgs[:end], t)...) // the project's journal
	}
	if end > 0 { // the turn and its summary: a record of the journal
		if err := commitTurn(s, o, entry, w.Msgs[:end], t); err != nil {
			return nil, err
		}
	}
	o.Turns, o.Stats = s.Account.Committed, w.cost(s)
	// calibration.json, usage.jsonl: not for a conflict, or a duplicate whose bills were taken before
	if fresh := t.Sent != "" || unbilled(s, &t) != nil; o.Outcome != api.Conflict || fresh {
		b := t
		if o.Outcome == api.Duplicate && end == len(w.Msgs) && !fresh {
			if b.PlanID != "" {
				b.Usage = nil
			}
			b.PlanID = "" // the plan's bill was recorded before
		}
		takeBill(s, o, w, b)
	}
	if o.Outcome == api.Committed && end < len(w.Msgs) {
		o.Outcome = api.OpenTurn
	}
	o.Faults = append(o.Faults, markdownAfter(ctx, s, w, t, o)...) // buffer, checkpoint, SESSION-STATE.md
	return o, nil
}

// commitTurn writes the turn to the journal, unless the journal has the turn already. The same
// key with other messages is a conflict. A difference in another part of the delivery, such as
// the usage or the plan, is not a conflict.
func commitTurn(s *session.Session, o *api.Observation, body *session.Turn, msgs []memkernel.Message, t api.Turn) error {
	there := func() bool {
		chain, ok := s.Account.Chains[o.AdvancementKey]
		if ok {
			o.Outcome = api.Duplicate
			if chain != body.Chain && !ingest.StandsForgotten(msgs) {
				o.Outcome = api.Conflict
			}
		}
		return ok
	}
	if there() {
		return s.Stands()
	}
	r, err := s.CommitTurn(o.AdvancementKey, body, advance(s, s.Account.Observed[t.Branch], msgs), t.Updates, t.Now)
	if err != nil {
		return err
	}
	if r.Outcome == journal.Conflict && there() { // another machine committed the turn meanwhile
		return s.Stands()
	}
	o.Outcome, o.Rejected = api.Outcome(r.Outcome), r.Rejected
	return nil
}

// turnStart returns the index of the plain user message that began the turn which ends before
// end.
func turnStart(msgs []memkernel.Message, end int) int {
	for i := end - 1; i > 0; i-- {
		if transcript.PlainUser(msgs[i]) {
			return i
		}
	}
	return 0
}

// turnEnd returns the number of leading messages that belong to ended turns. A turn has ended
// when the assistant spoke without calling a tool.
func turnEnd(msgs []memkernel.Message) int {
	for i := len(msgs); i > 0; i-- {
		if m := msgs[i-1]; m.Role == memkernel.RoleAssistant && !transcript.HasCalls(m) {
			return i
		}
	}
	return 0
}

// advance updates a summary by the messages of msgs that the summary does not cover.
func advance(s *session.Session, st summary.State, msgs []memkernel.Message) summary.State {
	return summary.UpdateMasked(st, msgs[ingest.Unseen(st.Offset.Key, msgs):], s.Masker.Text)
}

// Ingest ingests a host's messages so far, in the middle of a turn.
func (d *Desk) Ingest(ctx context.Context, t api.Turn) (*api.Observation, error) {
	return inTurn(ctx, d, &t, func(s *session.Session, w *intake) (*api.Observation, error) {
		err := ingestTurn(ctx, s, w)
		if err == nil && t.Branch == "" {
			err = s.Life.Capture(w.Msgs, t.Source, billed(&t))
		}
		if err != nil {
			return nil, s.Failed("ingest into", err)
		}
		o := &api.Observation{Outcome: api.OpenTurn, Ingested: len(w.Out.New), Turns: s.Account.Committed, Stats: w.cost(s)}
		takeBill(s, o, w, t)
		o.Faults = append(o.Faults, markdownAfter(ctx, s, w, t, o)...)
		return o, nil
	})
}

// billed returns a turn's bill, nil if the host did not give it.
func billed(t *api.Turn) *checkpoint.Usage {
	if t.Usage == nil {
		return nil
	}
	return &checkpoint.Usage{Tokens: t.Usage.InputTotal(), Model: t.Model, At: t.Now.UTC().Truncate(time.Second)}
}

// markdownAfter updates the Markdown records after a turn, or in the middle of a turn when the
// window fills.
func markdownAfter(ctx context.Context, s *session.Session, w *intake, t api.Turn, o *api.Observation) []fault.Fault {
	if t.More || o.Outcome == api.Conflict || t.Branch != "" || !s.Life.HasMarkdown() || !t.Private && !s.Branches.Newest("", t.Model).Private {
		return nil
	}
	end := w.turnEnd()
	ended := o.Outcome == api.Committed || o.AdvancementKey != "" && (o.Outcome == api.OpenTurn || end == len(w.Msgs))
	reading, err := readingAfter(s, w, t)
	if err != nil {
		return []fault.Fault{{Code: fault.Net, Cause: "calibration", Detail: err.Error()}}
	}
	return s.Life.AfterTurn(ctx, &workstate.Turn{Key: o.AdvancementKey, Msgs: w.Msgs, From: turnStart(w.Msgs, end), To: end, Ended: ended, Reading: reading, Now: t.Now})
}

// readingAfter returns the least size of the next call: the billed size of the last call, its
// answer and the later messages. Without a bill it is the plan's size plus the later messages.
func readingAfter(s *session.Session, w *intake, t api.Turn) (checkpoint.Reading, error) {
	l := s.Branches.Newest(t.Branch, t.Model)
	r := checkpoint.Reading{Window: cmp.Or(l.Window, w.model.ContextWindow)}
	ratio := 1.0
	cal, err := s.Calibrations.Of(t.Model)
	if err != nil {
		return r, err
	}
	if w.Count.Kind == budget.Estimated && cal.Trusted() {
		ratio, _ = cal.Factor()
	}
	count := func(from int) int {
		return int(float64(w.TokensFrom(from)) * ratio)
	}
	seen := len(l.Proj.Seen)
	if r.Tokens = count(0); seen > 0 && seen <= len(w.Hosts) {
		r.Tokens = l.Whole() + count(seen)
	}
	if u := t.Usage; u != nil && (seen == 0 && u.InputTotal() > 0 || plausible(u.InputTotal(), r.Tokens)) {
		behind := len(w.Msgs) // the index after the model's last message
		for behind > 0 && w.Msgs[behind-1].Role != memkernel.RoleAssistant {
			behind--
		}
		answer := max(u.OutputTokens, count(behind-1)-count(behind)) // streaming hosts record stubs
		r.Tokens = u.InputTotal() + answer + count(behind)
	}
	return r, nil
}
