package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// OpSnapshot is the operation of the record that a compaction puts in place of all earlier
// writebacks. The record holds the whole state, with all versions of all entries.
const OpSnapshot = "snapshot"

// snapshotBody is the body of a snapshot record. Equal states have equal bytes.
type snapshotBody struct {
	Writeback    int            `json:"writeback"`
	Seq          int            `json:"seq"`
	Transactions []*transaction `json:"transactions"`
	Pages        []*StoredPage  `json:"pages"`
}

// Snapshot returns the state as JSON, the same bytes for the same history. A compaction writes
// these bytes. Two states are equal if their snapshots are equal.
func (s *State) Snapshot() ([]byte, error) {
	txs := slices.SortedFunc(maps.Values(s.txs), func(a, b *transaction) int { return cmp.Compare(a.Seq, b.Seq) })
	return textutil.JSON(&snapshotBody{writebackVersion, s.seq, txs, s.list(func(Address) bool { return true })})
}

// restore replaces the state by a snapshot.
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
		n.txs[t.Key] = t
	}
	for _, p := range body.Pages {
		if err := n.restorePage(p); err != nil {
			return fmt.Errorf("snapshot: page %s: %w", p.Address, err)
		}
	}
	n.salvage, n.lost = s.salvage, s.lost
	*s = *n
	return nil
}

func (s *State) restorePage(p *StoredPage) error {
	for i := range p.Fields {
		f := &p.Fields[i]
		f.at = make(map[string]int, len(f.Entries))
		for at, e := range f.Entries {
			if f.at[e.ID] = at; len(e.Versions) == 0 {
				return fmt.Errorf("field %q: no version of %q", f.Name, e.ID)
			}
			for n, v := range e.Versions {
				if v.Version != n+1 {
					return fmt.Errorf("field %q: version %d of %q in place of %d", f.Name, v.Version, e.ID, n+1)
				}
				s.refs[updateRef(v.Tx, v.Update)] = p.Address
			}
		}
	}
	s.pages[p.Address] = p
	return nil
}
