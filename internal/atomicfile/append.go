package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Append writes data after the first off bytes of f with one write call and, if sync is set, one
// fsync. f must be open for appending and hold exactly off bytes. Callers that share the file
// must hold a lock.
//
// Append takes back a failed or short write by truncating f to off. It does the same after a
// failed fsync, because the kernel may have dropped the dirty pages and a later fsync would then
// succeed without them. If the truncation fails too, the error wraps ErrTorn: callers must
// read the file again before appending to it.
func Append(f *os.File, off int64, data []byte, sync bool) (Stats, error) {
	st := Stats{Files: 1, Bytes: int64(len(data))}
	err := writeAll(f, f.Name(), data)
	if err == nil && sync {
		err = syncFile(f, &st)
	}
	if err == nil {
		return st, nil
	}
	err = fmt.Errorf("append to %s: %w", f.Name(), err)
	if terr := Truncate(f, off); terr != nil {
		return st, &tornError{off, err}
	}
	return st, err
}

// Sync makes earlier appends to f durable.
func Sync(f *os.File) (Stats, error) {
	var st Stats
	if err := syncFile(f, &st); err != nil {
		return st, fmt.Errorf("sync %s: %w", f.Name(), err)
	}
	return st, nil
}

// Truncate cuts f back to size bytes.
func Truncate(f *os.File, size int64) error {
	err := runHook(OpTruncate, f.Name())
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return fmt.Errorf("truncate %s: %w", f.Name(), err)
	}
	return nil
}

// OpenAppend opens path for reading and appending. If it creates the file, it also syncs the
// directory. Callers then only need to sync the content.
func OpenAppend(path string, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, perm)
	if err == nil || !os.IsNotExist(err) {
		return f, err
	}
	if err := runHook(OpCreate, path); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, perm)
	if err != nil {
		return nil, err
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		f.Close()
		os.Remove(path) // so that the next call syncs the directory again
		return nil, err
	}
	return f, nil
}

// ErrTorn is wrapped by the error of an append that could not be taken back.
var ErrTorn = errors.New("bytes of unknown content may stand at the end")

// tornError reports that bytes of unknown content may follow offset.
type tornError struct {
	offset int64
	err    error
}

func (e *tornError) Error() string {
	return fmt.Sprintf("%v, and the file could not be cut back to byte %d", e.err, e.offset)
}

func (e *tornError) Unwrap() []error { return []error{e.err, ErrTorn} }

// Rename renames a file and replaces a file that has the new name. It syncs nothing.
func Rename(from, to string) error {
	if err := rename(from, to); err != nil {
		return fmt.Errorf("rename %s: %w", from, err)
	}
	return nil
}

// Patch overwrites the bytes of f that begin at offset off, and syncs f if sync is set. Patch is
// not atomic: readers must recognise a torn patch by its content.
func Patch(f *os.File, off int64, data []byte, sync bool) error {
	err := writeAll(io.NewOffsetWriter(f, off), f.Name(), data)
	if err == nil && sync {
		err = syncFile(f, &Stats{})
	}
	if err != nil {
		return fmt.Errorf("patch %s: %w", f.Name(), err)
	}
	return nil
}
