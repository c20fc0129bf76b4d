package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Rewrite replaces the journal's records in one step, which a crash leaves done or not done. It
// calls edit with a copy of every record. edit may change the copy, and must report whether to
// keep it. All writebacks are passed to edit as one snapshot, which is the first record and the
// same as in a compaction. The new file is read before it takes the old one's name.
//
// Only Rewrite can remove chosen records from a journal. It is meant for records that a user
// wants forgotten. The caller must hold the session's lock. In a process that has the old file
// open, the next Refresh or append reports the rewrite. Rewrite holds the new file in memory.
func (j *Journal) Rewrite(edit func(*Record) (keep bool, err error)) (CompactStats, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.ready(); err != nil {
		return CompactStats{}, fmt.Errorf("rewrite journal: %w", err)
	}
	st := CompactStats{j.off, j.off}
	buf, n, err := j.rewritten(edit)
	if err != nil {
		return st, fmt.Errorf("rewrite journal %s: %w", j.path, err)
	}
	if err := j.replace(buf, n); err != nil {
		return st, fmt.Errorf("rewrite journal: %w", err)
	}
	j.store, j.commits = n.store, n.commits
	st.After = j.off
	return st, nil
}

// rewritten returns the content of the new file, and a journal that has read it.
func (j *Journal) rewritten(edit func(*Record) (bool, error)) ([]byte, *Journal, error) {
	var buf bytes.Buffer
	var sum chain
	put := func(r Record) error {
		keep, err := edit(&r)
		if err != nil || !keep {
			return err
		}
		return encodeRecord(&buf, &r, &sum)
	}
	if j.store.Seq() > 0 {
		snapshot, err := j.store.Snapshot()
		if err != nil {
			return nil, nil, err
		}
		if err := put(Record{Op: OpSnapshot, ID: "store", Body: snapshot}); err != nil {
			return nil, nil, err
		}
	}
	if err := j.eachKept(func(r Record, _ []byte) error { return put(r) }); err != nil {
		return nil, nil, err
	}
	n := newJournal(j.in, j.name)
	n.derived = true // its head comes when the file is in place
	if err := n.read(bytes.NewReader(buf.Bytes()), int64(buf.Len()), nil); err != nil {
		return nil, nil, err
	}
	if n.torn > 0 {
		return nil, nil, errors.New("the new file does not read to its end; the old one was left as it is")
	}
	return buf.Bytes(), n, nil
}

// eachKept calls f for every record that a snapshot does not replace, with the record's bytes.
func (j *Journal) eachKept(f func(r Record, raw []byte) error) error {
	r := newLineReader(j.path, io.NewSectionReader(j.f, 0, j.off), 0, 0)
	k := kept{}
	for {
		rec, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !k.keeps(&rec) {
			continue
		}
		if err := f(rec, r.raw); err != nil {
			return err
		}
	}
}

// kept keeps the records that a snapshot does not replace, in their order.
type kept struct{ open string } // the key of the writeback whose lines these are

func (k *kept) keeps(rec *Record) bool {
	switch rec.Op {
	case OpSnapshot:
		return false
	case OpStaged:
		if k.open = ""; rec.IsWriteback() {
			k.open = rec.ID
			return false
		}
	case opValidated, OpCommitted:
		return k.open == "" || rec.ID != k.open
	}
	return true
}
