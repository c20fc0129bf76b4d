package cachelayout

import "time"

// Record is a ledger without its chain, small enough to be written for every call. The chain can
// be computed from the sent blocks, which a caller that keeps the prompt has. Tip proves that the
// blocks are the same.
type Record struct {
	Version   int       `json:"version"`
	Identity  Identity  `json:"identity"`
	Marks     []Mark    `json:"marks"`
	LastStart time.Time `json:"last_start,omitzero"`
	Hit       bool      `json:"hit,omitempty"`
	// Blocks is the length of the chain. Tip is the name of the whole chain.
	Blocks int    `json:"blocks"`
	Tip    uint64 `json:"tip,string"`
}

// Record drops the chain.
func (l *Ledger) Record() Record {
	r := Record{Version: ledgerVersion, Identity: l.Identity, Marks: l.Marks, LastStart: l.LastStart, Hit: l.Hit, Blocks: len(l.Chain)}
	if len(l.Chain) > 0 {
		r.Tip = l.Chain[len(l.Chain)-1].Chain
	}
	return r
}

// Restore rebuilds the ledger from the blocks of the recorded request, which may be followed by
// newer ones. It returns false, and the zero Ledger, if the blocks are not the sent ones or the
// record is of a newer format. Callers must then assume that nothing is cached.
func (r Record) Restore(blocks []Block) (Ledger, bool) {
	if r.Version != ledgerVersion || r.Blocks <= 0 || r.Blocks > len(blocks) {
		return Ledger{}, false
	}
	chain := extend(nil, blocks[:r.Blocks])
	if chain[r.Blocks-1].Chain != r.Tip {
		return Ledger{}, false
	}
	for _, m := range r.Marks {
		if m.Index < 0 || m.Index >= r.Blocks {
			return Ledger{}, false
		}
	}
	return Ledger{Version: r.Version, Identity: r.Identity, Chain: chain, Marks: r.Marks, LastStart: r.LastStart, Hit: r.Hit}, true
}
