package document

import "github.com/memkernel/memkernel/markdownstore"

// MoveFiles is the document of migrate --memory.
type MoveFiles struct {
	Schema string `json:"schema"`
	From   string `json:"from"`
	To     string `json:"to"`
	// Files are in the target, Copied of them were not before.
	Files   int   `json:"files"`
	Copied  int   `json:"copied"`
	Bytes   int64 `json:"bytes"`
	Removed bool  `json:"removed"`
	// LeftOut were not copied.
	LeftOut []markdownstore.CopyLeft `json:"left_out"`
}

// OfMoveFiles is what a move of memory's files came to.
func OfMoveFiles(r *markdownstore.Copied) *MoveFiles {
	return &MoveFiles{Schema: "memkernel/migrate_memory/v1", From: r.From, To: r.To, Files: r.Files, Copied: r.Copied, Bytes: r.Bytes, Removed: r.Removed, LeftOut: List(r.LeftOut)}
}
