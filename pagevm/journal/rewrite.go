package journal

import (
	"fmt"
	"iter"

	"github.com/memkernel/memkernel/internal/store"
)

// Compact rewrites the journal with the writebacks replaced by one snapshot of their state.
// Rejections and all other records stay, in their order. A journal without writebacks is left as it
// is. Otherwise Compact is a [Journal.Rewrite].
func (j *Journal) Compact() error {
	if j.store.Seq() == 0 {
		return j.readOthers()
	}
	return j.Rewrite(keepAll)
}

func keepAll(*store.Record) (bool, error) { return true, nil }

// Rewrite replaces the journal's records in one step, which a crash leaves done or not done. It
// calls edit with a copy of every record. edit may change the copy, and must report whether to
// keep it. All writebacks are passed to edit as one snapshot, which is the first record and the
// same as in a compaction. The new records are read before they replace the old ones.
//
// Only Rewrite can remove chosen records from a journal. It is meant for records that a user
// wants forgotten. The caller must hold the session's lock. In a process that has the old journal
// open, the next Refresh or append reports the rewrite.
func (j *Journal) Rewrite(edit func(*store.Record) (keep bool, err error)) error {
	n := &Journal{store: newStore()}
	err := j.readOthers()
	if err == nil {
		err = j.Replace(j.compacted(n, j.Records(), edit))
	}
	if err != nil {
		return fmt.Errorf("rewrite journal %s: %w", j.path, err)
	}
	j.store, j.records, j.needed = n.store, n.records, n.needed
	return nil
}

// readOthers reads the records that others have appended.
func (j *Journal) readOthers() error {
	_, err := j.append(false, func() ([]store.Record, error) { return nil, nil })
	return err
}

// compacted yields the records that remain of old: the state of all writebacks as one snapshot,
// and the other records, both as edit leaves them. n learns them.
func (j *Journal) compacted(n *Journal, old iter.Seq2[store.Record, error], edit func(*store.Record) (bool, error)) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		put := func(r store.Record, err error) bool {
			keep := err == nil
			if keep {
				keep, err = edit(&r)
			}
			if err == nil && keep {
				err = n.learn(r)
			}
			switch {
			case err != nil:
				yield(store.Record{}, err)
				return false
			case keep:
				return yield(r, nil)
			}
			return true
		}
		if j.store.Seq() > 0 {
			snapshot, err := j.store.Snapshot()
			if !put(store.Record{Op: OpSnapshot, ID: "store", Body: snapshot}, err) {
				return
			}
		}
		k := kept{}
		for r, err := range old {
			if err == nil && !k.keeps(&r) {
				continue
			}
			if !put(r, err) {
				return
			}
		}
	}
}

// kept keeps the records that a snapshot does not replace, in their order.
type kept struct{ open string } // the key of the writeback that the records belong to

func (k *kept) keeps(rec *store.Record) bool {
	switch rec.Op {
	case OpSnapshot:
		return false
	case OpStaged:
		if k.open = ""; IsWriteback(rec) {
			k.open = rec.ID
			return false
		}
	case opValidated, OpCommitted:
		return k.open == "" || rec.ID != k.open
	}
	return true
}
