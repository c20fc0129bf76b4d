package kernel

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// Turn is what happened after a plan was sent.
type Turn struct {
	SessionKey string
	Branch     string
	Model      string
	// Messages is the host's whole conversation after the turn. Rules and memories are
	// made of texts that are marked as typed by a person alone ([memkernel.Part]).
	Messages []memkernel.Message
	// Unchanged is how many messages at the beginning the host vouches for: they are
	// those of the turn that it handed in before of this session, branch and model, and
	// are not compared again. Where this process does not know them any more they are
	// read. 0 compares all.
	Unchanged int
	// Open is how many messages at the end belong to a turn that may go on, whatever they
	// look like: they are kept, and the turn before them is the one that is committed.
	Open int
	// PlanID names the plan that was sent for the last call, Usage what the provider
	// billed for it. Both may be missing. A turn that is still open may be delivered
	// after each of its calls, so that every bill is kept.
	PlanID string
	Usage  *memkernel.Usage
	Now    time.Time
	// AdvancementKey makes the delivery idempotent. Default: a hash of session
	// and key of the turn's last message.
	AdvancementKey string
	// Updates are what the host writes beside the turn; see [Kernel.Write]. What is
	// rejected does not keep the turn from being committed.
	Updates []journal.Update
	// Private: the session is private, so its working state may stand in the
	// workspace's Markdown. A conversation that was planned as private counts as such; a
	// door that doesn't say is shared.
	Private bool
	// Source says where the conversation comes from.
	Source Source
	// More: another turn follows at once, as where a past session is taken in. What
	// stands in Markdown waits for the last.
	More bool
}

// Outcome says what became of an observed turn.
type Outcome string

const (
	// Committed: the turn is in the journal now.
	Committed Outcome = "committed"
	// Duplicate: it was there already, with the same content. Nothing was written.
	Duplicate Outcome = "duplicate"
	// Conflict: the same key was committed with other content. Nothing was written.
	Conflict Outcome = "conflict"
	// OpenTurn: the turn has not ended; its messages were ingested, the turn was
	// not committed.
	OpenTurn Outcome = "open_turn"
)

// Observation is the answer to a [Turn].
type Observation struct {
	Outcome        Outcome `json:"outcome"`
	AdvancementKey string  `json:"advancement_key"`
	// Ingested counts the pages that were new.
	Ingested int `json:"ingested"`
	// Turns counts the committed turns of the session.
	Turns int `json:"turns"`
	// Rejected are those of the turn's updates that do not stand.
	Rejected []journal.Rejection `json:"rejected,omitempty"`
	// Stats is what was written.
	Stats Stats `json:"stats"`
	// Faults name what was not learned from the turn. It stands all the same.
	Faults []Fault `json:"faults,omitempty"`
}

// ObserveTurn commits a turn: its pages, its usage, and the summary brought up to
// date. It is atomic (the journal line is the commit) and idempotent per
// AdvancementKey.
func (k *Kernel) ObserveTurn(ctx context.Context, t Turn) (*Observation, error) {
	yield := k.yieldState(ctx, &t)
	s, w, unlock, err := k.openTurn(ctx, &t)
	if err != nil {
		return nil, err
	}
	defer unlock()
	o, err := observeTurn(s, ctx, w, t)
	if err != nil {
		s.Invalidate() // what stands on disk counts
		return o, err
	}
	o.Faults = append(o.Faults, markdownAfter(s, ctx, w, t, o, yield)...)
	k.takeNotes(s, w, t, o)
	return o, nil
}

// openTurn opens the session of a turn for writing and makes its messages valid.
func (k *Kernel) openTurn(ctx context.Context, t *Turn) (*session.Session, *intake, func(), error) {
	s, unlock, err := k.open(ctx, t.SessionKey, true)
	if err != nil {
		return nil, nil, nil, err
	}
	if t.Now.IsZero() {
		t.Now = k.now()
	}
	in, err := k.take(ctx, s, t)
	if err != nil {
		unlock()
		return nil, nil, nil, fmt.Errorf("observe session %s: %w", s.Key, err)
	}
	return s, in, unlock, nil
}

func observeTurn(s *session.Session, ctx context.Context, w *intake, t Turn) (*Observation, error) {
	w.absorb(s)
	hosts := w.Hosts
	o := &Observation{Outcome: Committed, Ingested: len(w.Out.New)}
	end := w.turnEnd()
	if err := w.commit(ctx, s); err != nil {
		return nil, fmt.Errorf("observe turn of session %s: %w", s.Key, err)
	}
	var body session.Turn
	if end > 0 {
		body = session.Turn{Branch: t.Branch, Model: t.Model, Last: hosts[end-1].Key,
			Chain: pagevm.Chain(ingest.Seen(hosts[turnStart(w.Msgs, end):end]))}
		if o.AdvancementKey = t.AdvancementKey; o.AdvancementKey == "" {
			o.AdvancementKey = ids.Page("turn", s.Name, t.Branch, body.Last)
		}
	}
	_, stands := s.Account.Chains[o.AdvancementKey]
	if t.Branch == "" {
		if err := s.Life.CaptureTurn(w.Msgs, turnStart(w.Msgs, end), stands, t.heard()); err != nil {
			return nil, fmt.Errorf("observe turn of session %s: %w", s.Key, err)
		}
	}
	o.Faults = append(o.Faults, faultsOf(s.Life.Damages())...)
	o.Stats = w.stats
	o.Stats.state(s.Life)
	if end == 0 {
		o.Outcome, o.Turns = OpenTurn, s.Account.Committed
		takeBill(s, o, w, t)
		return o, nil
	}
	if !stands && t.Branch == "" {
		// Before the turn stands: delivered again after a kill it would be a duplicate.
		o.Faults = append(o.Faults, faultsOf(s.Life.Log().Asked(ctx, w.Msgs[turnStart(w.Msgs, end):end], t.Now))...)
	}
	if err := commitTurn(s, o, &body, w.Msgs[:end], t); err != nil {
		return nil, fmt.Errorf("observe turn of session %s: %w", s.Key, err)
	}
	if o.Outcome != Conflict {
		if o.Outcome == Duplicate && end == len(w.Msgs) {
			if t.PlanID != "" {
				t.Usage = nil
			}
			t.PlanID = "" // its bill was taken
		}
		takeBill(s, o, w, t)
	}
	if o.Outcome == Committed && end < len(w.Msgs) {
		o.Outcome = OpenTurn
	}
	o.Turns = s.Account.Committed
	return o, nil
}

// commitTurn writes the turn to the journal, unless it is there. The same key
// with other messages is a conflict; what else a delivery brings (usage, plan)
// does not count for that.
func commitTurn(s *session.Session, o *Observation, body *session.Turn, msgs []memkernel.Message, t Turn) error {
	if chain, ok := s.Account.Chains[o.AdvancementKey]; ok {
		o.Outcome = Duplicate
		if chain != body.Chain && !ingest.StandsForgotten(msgs) {
			o.Outcome = Conflict
		}
		return nil
	}
	r, err := s.CommitTurn(o.AdvancementKey, body, advance(s, s.Account.Observed[t.Branch], msgs), t.Updates, t.Now)
	if err != nil {
		return err
	}
	o.Outcome, o.Rejected = Outcome(r.Outcome), r.Rejected
	o.Stats.journal(r.Stats)
	return nil
}

// turnStart is the index of the plain user message that began the turn which
// ends before end.
func turnStart(msgs []memkernel.Message, end int) int {
	for i := end - 1; i > 0; i-- {
		if transcript.PlainUser(msgs[i]) {
			return i
		}
	}
	return 0
}

// turnEnd is the number of leading messages that belong to ended turns: a turn
// has ended when the assistant spoke without calling a tool. 0 if none has.
func turnEnd(msgs []memkernel.Message) int {
	for i := len(msgs); i > 0; i-- {
		m := &msgs[i-1]
		if m.Role == memkernel.RoleAssistant && !hasCalls(m) {
			return i
		}
	}
	return 0
}

func hasCalls(m *memkernel.Message) bool {
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil && !c.Server {
			return true
		}
	}
	return false
}

// advance updates a summary by what it has not seen of msgs.
func advance(s *session.Session, st summary.State, msgs []memkernel.Message) summary.State {
	return summary.UpdateMasked(st, msgs[ingest.Unseen(st.Offset.Key, msgs):], s.Masker.Text)
}

// ObserveToolResult ingests what a host has so far, in the middle of a turn, so
// that a kill loses at most the running call. Nothing that is shown changes.
func (k *Kernel) ObserveToolResult(ctx context.Context, t Turn) (*Observation, error) {
	return k.ingestOnly(ctx, t)
}

// Ingest is [Kernel.ObserveToolResult] under the name of what it does.
func (k *Kernel) Ingest(ctx context.Context, t Turn) (*Observation, error) {
	return k.ingestOnly(ctx, t)
}

func (k *Kernel) ingestOnly(ctx context.Context, t Turn) (*Observation, error) {
	s, w, unlock, err := k.openTurn(ctx, &t)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := ingestTurn(s, ctx, w); err != nil {
		s.Invalidate()
		return nil, fmt.Errorf("ingest into session %s: %w", s.Key, err)
	}
	if t.Branch == "" {
		if err := s.Life.Capture(w.Msgs, t.heard()); err != nil {
			s.Invalidate()
			return nil, fmt.Errorf("ingest into session %s: %w", s.Key, err)
		}
	}
	o := &Observation{Outcome: OpenTurn, Ingested: len(w.Out.New), Turns: s.Account.Committed, Stats: w.stats}
	o.Stats.state(s.Life)
	takeBill(s, o, w, t)
	o.Faults = append(o.Faults, markdownAfter(s, ctx, w, t, o, "")...)
	return o, nil
}
