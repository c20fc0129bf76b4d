package kernel

import "github.com/memkernel/memkernel/sessions"

// PastOptions set whether the messages of other sessions are searched. It is off by default.
type PastOptions struct {
	// Enabled makes documents of past sessions, with secrets masked, whenever the index is
	// updated. Private sessions of the same agent find these documents.
	Enabled bool
	// Sources are folders of transcripts that hosts write.
	Sources []sessions.Source
	// DeltaBytes is the number of new bytes from which a session is read again; see
	// [sessions.Options]. An explicit Reindex reads all sessions.
	DeltaBytes int64
	// DeltaMessages is the number of new messages from which a session is read again.
	DeltaMessages int
}
