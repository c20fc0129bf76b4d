package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

const filePerm, dirPerm = 0o600, 0o700

// files is a store in a folder. A name is a regular file in the folder, never a link.
type files struct {
	*known
	base string // the state directory
	rel  string // the folder in it, "." for itself
}

// known holds facts about a folder. All stores in the folder and below it share them.
type known struct {
	// durable holds the files that were put Once and survive a power cut. A file that another
	// process has just renamed may not survive yet.
	durable sync.Map
	// staged holds the existing folders for temps from which the temps of killed processes were
	// removed.
	staged sync.Map
	// stood reports whether the state directory has existed at any time.
	stood atomic.Bool
}

// Files returns the store in a state directory. The directory need not exist: the first write
// makes it. If somebody removes the directory later, writes fail, so that a program that is still
// running doesn't make it again.
func Files(dir string) Disk {
	s := files{new(known), filepath.Clean(dir), "."}
	_, err := os.Stat(s.base)
	s.stood.Store(err == nil)
	return s
}

// FilesIn returns the store in a folder of a directory that came from elsewhere. It refuses a
// link in place of the folder.
func FilesIn(dir, name string) (Disk, error) {
	at, err := files{base: filepath.Clean(dir), rel: "."}.check(name)
	return Files(at), err
}

// Narrow takes the permissions of other users away from a state directory, and returns the number
// of files and folders that it changed. It does not look into a directory that only its owner may
// use.
func Narrow(dir string) (n int, err error) {
	if top, err := os.Lstat(dir); err != nil || !top.IsDir() || top.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return 0, nil
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		i, err := e.Info()
		if err != nil || i.Mode().Perm()&0o077 == 0 {
			return err
		}
		n++
		return os.Chmod(path, i.Mode().Perm()&0o700)
	})
	return n, err
}

// Foreign reports whether err says that the file under a name does not belong to the store, such
// as a link. If so, a link was not followed.
func Foreign(err error) bool {
	return errors.As(err, new(*linkError))
}

// Unwritable reports whether err says that a disk is full or may not be written.
func Unwritable(err error) bool {
	return errors.Is(err, ErrReadOnly) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC)
}

func (s files) In(folder string) Store { return files{s.known, s.base, path.Join(s.rel, folder)} }

func (s files) Where(name string) string {
	return filepath.Join(s.base, filepath.FromSlash(path.Join(s.rel, name)))
}

func (s files) Get(name string) ([]byte, error) {
	f, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func (s files) OpenLog(name string, o LogOptions) (Log, error) { return OpenLineLog(s, name, o), nil }

func (s files) Open(name string) (Reader, error) {
	f, err := s.open(name)
	return fileReader{f}, err
}

func (s files) Stat(name string) (Info, error) { return info(s.look(name)) }

func info(fi fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return Info{Size: fi.Size(), Time: fi.ModTime(), Folder: fi.IsDir()}, nil
}

func (s files) List(folder string) ([]Entry, error) {
	fi, err := s.look(folder)
	if err == nil && !fi.IsDir() {
		err = &linkError{s.Where(folder), "a file where a folder should be"}
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.Where(folder))
	out := make([]Entry, 0, len(entries))
	for _, e := range entries {
		out = append(out, Entry{Name: e.Name(), Folder: e.IsDir(), Info: func() (Info, error) {
			fi, err := e.Info()
			if err == nil && !fi.IsDir() && !fi.Mode().IsRegular() {
				_, err = s.look(path.Join(folder, e.Name()))
			}
			return info(fi, err)
		}})
	}
	return out, err
}

func (s files) Put(how Durability, docs ...Doc) (st Stats, err error) {
	if how == Once {
		err = s.putOnce(docs, &st)
		return st, err
	}
	for _, d := range docs {
		err := s.makeFolder(path.Dir(d.Name), &st)
		if err != nil {
			return st, err
		}
		at, err := s.check(d.Name)
		if err != nil {
			return st, err
		}
		made, err := atomicfile.WriteFileIf(at, d.Data, filePerm, how == Synced, nil)
		st.Add(made)
		if err != nil {
			return st, err
		}
	}
	return st, nil
}

// makeFolder makes a folder and the missing folders above it.
func (s files) makeFolder(name string, st *Stats) error {
	at, err := s.check(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(s.base); s.stood.Load() && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s was removed while this program ran; start it again to make a new one", ErrReadOnly, s.base)
	}
	made, err := atomicfile.MkdirAll(at, dirPerm)
	st.Add(made)
	s.stood.Store(s.stood.Load() || err == nil)
	return err
}

// tempFolder holds documents that are put with Once until they are complete.
const tempFolder = "tmp"

func (s files) putOnce(docs []Doc, st *Stats) error {
	var fresh []atomicfile.File
	dirs := map[string]bool{}
	for _, d := range docs {
		at := s.Where(d.Name)
		fi, err := s.look(d.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		stands := err == nil && fi.Size() == int64(len(d.Data))
		if _, durable := s.durable.Load(at); stands && durable {
			continue
		}
		if err := s.prepare(); err != nil {
			return err
		}
		if stands {
			dirs[filepath.Dir(at)] = true
		} else {
			fresh = append(fresh, atomicfile.File{Path: at, Data: d.Data})
		}
	}
	done, err := atomicfile.WriteGroup(s.Where(tempFolder), fresh, filePerm, dirs)
	st.Add(done)
	if err != nil {
		return err
	}
	for _, d := range docs {
		s.durable.Store(s.Where(d.Name), true)
	}
	return nil
}

// prepare makes the folder for temps and removes the temps of killed processes. After its first
// success it does nothing.
func (s files) prepare() error {
	at := s.Where(tempFolder)
	if _, staged := s.staged.Load(at); staged {
		return nil
	}
	if err := s.makeFolder(tempFolder, new(Stats)); err != nil {
		return err
	}
	if err := s.Tidy(tempFolder); err != nil {
		return err
	}
	s.staged.Store(at, true)
	return nil
}

func (s files) Move(how Durability, from, to string) error {
	if err := s.makeFolder(path.Dir(to), new(Stats)); err != nil {
		return err
	}
	old, err := s.check(from)
	if err != nil {
		return err
	}
	at, err := s.check(to)
	if err != nil {
		return err
	}
	if err := atomicfile.Rename(old, at); err != nil || how != Synced {
		return err
	}
	var st Stats
	err = atomicfile.SyncDir(filepath.Dir(at), &st)
	if path.Dir(from) != path.Dir(to) {
		err = errors.Join(err, atomicfile.SyncDir(filepath.Dir(old), &st))
	}
	return err
}

func (s files) Remove(how Durability, names ...string) (Stats, error) {
	var st Stats
	for _, name := range names {
		fi, err := s.look(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // for a link, this removes the link and not its target
			_, err = s.check(path.Dir(name))
		}
		folder := fi != nil && fi.IsDir()
		var done Stats
		switch at := s.Where(name); {
		case err != nil:
		case !folder && how == Synced:
			done, err = atomicfile.Remove(at)
			st.Add(done)
			s.durable.Delete(at)
		default:
			if err = os.RemoveAll(at); err == nil && how == Synced {
				err = atomicfile.SyncDir(filepath.Dir(at), &st)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return st, err
		}
	}
	return st, nil
}

func (s files) Tidy(folders ...string) error {
	var errs []error
	for _, f := range folders {
		at, err := s.check(f)
		if err == nil {
			err = atomicfile.CleanTemps(at)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s files) Lock(name string, share Share) (func(), error) {
	at, err := s.check(name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Dir(at)); err != nil {
		if err := s.makeFolder(path.Dir(name), new(Stats)); errors.Is(err, ErrReadOnly) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrReadOnly, err)
		}
	}
	l := flock.New(at, flock.SetPermissions(filePerm))
	try := l.TryLock
	if share == Shared {
		try = l.TryRLock
	}
	switch ok, err := try(); {
	case err != nil:
		return nil, err
	case !ok:
		l.Close()
		return nil, &LockedError{Name: s.Where(name)}
	}
	return func() { l.Close() }, nil
}

func (s files) Begin(ctx context.Context, folder string, _ bool) (Unit, error) {
	if !Exists(s, "") {
		_ = KeepOutOfGit(s) // if nothing can be written here, taking the lock fails
	}
	return LockedUnit(ctx, s, folder)
}

// fileReader is an open file.
type fileReader struct{ *os.File }

func (r fileReader) Size() (int64, error) {
	i, err := r.Info()
	return i.Size, err
}

func (r fileReader) Info() (Info, error) { return info(r.Stat()) }

// fileJournal is a file that is open for appending.
type fileJournal struct{ fileReader }

func (s files) Journal(name string) (Journal, error) {
	f, err := s.openAppend(name)
	if errors.Is(err, fs.ErrNotExist) { // its folder is missing
		if err = s.makeFolder(path.Dir(name), new(Stats)); err == nil {
			f, err = s.openAppend(name)
		}
	}
	if err != nil {
		return nil, err
	}
	return fileJournal{fileReader{f}}, nil
}

func (j fileJournal) Append(off int64, data []byte, sync bool) (Stats, error) {
	return atomicfile.Append(j.File, off, data, sync)
}

func (j fileJournal) Sync() (Stats, error) { return atomicfile.Sync(j.File) }
func (j fileJournal) Cut(size int64) error { return atomicfile.Truncate(j.File, size) }

func (s files) Patch(name string, off int64, data []byte, sync bool) error {
	fi, err := s.own(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.Where(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if f, err = s.same(f, fi, name); err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Patch(f, off, data, sync)
}
