package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
)

// CompactStats describes the effect of a compaction, in bytes of the file.
type CompactStats struct {
	Before, After int64
}

// Compact rewrites the journal with the writebacks replaced by one snapshot of their state.
// Rejections, opaque transactions and all other records keep their bytes and their order. The new
// file is read and compared before it takes the old one's name, in one step that a crash leaves
// done or not done. The caller must hold the session's lock. In a process that has the old file
// open, the next Refresh or append reports the compaction. A journal without writebacks is left
// as it is.
//
// Compact holds the new file in memory.
func (j *Journal) Compact() (CompactStats, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.ready(); err != nil {
		return CompactStats{}, fmt.Errorf("compact journal: %w", err)
	}
	st := CompactStats{j.off, j.off}
	if j.store.Seq() == 0 {
		return st, nil
	}
	buf, n, err := j.compacted()
	if err != nil {
		return st, fmt.Errorf("compact journal %s: %w", j.path, err)
	}
	if err := j.replace(buf, n); err != nil {
		return st, fmt.Errorf("compact journal: %w", err)
	}
	st.After = j.off
	return st, nil
}

// compacted returns the content of the new file, and a journal that has read it.
func (j *Journal) compacted() ([]byte, *Journal, error) {
	snapshot, err := j.store.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	var buf bytes.Buffer
	var sum chain
	if err := encodeRecord(&buf, &Record{Op: OpSnapshot, ID: "store", Body: snapshot}, &sum); err != nil {
		return nil, nil, err
	}
	err = j.eachKept(func(_ Record, raw []byte) error {
		writeLine(&buf, &sum, raw, nil, nil)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	n := newJournal(j.in, j.name)
	n.derived = true // its head comes when the file is in place
	if err := n.read(bytes.NewReader(buf.Bytes()), int64(buf.Len()), nil); err != nil {
		return nil, nil, err
	}
	again, err := n.store.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	if n.torn > 0 || !bytes.Equal(snapshot, again) || !maps.Equal(j.commits, n.commits) {
		return nil, nil, errors.New("the new file does not read as the old one; it was left as it is")
	}
	return buf.Bytes(), n, nil
}
