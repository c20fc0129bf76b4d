package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// kept is a session in the form that the keeper of its working state uses.
type kept struct{ s *Session }

func (r kept) Key() string                  { return r.s.Key }
func (r kept) Name() string                 { return r.s.Name }
func (r kept) Stored() []journal.StoredPage { return r.s.Stored() }

func (r kept) Progress() workstate.Progress {
	p := workstate.Progress{Epoch: r.s.Account.Epoch, Compactions: r.s.Account.Compactions, Turns: r.s.Account.Committed}
	if cuts := r.s.Branches.Newest("", "").Proj.Cuts; len(cuts) > 0 {
		p.Cut = cuts[len(cuts)-1].Chain
	}
	return p
}

func (r kept) Window(model string) int {
	m, _ := r.s.o.Prices.Lookup(model, r.s.o.Now())
	kept, _ := r.s.Calibrations.Of(model)
	return cmp.Or(m.ContextWindow, kept.Window)
}

func (r kept) Has(item string) bool { return r.s.Memories.flushed[item] }
func (r kept) Keep(items []string) {
	for _, i := range items {
		r.s.Memories.flushed[i] = true
	}
}

func (r kept) Promised(id string) (e workstate.Entry, written, ok bool) {
	e, ok = r.s.Memories.Entries[id]
	return e, r.s.Memories.written[id], ok
}

func (r kept) Append(ctx context.Context, id string, e workstate.Entry, now time.Time) (promised bool, err error) {
	m := r.s.o.Memory
	if err := Appendable(m.Store(e.Private), e.Path); err != nil {
		return false, err
	}
	_, err = r.s.Remember(ctx, id, e, "", now)
	if err == nil && e.Path != workstate.BufferPath { // the buffer is not indexed
		m.Sync.Written()
	}
	waits := (*UnwrittenError)(nil)
	return err == nil || errors.As(err, &waits), err
}
