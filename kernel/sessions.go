package kernel

import (
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	mem "github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/sessions"
)

// SessionOptions set whether the messages of other sessions are searched. It is off by default.
type SessionOptions struct {
	// Enabled makes documents of past sessions, secrets masked, whenever the index is
	// brought up to date, and lets private sessions of the same agent find them.
	Enabled bool
	// Sources are folders of transcripts that hosts write.
	Sources []sessions.Source
	// DeltaBytes and DeltaMessages are how much of a session must be new for it to be read again;
	// see [sessions.Options]. An explicit Reindex reads all.
	DeltaBytes    int64
	DeltaMessages int
}

// room are the options as package memory has them.
func (o *SessionOptions) room(state store.Store) mem.SessionOptions {
	return mem.SessionOptions{Enabled: o.Enabled, Sources: o.Sources, DeltaBytes: o.DeltaBytes, DeltaMessages: o.DeltaMessages,
		Folder: func(key string) (string, error) { return folder.Of(state, key) }, Own: archive.Journals{State: state}.List}
}
