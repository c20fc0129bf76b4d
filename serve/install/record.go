package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/internal/store"
)

const (
	recordName = "install.json"
	lockName   = "install.lock"
)

// record has the earlier contents of the files that were changed. It contains a user's settings
// and, like all of the state, only that user may read it.
type record struct {
	Version int        `json:"version"`
	Files   []recorded `json:"files"`
	// Made are the folders that were made for the changed files.
	Made []string `json:"made"`
}

// recorded is a file that was changed.
type recorded struct {
	Host string `json:"host"`
	// Path is the file, with links followed.
	Path string `json:"path"`
	// Absent means that there was no file. Otherwise Before is the earlier content of the file.
	Absent bool   `json:"absent"`
	Before []byte `json:"before"`
	// After is the hash of the written content.
	After string `json:"after"`
}

// before returns the earlier content, nil if there was no file.
func (r *recorded) before() []byte {
	switch {
	case r.Absent:
		return nil
	case r.Before == nil:
		return []byte{}
	}
	return r.Before
}

// untouched reports whether a file still has the content that was written.
func (r *recorded) untouched(data []byte) bool { return data != nil && store.Sum(data) == r.After }

// notYet reports whether a file still has its earlier content, because the process was killed
// after it recorded the file.
func (r *recorded) notYet(data []byte) bool { return settings.Same(data, r.before()) }

// SetUp reports whether settings were changed for the folder of a state directory.
func SetUp(state store.Store) bool { return store.Exists(state, recordName) }

func readRecord(s store.Store) (*record, error) {
	r := &record{Version: 1}
	data, err := s.Get(recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err == nil && r.Version > 1 {
		err = errors.New("a newer memkernel wrote it")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Where(recordName), err)
	}
	return r, nil
}

// write stores the record. It removes an empty record.
func (r *record) write(s store.Store) error {
	var err error
	if len(r.Files) == 0 {
		_, err = s.Remove(store.Synced, recordName)
		return err
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		_, err = s.Put(store.Synced, store.Doc{Name: recordName, Data: data})
	}
	return err
}

// of returns the record of a file, nil if there is none.
func (r *record) of(path string) *recorded {
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

func (r *record) set(e recorded) {
	if old := r.of(e.Path); old != nil {
		*old = e
		return
	}
	r.Files = append(r.Files, e)
}

// made notes the folders that must be made for dir to exist.
func (r *record) made(dir string) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			return
		}
		if !slices.Contains(r.Made, dir) {
			r.Made = append(r.Made, dir)
		}
	}
}

// unmake removes the folders above a file that the installer made and that are empty now. It
// ignores recorded folders that are not above the file.
func (r *record) unmake(path string) {
	for dir := filepath.Dir(path); slices.Contains(r.Made, dir) && gone(os.Remove(dir)); dir = filepath.Dir(dir) {
		r.Made = slices.DeleteFunc(r.Made, func(d string) bool { return d == dir })
	}
	if len(r.Files) == 0 {
		r.Made = nil // the folders that are left have files of others
	}
}

func gone(err error) bool { return err == nil || errors.Is(err, fs.ErrNotExist) }

func (r *record) drop(path string) {
	r.Files = slices.DeleteFunc(r.Files, func(e recorded) bool { return e.Path == path })
}
