package journal

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/internal/store"
)

// These operations are the phases of a commit, shown in writeback.go. Only Writeback writes
// them. Other operations ("ingest", "turn", "cut", "forget", ...) belong to the packages
// that write them.
const (
	OpStaged    = "staged"
	opValidated = "validated"
	OpRejected  = "rejected"
	OpCommitted = "committed"
)

// OpRemembered records that a file holds an entry that the journal promised. If the record is lost,
// the file is read once more. [Journal.Sync] therefore never syncs for such records alone.
const OpRemembered = "remembered"

// Options are the options of OpenJournalIn; nil means defaults.
type Options struct {
	// ReadOnly leaves the journal unchanged. A torn tail is skipped and not cut off.
	ReadOnly bool
	// Each, if not nil, is called in order for every record that is read on opening. An error
	// from Each ends the reading. If the journal was rewritten meanwhile, opening fails with an
	// error for which [store.ReplacedLog] is true, and the caller must open the journal again.
	Each func(store.Record) error
	// Derived is [store.LogOptions.Derived].
	Derived bool
}

// Journal is an open journal: a log of records with the commits among them. It records only events
// that have happened, and every other file can be made again from it. Only one goroutine may use a
// Journal. Other processes may read the file at any time. Callers that open it for writing or
// append must hold the session's lock.
type Journal struct {
	store.Log // is written by Append, Writeback, Compact and Rewrite alone

	in      store.Store
	name    string
	path    string // its place, for messages
	records int    // records learned
	needed  int    // the number of these up to the last one that Sync must make durable
	store   *State
	broken  error // set once a record that was written could not be learned
}

// OpenJournalIn reads a journal and prepares it for appending. A missing journal is empty, and
// the first append makes it. OpenJournalIn returns a *store.LogError for damage, and an error
// that wraps store.ErrNewer for a record of a newer version. Both errors leave the journal
// unchanged.
func OpenJournalIn(in store.Store, name string, opt *Options) (*Journal, error) {
	if opt == nil {
		opt = &Options{}
	}
	for try := 0; ; try++ {
		j, err := newJournal(in, name, opt)
		if err == nil {
			err = j.refresh(opt.Each)
		}
		if err == nil {
			return j, nil
		}
		// A reader without the lock may meet a journal that is just being rewritten.
		if try == rewritesMet || !store.ReplacedLog(err) || !opt.ReadOnly || opt.Each != nil {
			return nil, fmt.Errorf("open journal: %w", err)
		}
	}
}

// rewritesMet is how often a reader tries again if the journal is rewritten while it reads.
const rewritesMet = 4

func newJournal(in store.Store, name string, opt *Options) (*Journal, error) {
	log, err := in.OpenLog(name, store.LogOptions{ReadOnly: opt.ReadOnly, Derived: opt.Derived})
	if err != nil {
		return nil, err
	}
	return &Journal{Log: log, in: in, name: name, path: in.Where(name), store: newStore()}, nil
}

// refresh reads the records that were appended since, and passes each to each, which may be nil,
// once it is learned. An error of each is returned as it is.
func (j *Journal) refresh(each func(store.Record) error) error {
	var failed error
	err := j.Log.Read(func(r store.Record) error {
		err := j.learn(r)
		if err == nil && each != nil {
			failed = each(r)
		}
		return cmp.Or(err, failed)
	})
	return cmp.Or(failed, err)
}

// learn applies a record to the state.
func (j *Journal) learn(rec store.Record) error {
	if err := j.store.learn(rec); err != nil {
		return err
	}
	if j.records++; rec.Op != OpRemembered {
		j.needed = j.records
	}
	return nil
}

// Refresh reads the records that another process has appended since, and passes each to each. If
// the journal was rewritten, as by a compaction, it returns a *store.LogError and the caller must
// open the journal again.
func (j *Journal) Refresh(each func(store.Record) error) error {
	if err := j.refresh(each); err != nil {
		return fmt.Errorf("refresh journal: %w", err)
	}
	return nil
}

// Append writes records in one piece, durably if sync is set. It first reads the records that
// another process has appended. On an error none of the caller's records are in the journal.
func (j *Journal) Append(sync bool, recs ...store.Record) (store.Stats, error) {
	if len(recs) == 0 {
		return store.Stats{}, nil
	}
	for i := range recs {
		switch op := recs[i].Op; op {
		case OpStaged, opValidated, OpRejected, OpCommitted, OpSnapshot:
			return store.Stats{}, fmt.Errorf("append to journal: %q belongs to commits; use Writeback", op)
		}
	}
	st, err := j.append(sync, func() ([]store.Record, error) { return recs, nil })
	if err != nil {
		err = fmt.Errorf("append to journal: %w", err)
	}
	return st, err
}

// append writes the records that decide returns. If others have appended records, it reads them
// and asks decide again.
func (j *Journal) append(sync bool, decide func() ([]store.Record, error)) (st store.Stats, err error) {
	var recs []store.Record
	err = j.current(func() error {
		if recs, err = decide(); err == nil {
			st, err = j.Log.Append(sync, recs...)
		}
		return err
	})
	if err != nil {
		return st, err
	}
	for i := range recs {
		if err := j.learn(recs[i]); err != nil {
			j.broken = err
			return st, err
		}
	}
	return st, nil
}

// current calls write, and once more after it has read the records of others that write met.
func (j *Journal) current(write func() error) error {
	if j.broken != nil {
		return fmt.Errorf("%s must be opened again after: %w", j.path, j.broken)
	}
	for {
		err := write()
		if !errors.Is(err, store.ErrOvertaken) || store.ReplacedLog(err) {
			return err
		}
		known := j.records
		if oops := j.refresh(nil); oops != nil {
			return fmt.Errorf("refresh journal: %w", oops)
		}
		if j.records == known {
			return err
		}
	}
}

// Sync makes durable all records that were read or appended. Records that were read may not be
// durable, since a killed process may not have synced its records. It does nothing if every
// record that is not durable is an [OpRemembered].
func (j *Journal) Sync() error {
	if err := j.current(func() error { return j.Log.Sync(j.needed) }); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}
