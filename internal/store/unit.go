package store

import "context"

// Unit is one writer's turn at a folder. From Begin to End nobody else's writes to the folder
// come between its own. Everything that is written to the folder meanwhile belongs to the unit.
//
// Files are locked for the unit, and each write happens at once, in the order of the calls. A
// database collects the writes and makes them together, in one transaction that fails if somebody
// else has written to the folder since it was read.
type Unit interface {
	// State returns the whole store. What is put through it belongs to the unit, too.
	State() Store
	// PutBlobs stores blobs. Nobody removes them before the unit ends.
	PutBlobs(ctx context.Context, b *Batch) (Stats, error)
	// Unchecked reports that it was not asked whether somebody else has written to the folder
	// since this process did.
	Unchecked() bool
	// Sync makes the writes so far durable, as their durability says. The caller must call it
	// before it does anything elsewhere that depends on them. An error that [Overtaken] recognises
	// says that somebody else has written, and that nothing of the unit since its last Sync is
	// there: the caller must begin anew, from what the other wrote.
	Sync() error
	// End makes the other writes durable and ends the unit. Its errors are those of Sync. The
	// caller must not report a result to anybody before End returned nil.
	End() error
}
