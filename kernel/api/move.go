package api

// MoveReport is the outcome of a move.
type MoveReport struct {
	// From and To are the places.
	From, To string
	// Documents counts the documents in the target, Bytes their total size. Copied counts those
	// that this move copied.
	Documents, Copied int
	Bytes             int64
	// Removed: the state was removed from the source.
	Removed bool
}
