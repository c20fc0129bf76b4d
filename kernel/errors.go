package kernel

import (
	"slices"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// noSession is the error for a key.
func noSession(state store.Store, key string) error {
	near, err := folder.Near(state, key)
	if err != nil {
		return err
	}
	return &api.NoSessionError{Key: key, Near: slices.Clip(near[:min(len(near), api.NearSessions)]), Count: len(near)}
}

// known refuses a session of which nothing is kept, on disk or, where that can't be
// written to, in memory.
func known(state store.Store, sessions *session.Table, key string) error {
	key = keyOr(key)
	name, err := folder.Of(state, key)
	if err != nil {
		return err
	}
	if there, err := store.Find(folder.In(state, name), ""); there || err != nil {
		return err
	}
	if sessions.Keeps(name) {
		return nil
	}
	return noSession(state, key)
}

// SessionKeys are the keys of the sessions that a store has, in the order of their folders.
// It opens none of them; one that doesn't say whose it is goes by the name of its folder.
func SessionKeys(s Store) ([]string, error) { return folder.Keys(s.State()) }
