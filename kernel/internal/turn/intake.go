package turn

import (
	"context"
	"errors"
	"math"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/transcript"
)

// newMaker returns a maker of pages for a session. The pages must be on disk before they are
// used.
func newMaker(d *Desk, s *session.Session, m cachelayout.Model, branch, model string) (ingest.Maker, error) {
	count, err := budget.NewModel(m.Tokenizer, model, d.Counts)
	return ingest.Maker{Out: &ingest.Pages{}, Known: s.Pages, Graves: &s.Graves, Mask: s.Masker.Remembering(), Count: count, WholeResults: d.WholeResults,
		Branch: branch, Large: math.MaxInt, Durable: true}, err
}

// intake is a turn as the host handed it in, or the messages of a boundary. The messages are made
// valid and divided into pages.
type intake struct {
	*ingest.Batch
	turn   *api.Turn
	model  cachelayout.Model
	prices *cachelayout.Book
}

// take makes the messages of a turn valid.
func (d *Desk) take(ctx context.Context, s *session.Session, t *api.Turn) (*intake, error) {
	in := &intake{turn: t, prices: d.Prices}
	in.model, _ = d.Prices.Lookup(t.Model, t.Now)
	m, err := newMaker(d, s, in.model, t.Branch, t.Model)
	if err != nil {
		return nil, err
	}
	m.Whole = s.Reader().Content
	req := ingest.Request{Messages: t.Messages, Now: t.Now, Lead: plan.FormatOf("", &in.model) == transcript.FormatAnthropic, Unchanged: t.Unchanged}
	l, h := s.Branches.Hearing(t.Branch, t.Model)
	if in.Batch, err = ingest.Repair(m, l, h, req); err != nil && !errors.Is(err, api.ErrAnswered) {
		return nil, err
	}
	return in, nil
}

// absorb makes pages of new messages, and stores an observed conversation in the session. If later
// work fails, callers must invalidate the session.
func (in *intake) absorb(s *session.Session) {
	in.Absorb()
	if h := in.Heard(); h != nil {
		s.Branches.Hear(in.turn.Branch, in.turn.Model, h)
	}
}

// ingestTurn makes pages of new messages and commits them.
func ingestTurn(ctx context.Context, s *session.Session, in *intake) error {
	in.absorb(s)
	return in.commitPages(ctx, s)
}

// commitPages writes the pages that were made.
func (in *intake) commitPages(ctx context.Context, s *session.Session) error {
	return s.CommitPages(ctx, in.Out, &branch.Cut{Branch: in.turn.Branch, Model: in.turn.Model}, in.turn.Now)
}

// cost returns the cost of ingesting the messages.
func (in *intake) cost(s *session.Session) api.Stats {
	out := s.TakeSpent()
	out.Examined, out.LiftedBytes = in.Examined+len(in.Hosts)-in.Absorbed, in.LiftedBytes
	return out
}

// turnEnd returns the number of leading messages that belong to ended turns. Messages that the host
// calls open belong to no ended turn.
func (in *intake) turnEnd() int {
	if in.turn.Over {
		return len(in.Msgs)
	}
	all := in.turn.Messages
	open, _ := transcript.Repair(all[len(all)-min(max(in.turn.Open, 0), len(all)):], false)
	return turnEnd(in.Msgs[:max(0, len(in.Msgs)-len(open))])
}
