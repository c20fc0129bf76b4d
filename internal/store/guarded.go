package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// A state directory may come with somebody's repository, so its content is not trusted. For a name
// that leads through a symbolic link, or to anything but a regular file, the methods return a
// *linkError before they read or write a byte. A file with several names (hard links) gets an
// inode of its own before an append, so that the content under the other names does not change.
// The folders above the state directory are the user's and may be links. Reads go through
// [os.Root]. Writes go through internal/atomicfile after the name is checked.

// linkError reports that the path of a state file, or of a folder above it, leads to a link or
// another kind of file.
type linkError struct {
	path, is string // the refused path, and the kind of the file there
}

func (e *linkError) Error() string {
	return fmt.Sprintf("%s is %s: state is kept in regular files and folders only, and nothing else is followed; move it away", e.path, e.is)
}

// check returns the path of a name for a caller that opens it. It refuses a path that must not be
// followed. The file need not exist.
func (s files) check(name string) (string, error) {
	if _, err := s.look(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return s.Where(name), nil
}

// look describes the regular file or the folder under a name. It refuses every other kind of file,
// and a path through anything but folders.
func (s files) look(name string) (fs.FileInfo, error) {
	rel := path.Join(s.rel, name)
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, fmt.Errorf("%s: no name of a state file", s.Where(name))
	}
	if rel == "." {
		return os.Stat(s.base)
	}
	var fi fs.FileInfo
	var err error
	at, parts := s.base, strings.Split(rel, "/")
	for i, part := range parts {
		at += string(filepath.Separator) + part
		if fi, err = os.Lstat(at); err != nil {
			return nil, s.named(err, name)
		}
		if is := kind(fi.Mode(), i < len(parts)-1); is != "" {
			return nil, &linkError{at, is}
		}
	}
	return fi, nil
}

// named replaces the path in an error by the whole path of a name.
func (s files) named(err error, name string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return &fs.PathError{Op: strings.TrimSuffix(pe.Op, "at"), Path: s.Where(name), Err: pe.Err}
	}
	return err
}

// kind names the kind of a file that must be refused. It returns "" for a folder, and for a
// regular file unless folder is set.
func kind(m fs.FileMode, folder bool) string {
	switch {
	case m.IsDir(), m.IsRegular() && !folder:
		return ""
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsRegular():
		return "a file where a folder should be"
	}
	return "no regular file"
}

// looks is the number of attempts to open a file that renames keep replacing.
const looks = 8

var errReplaced = errors.New("was replaced while it was opened")

// open opens a regular file for reading.
func (s files) open(name string) (f *os.File, err error) {
	for range looks {
		if f, err = s.openOnce(name); !errors.Is(err, errReplaced) {
			break
		}
	}
	return f, err
}

func (s files) openOnce(name string) (*os.File, error) {
	fi, err := s.look(name)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: s.Where(name), Err: errors.New("is a folder")}
	}
	root, err := os.OpenRoot(s.base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(path.Join(s.rel, name))
	if err != nil {
		return nil, s.named(err, name)
	}
	return s.same(f, fi, name)
}

// same returns f if f is the file that want describes. Otherwise it closes f and returns an error.
func (s files) same(f *os.File, want fs.FileInfo, name string) (*os.File, error) {
	got, err := f.Stat()
	if err == nil && !os.SameFile(got, want) {
		err = fmt.Errorf("%s %w", s.Where(name), errReplaced)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openAppend opens a file for reading and appending, and makes a missing file.
func (s files) openAppend(name string) (*os.File, error) {
	fi, err := s.own(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	f, err := atomicfile.OpenAppend(s.Where(name), filePerm)
	if err != nil {
		return nil, err
	}
	if missing {
		if fi, err = s.look(name); err != nil {
			f.Close()
			return nil, err
		}
	}
	return s.same(f, fi, name)
}

// own returns the description of a file. It first replaces a file that has several hard links by a
// copy with an inode of its own.
func (s files) own(name string) (fs.FileInfo, error) {
	fi, err := s.look(name)
	if err != nil || names(fi) < 2 {
		return fi, err
	}
	data, err := s.Get(name)
	if err == nil {
		err = atomicfile.WriteFile(s.Where(name), data, fi.Mode().Perm())
	}
	if err != nil {
		return nil, err
	}
	return s.look(name)
}
