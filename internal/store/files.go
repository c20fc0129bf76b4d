package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store/internal/statedir"
)

const filePerm, dirPerm = 0o600, 0o700

// files is a store in a folder. A name is a regular file in the folder, never a link.
type files struct {
	*known
	dir statedir.Dir
}

// known holds facts about a folder. All stores in the folder and below it share them.
type known struct {
	// durable holds the files that were put Once and survive a power cut. A file that another
	// process has just renamed may not survive yet.
	durable sync.Map
	// staged holds the existing folders for temps from which the temps of killed processes were
	// removed.
	staged sync.Map
}

// Files returns the store in a state directory. The directory need not exist: the first write
// makes it.
func Files(dir string) Disk {
	return files{new(known), statedir.At(dir)}
}

// FilesIn returns the store in a folder of a directory that came from elsewhere. It refuses a
// link in place of the folder.
func FilesIn(dir, name string) (Disk, error) {
	at, err := statedir.At(dir).Check(name)
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
	var link *statedir.LinkError
	return errors.As(err, &link)
}

// Unwritable reports whether err says that a disk is full or may not be written.
func Unwritable(err error) bool {
	return errors.Is(err, ErrReadOnly) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC)
}

func (s files) In(folder string) Store          { return files{s.known, s.dir.Sub(folder)} }
func (s files) Where(name string) string        { return s.dir.Path(name) }
func (s files) Get(name string) ([]byte, error) { return s.dir.ReadFile(name) }

func (s files) OpenLog(name string, o LogOptions) (Log, error) { return OpenLineLog(s, name, o), nil }

func (s files) Salvage(name string, tell func(unit string, done, all int)) ([]Record, []Lost, error) {
	return SalvageLines(s, name, tell)
}

func (s files) Reset(name string, recs []Record) ([]string, error) {
	return ResetLines(s, name, recs)
}

func (s files) Open(name string) (Reader, error) {
	f, err := s.dir.Open(name)
	if err != nil {
		return nil, err
	}
	return fileReader{f}, nil
}

func (s files) Stat(name string) (Info, error) {
	fi, err := s.dir.Stat(name)
	if err != nil {
		return Info{}, err
	}
	return info(fi), nil
}

func info(fi fs.FileInfo) Info {
	return Info{Size: fi.Size(), Time: fi.ModTime(), Folder: fi.IsDir()}
}

func (s files) List(folder string) ([]Entry, error) {
	entries, err := s.dir.ReadDir(folder)
	out := make([]Entry, 0, len(entries))
	for _, e := range entries {
		out = append(out, Entry{Name: e.Name(), Folder: e.IsDir(), Info: func() (Info, error) {
			fi, err := e.Info()
			if err == nil && !fi.IsDir() && !fi.Mode().IsRegular() {
				_, err = s.dir.Stat(path.Join(folder, e.Name()))
			}
			if err != nil {
				return Info{}, err
			}
			return info(fi), nil
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
		made, err := s.dir.MkdirAll(path.Dir(d.Name), dirPerm)
		st.Add(made)
		if err != nil {
			return st, err
		}
		made, err = s.dir.WriteFile(d.Name, d.Data, filePerm, how == Synced)
		st.Add(made)
		if err != nil {
			return st, err
		}
	}
	return st, nil
}

// tempFolder holds documents that are put with Once until they are complete.
const tempFolder = "tmp"

func (s files) putOnce(docs []Doc, st *Stats) error {
	g := atomicfile.NewGroup(s.dir.Path(tempFolder))
	defer g.Abort()
	for _, d := range docs {
		at := s.dir.Path(d.Name)
		fi, err := s.dir.Stat(d.Name)
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
			g.NeedDir(filepath.Dir(at))
		} else if err := g.Write(at, d.Data, filePerm); err != nil {
			return err
		}
	}
	done, err := g.Commit()
	st.Add(done)
	if err != nil {
		return err
	}
	for _, d := range docs {
		s.durable.Store(s.dir.Path(d.Name), true)
	}
	return nil
}

// prepare makes the folder for temps and removes the temps of killed processes. It does nothing
// once that is done.
func (s files) prepare() error {
	at := s.dir.Path(tempFolder)
	if _, staged := s.staged.Load(at); staged {
		return nil
	}
	if _, err := s.dir.MkdirAll(tempFolder, dirPerm); err != nil {
		return err
	}
	if err := s.dir.CleanTemps(tempFolder); err != nil {
		return err
	}
	s.staged.Store(at, true)
	return nil
}

func (s files) Move(how Durability, from, to string) error {
	if _, err := s.dir.MkdirAll(path.Dir(to), dirPerm); err != nil {
		return err
	}
	if err := s.dir.Rename(from, to); err != nil || how != Synced {
		return err
	}
	err := atomicfile.SyncDir(s.dir.Path(path.Dir(to)))
	if path.Dir(from) != path.Dir(to) {
		err = errors.Join(err, atomicfile.SyncDir(s.dir.Path(path.Dir(from))))
	}
	return err
}

func (s files) Remove(how Durability, names ...string) (Stats, error) {
	var st Stats
	for _, name := range names {
		fi, err := s.dir.Stat(name)
		switch at := s.dir.Path(name); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && fi.IsDir():
			err = os.RemoveAll(at)
			if err == nil && how == Synced {
				err = atomicfile.SyncDir(filepath.Dir(at))
				st.Syncs++
			}
		case how == Synced: // a link is removed itself
			var done Stats
			done, err = s.dir.Remove(name)
			st.Add(done)
			s.durable.Delete(at)
		default:
			if _, err = s.dir.Check(path.Dir(name)); err == nil {
				err = os.Remove(at)
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
		errs = append(errs, s.dir.CleanTemps(f))
	}
	return errors.Join(errs...)
}

func (s files) Lock(name string, share Share) (func(), error) {
	if _, err := s.dir.MkdirAll(path.Dir(name), dirPerm); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	l, err := s.dir.Lock(name)
	if err != nil {
		return nil, err
	}
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
	return LockedUnit(ctx, s, folder)
}

// fileReader is an open file.
type fileReader struct{ *os.File }

func (r fileReader) Size() (int64, error) {
	fi, err := r.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// fileJournal is a file that is open for appending.
type fileJournal struct{ fileReader }

func (s files) Journal(name string) (Journal, error) {
	f, err := s.dir.OpenAppend(name, filePerm)
	if errors.Is(err, fs.ErrNotExist) { // its folder is missing
		if _, err = s.dir.MkdirAll(path.Dir(name), dirPerm); err == nil {
			f, err = s.dir.OpenAppend(name, filePerm)
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
	f, err := s.dir.OpenPatch(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Patch(f, off, data, sync)
}
