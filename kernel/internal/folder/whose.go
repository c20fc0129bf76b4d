package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// whoseFormat is the version of session.json.
//
//	1: first version
const whoseFormat = 1

type whose struct {
	Format int    `json:"format"`
	Key    string `json:"key"`
	// Bytes is a key that is not valid UTF-8. Key is then a readable form of the key.
	Bytes []byte `json:"key_bytes,omitempty"`
}

// readWhose reads the key that a folder names. It returns false if the folder names no key.
func readWhose(dir store.Store, name string) (string, bool, error) {
	path := dir.Where(WhoseFile)
	data, err := dir.Get(WhoseFile)
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
	if Of(w.Key) != name {
		return "", false, fmt.Errorf("read %s: it says the key %q, whose folder has another name: restore the file from a backup, or move the session's folder away", path, w.Key)
	}
	return w.Key, true, nil
}

// asBytes returns the bytes of a key that is not valid UTF-8, because a JSON string can't hold
// such a key. For valid UTF-8 it returns nil.
func asBytes(key string) []byte {
	if utf8.ValidString(key) {
		return nil
	}
	return []byte(key)
}

// Of returns the name of a session's folder in a state directory.
func Of(key string) string { return textutil.SafeName(key) }

// KeyIn returns the key of a session's folder if the key is known, else the folder's name.
func KeyIn(state store.Store, name string) (string, error) {
	dir := In(state, name)
	if textutil.SafeName(name) == name && !textutil.IsHashedName(name) {
		return name, nil // no other key can have this folder
	}
	key, ok, err := readWhose(dir, name)
	if err != nil || ok || !textutil.IsHashedName(name) {
		if !ok {
			key = name
		}
		return key, err
	}
	c, _, err := checkpoint.NewStore(dir).Latest()
	if store.OutOfReach(err) {
		return name, err
	}
	if err == nil && c != nil && string(c.Meta.SessionKey) != name && Of(string(c.Meta.SessionKey)) == name {
		return string(c.Meta.SessionKey), nil
	}
	if n, err := KeyOf(name); err == nil {
		return n, nil
	}
	return name, nil
}

// namesAgent matches the folder name of a session whose key names an agent. Such a name ends in a
// hash if its key could not be used unchanged.
var namesAgent = regexp.MustCompile(`^agent_.*-[0-9a-f]{16}$`)

// maxColons bounds the number of places in a name where a colon is tried.
const maxColons = 12

// KeyOf returns the key of a session from its folder's name. If a key names an agent, its colons
// are replaced in the folder's name. The hash that follows tells where the colons were. If KeyOf
// can't restore them, the session's owner is unknown.
func KeyOf(folder string) (string, error) {
	if !namesAgent.MatchString(folder) {
		return folder, nil
	}
	body, sum := folder[:len(folder)-17], folder[len(folder)-16:]
	var at []int
	for i := range len(body) {
		if body[i] == '_' {
			at = append(at, i)
		}
	}
	for set := 1; len(at) <= maxColons && set < 1<<len(at); set++ {
		key := []byte(body)
		for i, p := range at {
			if set>>i&1 == 1 {
				key[p] = ':'
			}
		}
		if h := sha256.Sum256(key); hex.EncodeToString(h[:8]) == sum {
			return string(key), nil
		}
	}
	return "", fmt.Errorf("session %s: its key can't be told from its folder, so nobody knows whose it is: it is not searched", folder)
}

// Owner knows the owner of a folder that is in use.
type Owner struct {
	said  bool // the folder names its owner
	signs bool // the folder must name its owner
}

// Unread forgets the folder's owner, so that the next Identify reads it again.
func (o *Owner) Unread() { o.said = false }

// Identify determines the owner of the folder name and returns the owner's key. known is the
// owner that was assumed so far. If key is "", the folder must name its owner.
func (o *Owner) Identify(state store.Store, name, known, key string) (string, error) {
	if name == Project {
		return known, nil
	}
	dir := In(state, name)
	o.signs = false
	if !o.said {
		recorded, ok, err := readWhose(dir, name)
		if err != nil {
			return known, err
		}
		if ok {
			known, o.said = recorded, true
		}
	}
	switch {
	case o.said && key != "" && key != known:
		return known, fmt.Errorf("%s is of session %q, and not of %q: two keys never share a folder; move it away if it was put there by mistake", dir.Where(""), known, key)
	case o.said:
		return known, nil
	case key == "":
		return KeyIn(state, name)
	}
	size, err := size(dir, JournalFile)
	if err != nil {
		return known, err
	}
	if size > 0 {
		// Some disks find a folder by other spellings, too.
		if all, err := All(state); err != nil {
			return known, err
		} else if !slices.Contains(all, name) {
			return known, fmt.Errorf("%s is of a session whose key differs from %q by case only, which this disk doesn't tell apart: move that folder away, or give the session another key", dir.Where(""), key)
		}
	}
	o.signs = true
	return key, nil
}

// Sign records the folder's owner, before any other write.
func (o *Owner) Sign(dir store.Store, key string) error {
	if !o.signs || o.said {
		return nil
	}
	data, err := json.Marshal(whose{Format: whoseFormat, Key: key, Bytes: asBytes(key)})
	if err != nil {
		return err
	}
	if _, err := dir.Put(store.Synced, store.Doc{Name: WhoseFile, Data: append(data, '\n')}); err != nil {
		return err
	}
	o.said, o.signs = true, false
	return nil
}
