package document

import "github.com/memkernel/memkernel/kernel"

// Move is the document of migrate --state.
type Move struct {
	Schema string `json:"schema"`
	From   string `json:"from"`
	To     string `json:"to"`
	// Documents are in the target, Copied of them were not before.
	Documents int   `json:"documents"`
	Copied    int   `json:"copied"`
	Bytes     int64 `json:"bytes"`
	Removed   bool  `json:"removed"`
}

// OfMove is what a move of the state came to.
func OfMove(r *kernel.MoveReport) *Move {
	return &Move{Schema: "memkernel/migrate_state/v1", From: r.From, To: r.To, Documents: r.Documents, Copied: r.Copied, Bytes: r.Bytes, Removed: r.Removed}
}
