// Package folder holds what can be told of sessions from their folders alone: whose a
// folder is and what it is called, which folders there are, who has one locked, which are
// not used any more and have ended, which of their files are damaged.
//
// A session's folder has the name that textutil.SafeName makes of its key, and says
// itself whose it is, in [WhoseFile], before anything else is written to it. A folder
// of another key is an error: two keys never share one.
//
// Folders of before December 2026 say nothing, and some have a name that would be
// another now. Such a folder goes on under its old name, which page ids derive from,
// if it is the key's: nothing that was written in it names another key, and its name
// can't have come of another.
//
// Nothing here reads what a session says, keeps anything of one in memory, or decides
// what goes.
package folder

import (
	"errors"
	"io/fs"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Folders of the state directory.
const (
	Sessions = "sessions"
	Blobs    = "blobs"
)

// The files of a session's folder, beside those of package trace.
const (
	JournalFile = "journal.jsonl"
	HeadFile    = "journal.head" // how far the journal was synced
	LockFile    = "lock"
	// RecordsFile holds what each plan changed, UsageFile what calls were billed. Both
	// are derived.
	RecordsFile = "projection.jsonl"
	UsageFile   = "usage.jsonl"
	// WhoseFile says whose the folder is.
	WhoseFile = "session.json"
)

// Project names the journal that all sessions of a workspace share. It is kept like a
// session's, with a lock of its own; no session's folder can have the name.
const Project = "/project"

// In is the folder of a name in a state directory.
func In(state store.Store, name string) store.Store {
	if name == Project {
		return state.In("project")
	}
	return state.In(Sessions).In(name)
}

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

// Find is the folder of a session, "" if there is none, though it may not say any more whose it
// is: a folder's own name will do.
func Find(state store.Store, key string) (string, error) {
	name, err := Of(state, key)
	if store.OutOfReach(err) {
		return "", err
	}
	names := []string{textutil.SafeName(key), textutil.SafeNameBefore(key), key}
	if err == nil {
		names = append([]string{name}, names...)
	}
	for _, n := range names {
		if !textutil.IsSafeName(n) {
			continue
		}
		if there, err := store.Find(In(state, n), ""); there || err != nil {
			return n, err
		}
	}
	return "", nil
}

// Size is the size of a file, 0 if there is none that may be used.
func Size(dir store.Store, name string) (int64, error) {
	st, err := dir.Stat(name)
	if store.OutOfReach(err) {
		return 0, err
	}
	return st.Size, nil
}
