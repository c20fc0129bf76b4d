package api

// MoveReport is the outcome of a move.
type MoveReport struct {
	// From and To are the places.
	From, To string
	// Documents are in the target, of Bytes together; Copied of them were not before.
	Documents, Copied int
	Bytes             int64
	// Removed: the source has them no more.
	Removed bool
}
