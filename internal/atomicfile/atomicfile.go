// Package atomicfile makes files durable. It is the only code of the module that calls fsync. It
// replaces whole files atomically, appends to logs, and makes groups of new files durable
// together.
//
// It never interprets content, never retries, never leaves half a file under its final name, and
// never deletes a file that it did not create. Sizes are bytes.
//
// A reader, or the next process after a crash, sees either all the old bytes of a file or all the
// new bytes. The steps are:
//
//	create   .mk~<pid>-<nonce>-<host>-<n>~tmp   next to the target
//	write    all bytes
//	sync     the temp
//	rename   temp -> target
//	syncdir  the target's directory, so that the new name survives too
//
// CleanTemps removes the temps of ended processes, which it recognises by name.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Stats describes the cost of durability.
type Stats struct {
	// Files and Bytes count the written files and bytes.
	Files int
	Bytes int64
	// Syncs counts fsync and syncfs calls for files and directories. SyncTime is the wall time of
	// these calls.
	Syncs    int
	SyncTime time.Duration
}

// Add sums o into s.
func (s *Stats) Add(o Stats) {
	s.Files += o.Files
	s.Bytes += o.Bytes
	s.Syncs += o.Syncs
	s.SyncTime += o.SyncTime
}

// WriteFile replaces the content of path with data, durably and atomically. When it returns nil,
// the new content survives a power cut. After an error the old content is kept and no temp is
// left. The directory must exist. A symbolic link at path is replaced, not followed. The file
// gets exactly the permissions perm, whatever the umask.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	_, err := WriteFileIf(path, data, perm, true, nil)
	return err
}

// WriteFileIf is like WriteFile and also returns the cost. Without sync it syncs nothing: the new
// content then survives the end of the process at any instant, but not a power cut. WriteFileIf
// calls check, which may be nil, after it has written the new content and before the rename. If
// check fails, WriteFileIf keeps the old content and returns the error of check.
func WriteFileIf(path string, data []byte, perm fs.FileMode, sync bool, check func() error) (Stats, error) {
	st := Stats{Files: 1, Bytes: int64(len(data))}
	tmp, err := writeTemp(filepath.Dir(path), data, perm, sync, &st)
	if err != nil {
		return st, fmt.Errorf("write file %s: %w", path, err)
	}
	if check != nil {
		err = check()
	}
	if err == nil {
		if err = rename(tmp, path); err != nil {
			err = fmt.Errorf("write file %s: %w", path, err)
		}
	}
	switch {
	case err != nil:
		os.Remove(tmp)
	case sync:
		err = SyncDir(filepath.Dir(path), &st)
	}
	return st, err
}

// writeTemp makes a temp in dir, and syncs it if sync is set. After an error no temp is left.
func writeTemp(dir string, data []byte, perm fs.FileMode, sync bool, st *Stats) (string, error) {
	path := tempPath(dir)
	if err := runHook("create", path); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	err = f.Chmod(perm)
	if err == nil {
		err = writeAll(f, f.Name(), data)
	}
	if err == nil && sync {
		err = syncFile(f, st)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// SyncDir makes earlier creations, renames and removals of files in dir durable, and adds the cost
// to st. On Windows it does nothing, because the system has no such call and the file system logs
// renames.
func SyncDir(dir string, st *Stats) error {
	if err := runHook("syncdir", dir); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	defer d.Close()
	if err := st.wait(d.Sync); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

func syncFile(f *os.File, st *Stats) error {
	if err := runHook("sync", f.Name()); err != nil {
		return err
	}
	return st.wait(f.Sync)
}

func rename(from, to string) error {
	if err := runHook("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// writeAll writes data with one write call where the system allows it.
func writeAll(w io.Writer, path string, data []byte) error {
	err := runHook("write", path)
	if p, ok := err.(*PartialWrite); ok {
		w.Write(data[:min(p.N, len(data))])
	}
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// MkdirAll creates dir and its missing parents and makes their names durable.
// A directory that exists costs one stat and no sync.
func MkdirAll(dir string, perm fs.FileMode) (st Stats, err error) {
	if fi, err := os.Stat(dir); err == nil {
		if !fi.IsDir() {
			return st, fmt.Errorf("make directory %s: %w", dir, &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("a file is in the way")})
		}
		return st, nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if st, err = MkdirAll(parent, perm); err != nil {
			return st, err
		}
	}
	if err := mkdir(dir, perm); err != nil {
		return st, err
	}
	err = SyncDir(parent, &st)
	return st, err
}

// mkdir makes a directory. It returns nil if another process has made the directory meanwhile.
func mkdir(dir string, perm fs.FileMode) error {
	err := runHook("mkdir", dir)
	if err == nil {
		err = os.Mkdir(dir, perm)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make directory %s: %w", dir, err)
	}
	return nil
}

// Remove deletes a file durably. A missing file is no error.
func Remove(path string) (st Stats, err error) {
	if err = runHook("remove", path); err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, fmt.Errorf("remove file: %w", err)
	}
	err = SyncDir(filepath.Dir(path), &st)
	return st, err
}

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
		return st, fmt.Errorf("%w, and the file could not be cut back to byte %d: %w", err, off, ErrTorn)
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
	err := runHook("truncate", f.Name())
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
	if err := runHook("create", path); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, perm)
	if err != nil {
		return nil, err
	}
	if err := SyncDir(filepath.Dir(path), new(Stats)); err != nil {
		f.Close()
		os.Remove(path) // so that the next call syncs the directory again
		return nil, err
	}
	return f, nil
}

// ErrTorn is wrapped by the error of an append that could not be taken back.
var ErrTorn = errors.New("bytes of unknown content may stand at the end")

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
