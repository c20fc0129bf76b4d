// Package folder reads facts about sessions from their folders alone: the owner and name of a
// folder, the list of folders, the holders of locks, the sessions that are unused or have ended,
// the damaged files.
//
// A session's folder has the name that textutil.SafeName makes of its key. It records its owner
// in [WhoseFile] before anything else is written to it. Two keys never share a folder. A folder
// that belongs to another key is an error.
//
// This package reads no session's content, keeps no session in memory, and never decides about
// removals.
package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Folders of the state directory.
const (
	Sessions = "sessions"
	Blobs    = "blobs"
)

// The files of a session's folder, except those of package trace.
const (
	JournalFile = "journal.jsonl"
	HeadFile    = "journal.head" // how far the journal was synced
	LockFile    = "lock"
	// RecordsFile holds the changes of each plan. UsageFile holds the bills of calls. Both files
	// are derived.
	RecordsFile = "projection.jsonl"
	UsageFile   = "usage.jsonl"
	// WhoseFile names the folder's owner.
	WhoseFile = "session.json"
)

// Project names the journal that all sessions of a workspace share. It is kept like a session's
// journal and has its own lock. No session's folder can have this name.
const Project = "/project"

// Path returns the folder of a name, as a state directory names it.
func Path(name string) string {
	if name == Project {
		return "project"
	}
	return Sessions + "/" + name
}

// In returns the folder of a name in a state directory.
func In(state store.Store, name string) store.Store { return state.In(Path(name)) }

// All lists the folders of all sessions.
func All(state store.Store) ([]string, error) {
	entries, err := state.List(Sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.Folder {
			out = append(out, e.Name)
		}
	}
	return out, nil
}

// Find returns the folder of a session, or "" if the session has no folder. A folder that no
// longer names its owner is found by the folder's own name.
func Find(state store.Store, key string) (string, error) {
	for _, n := range []string{Of(key), key} {
		if !textutil.IsSafeName(n) {
			continue
		}
		if there, err := store.Find(In(state, n), ""); there || err != nil {
			return n, err
		}
	}
	return "", nil
}

// size returns the size of a file, or 0 if there is no usable file.
func size(dir store.Store, name string) (int64, error) {
	st, err := dir.Stat(name)
	if store.OutOfReach(err) {
		return 0, err
	}
	return st.Size, nil
}

// Keys returns the keys of all sessions, in the order of their folders. A session without a known
// key has the name of its folder, as in check and status.
func Keys(state store.Store) (keys []string, err error) {
	folders, err := All(state)
	for _, f := range folders {
		key, err := KeyIn(state, f)
		if err != nil {
			key = f
		}
		keys = append(keys, key)
	}
	return keys, err
}

// Near returns the keys of all sessions. The keys most like key come first: those that contain key
// or that key contains, then those that differ from it in the fewest letters. Case does not matter.
func Near(state store.Store, key string) ([]string, error) {
	keys, err := Keys(state)
	if err != nil {
		return nil, err
	}
	x, away := strings.ToLower(key), map[string]int{}
	for _, k := range keys {
		y := strings.ToLower(k)
		if x != "" && strings.Contains(y, x) || y != "" && strings.Contains(x, y) {
			continue
		}
		away[k] = textutil.Distance(x, y)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b)) })
	return keys, nil
}

// Lock takes a lock of the state directory alone.
func Lock(ctx context.Context, state store.Store, name string) (release func(), err error) {
	if release, err = store.Wait(ctx, state, name, store.Alone); err != nil {
		return nil, fmt.Errorf("take %s: %w", state.Where(name), err)
	}
	return release, nil
}
