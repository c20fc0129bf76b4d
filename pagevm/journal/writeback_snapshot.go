package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/internal/store"
)

// OpSnapshot is the operation of the record that a compaction puts in place of the
// writebacks before it: the whole store, with all versions of all entries.
const OpSnapshot = "snapshot"

// snapshotBody is the body of a snapshot record. Equal stores have equal bytes.
type snapshotBody struct {
	Writeback    int          `json:"writeback"`
	Seq          int          `json:"seq"`
	Transactions []snapshotTx `json:"transactions"`
	Pages        []StoredPage `json:"pages"`
}

type snapshotTx struct {
	Seq      int         `json:"seq"`
	Key      string      `json:"key"`
	Hash     string      `json:"hash"`
	Point    CommitPoint `json:"point"`
	Accepted []string    `json:"accepted"`
	Rejected []Rejection `json:"rejected,omitempty"`
}

// Snapshot returns the store as JSON, the same bytes for the same history. A compaction writes
// these bytes. Two stores are equal if their snapshots are equal.
func (s *State) Snapshot() ([]byte, error) {
	body := snapshotBody{Writeback: writebackVersion, Pages: s.list(func(Address) bool { return true })}
	s.mu.RLock()
	body.Seq = s.seq
	for key, tx := range s.txs {
		body.Transactions = append(body.Transactions, snapshotTx{tx.seq, key, tx.hash, tx.point, tx.accepted, tx.rejected})
	}
	s.mu.RUnlock()
	slices.SortFunc(body.Transactions, func(a, b snapshotTx) int { return cmp.Compare(a.Seq, b.Seq) })
	return marshalPlain(&body)
}

// restore replaces the content of the store by a snapshot.
func (s *State) restore(raw json.RawMessage) error {
	var body snapshotBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if body.Writeback > writebackVersion {
		return fmt.Errorf("snapshot of format version %d: %w", body.Writeback, store.ErrNewer)
	}
	n := newStore()
	n.seq = body.Seq
	for _, t := range body.Transactions {
		n.txs[t.Key] = &txState{t.Seq, t.Hash, t.Point, t.Accepted, t.Rejected}
	}
	for _, p := range body.Pages {
		if err := n.restorePage(p); err != nil {
			return fmt.Errorf("snapshot: page %s: %w", p.Address, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq, s.pages, s.txs, s.refs, s.open = n.seq, n.pages, n.txs, n.refs, nil
	return nil
}

func (s *State) restorePage(p StoredPage) error {
	st := &pageState{typ: p.Type, version: p.Version, fields: make(map[string]*fieldState)}
	for _, f := range p.Fields {
		fs := &fieldState{kind: f.Kind, version: f.Version, at: make(map[string]int)}
		for _, e := range f.Entries {
			for i, v := range e.Versions {
				if v.Version != i+1 {
					return fmt.Errorf("field %q: version %d of %q in place of %d", f.Name, v.Version, e.ID, i+1)
				}
				fs.put(e.ID, v)
				s.refs[updateRef(v.Tx, v.Update)] = p.Address
			}
		}
		st.fields[f.Name] = fs
	}
	s.pages[p.Address] = st
	return nil
}
