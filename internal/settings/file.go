// Package settings edits settings files of other programs: JSON, with or without comments, TOML,
// and sections of texts between marks. It reads YAML. It changes only the requested parts and
// keeps every other byte. If it can't read a file, it returns an error with the file and the
// line, and never writes the file. It follows the links to people's settings files, and replaces
// a file as a whole, unless somebody wrote to it meanwhile. It knows no program and no setting.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// Error is the reason why a settings file was not changed, with its place.
type Error struct {
	Path string
	// Line is 1-based, 0 if the error concerns no single line.
	Line int
	Err  error
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// ErrChanged is returned if somebody wrote to the file after it was read.
var ErrChanged = errors.New("the file was changed meanwhile: run it again")

// maxSize is the largest settings file that is edited, in bytes.
const maxSize = 16 << 20 // 16 MiB

// maxLinks is the largest number of links that Follow follows.
const maxLinks = 40

// Follow returns the file that a path leads to, so that a write replaces the file and keeps the
// links. The last link need not lead to a file yet.
func Follow(path string) (string, error) {
	at := path
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return real, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", &Error{Path: path, Err: err}
		}
		to, err := os.Readlink(at)
		if err != nil { // it is not there, and no link
			dir := filepath.Dir(at)
			if dir == at {
				return at, nil
			}
			dir, err = Follow(dir)
			return filepath.Join(dir, filepath.Base(at)), err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		at = to
	}
	return "", &Error{Path: path, Err: errors.New("its links lead in a circle")}
}

// Read reads a file. It returns nil for a missing file.
func Read(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > maxSize:
		return nil, &Error{Path: path, Err: fmt.Errorf("it is no file, or larger than %d bytes", maxSize)}
	}
	data, err := os.ReadFile(path)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// Write replaces the content of a file, durably and in one step. The parameter before is the old
// content and after is the new content. nil means no file. Write keeps the mode of an existing
// file. If the content is no longer equal to before when the new content is ready, Write changes
// nothing and returns [ErrChanged].
func Write(path string, before, after []byte) error {
	if Same(before, after) {
		return nil
	}
	unchanged := func() error {
		now, err := Read(path)
		if err == nil && !Same(now, before) {
			err = &Error{Path: path, Err: ErrChanged}
		}
		return err
	}
	if after == nil {
		if err := unchanged(); err != nil {
			return err
		}
		_, err := atomicfile.Remove(path)
		return err
	}
	perm := fs.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		perm = st.Mode().Perm()
	}
	if _, err := atomicfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	_, err := atomicfile.WriteFileIf(path, after, perm, true, unchanged)
	return err
}

// Same reports whether two contents are equal. A missing file differs from an empty one.
func Same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
