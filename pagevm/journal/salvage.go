package journal

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
)

// Salvage is the sound part of a journal, whatever happened to the rest.
type Salvage struct {
	// Records are the sound records.
	Records []store.Record
	// Lost lists the unusable stretches of the journal in their order.
	Lost []store.Lost
	// Unfit describes the intact records that can't be kept, because they depend on lost ones.
	Unfit []string

	j *Journal
}

// Recover reads the sound part of a journal, damaged or not. It writes nothing. If a transaction builds
// on a lost transaction, Recover takes those of its updates that still fit, so that the last written
// value is kept.
func Recover(ctx context.Context, in store.Store, name string) (*Salvage, error) {
	j, err := newJournal(in, name, &Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	s := &Salvage{j: j}
	s.j.store.salvage = true
	sound, lost, err := j.Salvage(longwork.ProgressOf(ctx))
	if err != nil {
		return nil, err
	}
	s.Lost = lost
	open := "" // the key of the transaction that the records belong to
	for _, rec := range sound {
		s.take(rec, &open)
	}
	s.Unfit = append(s.Unfit, s.j.store.lost...)
	s.j.store.salvage, s.j.store.lost = false, nil
	return s, nil
}

// take keeps an intact record if it fits the records before it. open is the key of the transaction that
// has begun, "" if none has.
func (s *Salvage) take(rec store.Record, open *string) {
	switch rec.Op {
	case OpStaged:
		*open = rec.ID
	case OpRejected, opValidated, OpCommitted:
		if *open != rec.ID {
			if rec.Op == OpCommitted {
				s.Unfit = append(s.Unfit, fmt.Sprintf("commit %q: what it commits is lost", rec.ID))
			}
			return
		}
	}
	if err := s.j.learn(rec); err != nil {
		s.Unfit = append(s.Unfit, fmt.Sprintf("%s %q: %v", rec.Op, rec.ID, err))
		*open = ""
		return
	}
	if rec.Op == OpCommitted {
		*open = ""
	}
	s.Records = append(s.Records, rec)
}

// Sound reports whether the journal has no fault.
func (s *Salvage) Sound() bool { return len(s.Lost) == 0 && len(s.Unfit) == 0 }

// Journal returns a journal that has read the sound part. The returned journal can't be appended
// to.
func (s *Salvage) Journal() *Journal { return s.j }

// Apply puts the journal aside and begins a new one with the sound part, as a compaction would. A
// crash leaves the damaged journal in place or the new one. It returns the places of the files that
// it put aside. The caller must hold the session's lock.
func (s *Salvage) Apply() (aside []string, err error) {
	var recs []store.Record
	sound := func(yield func(store.Record, error) bool) {
		for _, r := range s.Records {
			if !yield(r, nil) {
				return
			}
		}
	}
	for r, err := range s.j.compacted(&Journal{store: newStore()}, sound, keepAll) {
		if err != nil {
			return nil, fmt.Errorf("salvage: %w", err)
		}
		recs = append(recs, r)
	}
	return s.j.Reset(recs)
}
