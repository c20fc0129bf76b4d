// Package statedir is the one way to the files of a state directory.
//
// A state directory may come with somebody's repository, so the package does not trust its
// content. For a name that leads through a symbolic link, or to anything but a regular file,
// methods return a [*LinkError] before they read or write a byte. A file with several names (hard
// links) gets an inode of its own before an append, so that the content under the other names
// does not change. The folders above the state directory are the user's and may be links.
//
// Reads go through [os.Root]. Writes go through internal/atomicfile after the name is checked.
// The package interprets no content, follows no link, and never removes a file that it was not
// asked to remove by name.
package statedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// Dir is a state directory or a folder in it. Names are relative to it, with slashes. A Dir is a
// plain value. Making a Dir opens and creates nothing.
type Dir struct {
	base string // the state directory
	rel  string // the folder in it, "." for itself
}

// At returns the state directory at a path, which need not exist.
func At(dir string) Dir { return Dir{filepath.Clean(dir), "."} }

// Sub returns a folder in d.
func (d Dir) Sub(name string) Dir { return Dir{d.base, path.Join(d.rel, name)} }

// Path returns the path of a name, for messages and for references from elsewhere. The name "" is
// the folder itself. Callers that open the file must use [Dir.Check].
func (d Dir) Path(name string) string {
	return filepath.Join(d.base, filepath.FromSlash(path.Join(d.rel, name)))
}

// LinkError reports that the path of a state file, or of a folder above it, leads to a link or
// another kind of file.
type LinkError struct {
	// Path is the path that was refused. Is describes the file found there.
	Path, Is string
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is %s: state is kept in regular files and folders only, and nothing else is followed; move it away", e.Path, e.Is)
}

// Check is [Dir.Path] for callers that open a file by its path, such as a database. It refuses a
// path that must not be followed. The file need not exist.
func (d Dir) Check(name string) (string, error) {
	if _, err := d.look(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return d.Path(name), nil
}

// look describes the regular file or the folder under a name. It refuses every other kind, and
// names reached through anything but folders.
func (d Dir) look(name string) (fs.FileInfo, error) {
	rel := path.Join(d.rel, name)
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, fmt.Errorf("%s: no name of a state file", d.Path(name))
	}
	if rel == "." {
		return os.Stat(d.base)
	}
	var fi fs.FileInfo
	var err error
	at, parts := d.base, strings.Split(rel, "/")
	for i, part := range parts {
		at += string(filepath.Separator) + part
		fi, err = os.Lstat(at)
		if err != nil {
			return nil, d.rename(err, rel)
		}
		if is := kind(fi.Mode(), i < len(parts)-1); is != "" {
			return nil, &LinkError{Path: at, Is: is}
		}
	}
	return fi, nil
}

// rename replaces the path in an error of os.Root by the whole path.
func (d Dir) rename(err error, rel string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return &fs.PathError{Op: strings.TrimSuffix(pe.Op, "at"), Path: filepath.Join(d.base, filepath.FromSlash(rel)), Err: pe.Err}
	}
	return err
}

// kind names the kind of a file that must be refused. It returns "" for a folder, and for a
// regular file unless folder is set.
func kind(m fs.FileMode, folder bool) string {
	switch {
	case m.IsDir():
		return ""
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsRegular() && !folder:
		return ""
	case m.IsRegular():
		return "a file where a folder should be"
	default:
		return "no regular file"
	}
}

// Stat describes the file or folder under a name.
func (d Dir) Stat(name string) (fs.FileInfo, error) { return d.look(name) }

// Open opens a regular file for reading.
func (d Dir) Open(name string) (*os.File, error) {
	return d.open(name, os.O_RDONLY)
}

// OpenPatch opens a regular file, which must exist, for reading and writing in place.
func (d Dir) OpenPatch(name string) (*os.File, error) {
	fi, err := d.own(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(d.Path(name), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return d.same(f, fi, name)
}

func (d Dir) open(name string, flag int) (f *os.File, err error) {
	for range looks {
		if f, err = d.openOnce(name, flag); !errors.Is(err, errReplaced) {
			break
		}
	}
	return f, err
}

// looks is the number of attempts to open a file that renames keep replacing.
const looks = 8

var errReplaced = errors.New("was replaced while it was opened")

// Replaced reports whether an open failed because the file was replaced at every attempt.
func Replaced(err error) bool { return errors.Is(err, errReplaced) }

func (d Dir) openOnce(name string, flag int) (*os.File, error) {
	fi, err := d.look(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel := path.Join(d.rel, name)
	if fi.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: d.Path(name), Err: errors.New("is a folder")}
	}
	f, err := root.OpenFile(rel, flag, 0)
	if err != nil {
		return nil, d.rename(err, rel)
	}
	return d.same(f, fi, name)
}

// same checks that f is the file that was looked at.
func (d Dir) same(f *os.File, want fs.FileInfo, name string) (*os.File, error) {
	got, err := f.Stat()
	if err == nil && !os.SameFile(got, want) {
		err = fmt.Errorf("%s %w", d.Path(name), errReplaced)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a regular file.
func (d Dir) ReadFile(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// ReadDir lists a folder. The name "" is d itself.
func (d Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	fi, err := d.look(name)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, &LinkError{Path: d.Path(name), Is: "a file where a folder should be"}
	}
	return os.ReadDir(d.Path(name))
}

// OpenAppend opens a file for reading and appending, and makes a missing file and its folder; see
// [atomicfile.OpenAppend]. A file with several names gets an inode of its own first.
func (d Dir) OpenAppend(name string, perm fs.FileMode) (*os.File, error) {
	fi, err := d.own(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	f, err := atomicfile.OpenAppend(d.Path(name), perm)
	if err != nil {
		return nil, err
	}
	if missing {
		if fi, err = d.look(name); err != nil {
			f.Close()
			return nil, err
		}
	}
	return d.same(f, fi, name)
}

// own describes a file, and gives one that has other names an inode of its own.
func (d Dir) own(name string) (fs.FileInfo, error) {
	fi, err := d.look(name)
	if err != nil || names(fi) < 2 {
		return fi, err
	}
	data, err := d.ReadFile(name)
	if err == nil {
		err = atomicfile.WriteFile(d.Path(name), data, fi.Mode().Perm())
	}
	if err != nil {
		return nil, err
	}
	return d.look(name)
}

// WriteFile replaces a file in one step, and durably if sync is set; see [atomicfile.WriteFile].
// A link in its place is refused.
func (d Dir) WriteFile(name string, data []byte, perm fs.FileMode, sync bool) (atomicfile.Stats, error) {
	at, err := d.Check(name)
	if err != nil {
		return atomicfile.Stats{}, err
	}
	if !sync {
		return atomicfile.WriteFileUnsynced(at, data, perm)
	}
	return atomicfile.WriteFileStats(at, data, perm)
}

// MkdirAll makes a folder in d and the missing folders above it. The name "" is d itself.
func (d Dir) MkdirAll(name string, perm fs.FileMode) (atomicfile.Stats, error) {
	at, err := d.Check(name)
	if err != nil {
		return atomicfile.Stats{}, err
	}
	return atomicfile.MkdirAllStats(at, perm)
}

// Remove removes a file durably. A missing file is no error. For a link, it removes the link
// itself.
func (d Dir) Remove(name string) (atomicfile.Stats, error) {
	if _, err := d.Check(path.Dir(name)); err != nil {
		return atomicfile.Stats{}, err
	}
	return atomicfile.RemoveStats(d.Path(name))
}

// Rename renames a file in d and replaces a file that has the new name. It syncs nothing.
func (d Dir) Rename(from, to string) error {
	if _, err := d.Check(from); err != nil {
		return err
	}
	at, err := d.Check(to)
	if err != nil {
		return err
	}
	return atomicfile.Rename(d.Path(from), at)
}

// Lock returns a lock among processes on a file. Taking the lock makes the file.
func (d Dir) Lock(name string) (*flock.Flock, error) {
	at, err := d.Check(name)
	if err != nil {
		return nil, err
	}
	return flock.New(at, flock.SetPermissions(0o600)), nil
}

// CleanTemps removes the half-written files of killed processes from a folder.
func (d Dir) CleanTemps(name string) error {
	at, err := d.Check(name)
	if err != nil {
		return err
	}
	return atomicfile.CleanTemps(at)
}
