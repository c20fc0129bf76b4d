package api

// MoveReport is the outcome of a move.
type MoveReport struct {
	// From is the source, and To is the target.
	From, To string
	// Documents counts the documents in the target. Copied counts the documents that this move
	// copied.
	Documents, Copied int
	// Bytes is the total size of the documents.
	Bytes int64
	// Removed: the state was removed from the source.
	Removed bool
}
