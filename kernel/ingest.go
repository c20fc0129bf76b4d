package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/tokencount"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/transcript"
)

// shortener asks the host's compressor. All that it makes for one plan or
// observation has one stretch of time, so that a first plan over a long session
// does not take a call's time for each of its results.
type shortener struct {
	ctx   context.Context
	opt   *represent.Options
	begin sync.Once
	until time.Time
}

func (s *shortener) compress(in represent.EvidenceInput, reps []pagevm.Rep) []pagevm.Rep {
	s.begin.Do(func() { s.until = time.Now().Add(s.opt.Time()) })
	ctx, cancel := context.WithDeadline(s.ctx, s.until)
	defer cancel()
	return represent.Recompress(ctx, in, reps, s.opt)
}

// newMaker makes pages for a session. What it makes is on disk before it is used.
func newMaker(ctx context.Context, k *Kernel, s *session, m cachelayout.Model, branch, model string) (ingest.Maker, error) {
	count, err := tokencount.New(m.Tokenizer, model, k.counts)
	g := ingest.Maker{Out: &ingest.Pages{}, Known: s.pages, Graves: &s.graves, Mask: s.masker.Remembering(), Count: count, Represent: &k.represent,
		Branch: branch, Large: math.MaxInt, Durable: true}
	if k.represent.Compressor != nil {
		g.Compress = (&shortener{ctx: ctx, opt: &k.represent}).compress
	}
	return g, err
}

// intake is a turn as it was handed in, or what a boundary brought: made valid, and
// pages of it.
type intake struct {
	*ingest.Batch
	turn   *Turn
	model  cachelayout.Model
	prices *cachelayout.Book
	stats  Stats // of what was written
}

// take makes the messages of a turn valid.
func (k *Kernel) take(ctx context.Context, s *session, t *Turn) (*intake, error) {
	in := &intake{turn: t, prices: k.prices}
	in.model, _ = k.prices.Lookup(t.Model, t.Now)
	m, err := newMaker(ctx, k, s, in.model, t.Branch, t.Model)
	if err != nil {
		return nil, err
	}
	req := ingest.Request{Messages: t.Messages, Now: t.Now, Lead: plan.FormatOf("", &in.model) == transcript.FormatAnthropic, Unchanged: t.Unchanged, Open: t.Open}
	if l, h := s.hearing(t.Branch, t.Model); h != nil {
		in.Batch, err = ingest.RepairHeard(m, h, req)
	} else {
		in.Batch, err = ingest.Repair(m, l, req)
	}
	if err != nil && !errors.Is(err, ErrAnswered) {
		return nil, err
	}
	return in, nil
}

// hearing gives the conversation that a turn goes on from: that of a plan, or what was
// heard of it. The latter is taken out of the session until the turn is in.
func (s *session) hearing(name, model string) (*branch.State, *ingest.Heard) {
	key := lineKey{name, model}
	on, h := s.lines[key], s.heard[key]
	delete(s.heard, key)
	switch {
	case on != nil && len(on.Raw) > 0:
		return on, nil // a plan holds it
	case h == nil || h.On != on:
		h = ingest.NewHeard(on, s.line(name, model))
	}
	return nil, h
}

// absorb makes pages of what is new. Where the work fails later the session is forgotten.
func (in *intake) absorb(s *session) {
	in.Absorb()
	in.stats.Examined = in.Examined + len(in.Hosts) - in.Absorbed
	in.stats.LiftedBytes = in.LiftedBytes
	if h := in.Heard(); h != nil {
		s.heard[lineKey{in.turn.Branch, in.turn.Model}] = h
	}
}

// ingest makes pages of what is new and commits them.
func (s *session) ingest(ctx context.Context, in *intake) error {
	t := in.turn
	in.absorb(s)
	return s.commitPages(ctx, in.Out, &branch.Cut{Branch: t.Branch, Model: t.Model}, t.Now, &in.stats)
}

// commitPages writes pages that were made, what they hold, and what stands in the place
// of what a cut let go.
func (s *session) commitPages(ctx context.Context, pages *ingest.Pages, cut *branch.Cut, now time.Time, st *Stats) error {
	recs, err := captureRecords(pages, cut, now)
	if err != nil || len(recs) == 0 {
		return err
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	if len(pages.Blobs) > 0 {
		unlock, err := folder.LockBlobs(ctx, s.root, store.Shared)
		if err != nil {
			return err
		}
		defer unlock()
	}
	batch := s.blobs.NewBatch()
	for _, b := range pages.Blobs {
		batch.AddString(b)
	}
	wrote, err := batch.Commit(context.Background())
	if err != nil {
		return err
	}
	st.Blobs, st.BlobBytes, st.Syncs, st.SyncTime, st.Files = wrote.Files, wrote.Bytes, wrote.Syncs, wrote.SyncTime, wrote.Files
	js, err := s.journal.Append(true, recs...)
	if err != nil {
		return err
	}
	st.journal(js)
	s.keepPages(pages.New)
	s.keepCut(cut)
	return nil
}

func captureRecords(pages *ingest.Pages, cut *branch.Cut, now time.Time) ([]journal.Record, error) {
	var recs []journal.Record
	if !pages.Empty() {
		body, err := pages.AppendJSON(nil)
		if err != nil {
			return nil, err
		}
		recs = append(recs, journal.Record{Op: ingest.Op, ID: ids.HashBytes(body)[:24], Time: now, Body: body})
	}
	if len(cut.Texts) > 0 {
		body, err := json.Marshal(cut)
		if err != nil {
			return nil, err
		}
		recs = append(recs, journal.Record{Op: branch.OpCut, ID: ids.HashBytes(body)[:24], Time: now, Body: body})
	}
	return recs, nil
}

// turnEnd is the number of leading messages that belong to ended turns, those left out
// that the host calls open.
func (in *intake) turnEnd() int {
	all := in.turn.Messages
	open, _ := transcript.Repair(all[len(all)-min(max(in.turn.Open, 0), len(all)):], false)
	return turnEnd(in.Msgs[:max(0, len(in.Msgs)-len(open))])
}
