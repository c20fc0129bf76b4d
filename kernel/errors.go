package kernel

import (
	"slices"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// noSession returns the error for the key of a session that does not exist.
func noSession(state store.Store, key string) error {
	near, err := folder.Near(state, key)
	if err != nil {
		return err
	}
	return &api.NoSessionError{Key: key, Near: slices.Clip(near[:min(len(near), api.NearSessions)]), Count: len(near)}
}

// known returns an error for a session without stored state. If the disk can't be written to, the
// state may be in memory.
func known(state store.Store, sessions *session.Table, key string) error {
	key = session.KeyOr(key)
	name := folder.Of(key)
	if there, err := store.Find(folder.In(state, name), ""); there || err != nil {
		return err
	}
	if sessions.Keeps(name) {
		return nil
	}
	return noSession(state, key)
}
