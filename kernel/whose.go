package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/safename"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/trace"
)

// A session's folder has the name that package safename makes of its key, and says
// itself whose it is, in session.json, before anything else is written to it. A folder
// of another key is an error: two keys never share one.
//
// Folders of before December 2026 say nothing, and some have a name that would be
// another now. Such a folder goes on under its old name, which page ids derive from,
// if it is the key's: nothing that was written in it names another key, and its name
// can't have come of another.

// whoseFile says whose a session's folder is.
const whoseFile = "session.json"

// whoseFormat is the version of session.json.
//
//	1: first version
const whoseFormat = 1

type whose struct {
	Format int    `json:"format"`
	Key    string `json:"key"`
	// Bytes is a key that is no UTF-8; Key is then how it reads.
	Bytes []byte `json:"key_bytes,omitempty"`
}

// readWhose reads the key that a folder says, false if it says none.
func readWhose(dir store.Store, name string) (string, bool, error) {
	path := dir.Where(whoseFile)
	data, err := dir.Get(whoseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	var w whose
	switch err := json.Unmarshal(data, &w); {
	case err != nil:
		return "", false, fmt.Errorf("read %s: %w: restore the file from a backup, or move the session's folder away", path, err)
	case w.Format > whoseFormat:
		return "", false, fmt.Errorf("read %s: a newer version wrote it (format %d): update memkernel", path, w.Format)
	case w.Format < 1:
		return "", false, fmt.Errorf("read %s: it has no format: restore the file from a backup, or move the session's folder away", path)
	case w.Bytes != nil:
		w.Key = string(w.Bytes)
	}
	if safename.Of(w.Key) != name && safename.Before(w.Key) != name {
		return "", false, fmt.Errorf("read %s: it says the key %q, whose folder has another name: restore the file from a backup, or move the session's folder away", path, w.Key)
	}
	return w.Key, true, nil
}

func writeWhose(dir store.Store, key string) error {
	w := whose{Format: whoseFormat, Key: key, Bytes: asBytes(key)}
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = dir.Put(store.Synced, store.Doc{Name: whoseFile, Data: append(data, '\n')})
	return err
}

// asBytes is a key that is no UTF-8, which a string of JSON can't say; nil if it is.
func asBytes(key string) []byte {
	if utf8.ValidString(key) {
		return nil
	}
	return []byte(key)
}

// sessionDir is where a session lies in a state directory.
func sessionDir(state store.Store, name string) store.Store {
	return state.In(sessionsFolder).In(name)
}

// folderOf is the name of a session's folder in a state directory.
func folderOf(state store.Store, key string) (string, error) {
	name, old := safename.Of(key), safename.Before(key)
	if name == old {
		return name, nil
	}
	if store.Exists(sessionDir(state, name), "") {
		return name, nil
	}
	mine, err := wasOf(state, old, key)
	if err != nil {
		return "", fmt.Errorf("open session %s: %w", key, err)
	}
	if mine {
		return old, nil
	}
	return name, nil
}

// wasOf tells whether a folder that has the name which a key had before is the key's.
func wasOf(state store.Store, name, key string) (bool, error) {
	dir := sessionDir(state, name)
	if _, err := dir.Stat(""); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	recorded, ok, err := readWhose(dir, name)
	if err != nil || ok {
		return recorded == key, err
	}
	if there, err := listed(state, name); err != nil || !there {
		return false, err
	}
	named := keysNamed(dir)
	return !slices.ContainsFunc(named, func(n string) bool { return n != key }) && (len(named) > 0 || !safename.Hashed(key)), nil
}

// listed tells whether a session's folder has a name to the letter: some disks find it
// by others, too.
func listed(state store.Store, name string) (bool, error) {
	all, err := sessionFolders(state)
	return slices.Contains(all, name), err
}

// traceNames is where a trace names the session.
var traceNames = regexp.MustCompile(`"before":\{"version":\d+,"session":("(?:[^"\\]|\\.)*")`)

// keysNamed are the keys that a folder which does not say whose it is names in its
// traces and its newest checkpoint.
func keysNamed(dir store.Store) []string {
	var out []string
	for _, name := range []string{trace.File, trace.OldFile} {
		f, err := dir.Open(name)
		if err != nil {
			continue
		}
		head, _ := io.ReadAll(io.NewSectionReader(f, 0, 64<<10))
		f.Close()
		if m := traceNames.FindSubmatch(head); m != nil {
			var key string
			if json.Unmarshal(m[1], &key) == nil {
				out = append(out, key)
			}
		}
	}
	if c, _, err := checkpoint.NewStore(dir).Latest(); err == nil && c != nil && c.Meta.SessionKey != "" {
		out = append(out, string(c.Meta.SessionKey))
	}
	return out
}

// sessionKeyIn is the key of a session's folder, as far as it can be told; else the folder's
// name.
func sessionKeyIn(state store.Store, name string) (string, error) {
	dir := sessionDir(state, name)
	if safename.Of(name) == name && !safename.Hashed(name) {
		return name, nil // it can be no other's
	}
	key, ok, err := readWhose(dir, name)
	if err != nil || ok || !safename.Hashed(name) {
		if !ok {
			key = name
		}
		return key, err
	}
	for _, n := range keysNamed(dir) {
		if n != name && safename.Before(n) == name {
			return n, nil
		}
	}
	if n, err := sessionKeyOf(name); err == nil {
		return n, nil
	}
	return name, nil
}

// identify settles whose the folder is. A key that is "" is to be told by the folder.
func (s *session) identify(key string) error {
	if s.name == projectFolder {
		return nil
	}
	s.signs = false
	if !s.whose {
		recorded, ok, err := readWhose(s.files, s.name)
		if err != nil {
			return err
		}
		if ok {
			s.key, s.whose = recorded, true
		}
	}
	switch {
	case s.whose && key != "" && key != s.key:
		return fmt.Errorf("%s is of session %q, and not of %q: two keys never share a folder; move it away if it was put there by mistake", s.files.Where(""), s.key, key)
	case s.whose:
		return nil
	case key == "":
		var err error
		s.key, err = sessionKeyIn(s.root, s.name)
		return err
	}
	if size(s.files, journalFile) > 0 {
		if there, err := listed(s.root, s.name); err != nil {
			return err
		} else if !there {
			return fmt.Errorf("%s is of a session whose key differs from %q by case only, which this disk doesn't tell apart: move that folder away, or give the session another key", s.files.Where(""), key)
		}
	}
	s.key, s.signs = key, true
	return nil
}

// sign writes down whose the folder is, before anything else is.
func (s *session) sign() error {
	if !s.signs || s.whose {
		return nil
	}
	if err := writeWhose(s.files, s.key); err != nil {
		return err
	}
	s.whose, s.signs = true, false
	return nil
}
