package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
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
	mu sync.Mutex // guards the fields below
	// durable holds the files that were put Once and survive a power cut. A file that another
	// process has just renamed may not survive yet.
	durable map[string]struct{}
	// staged holds the existing folders for temps from which the temps of killed processes were
	// removed.
	staged map[string]bool
}

// Files returns the store in a state directory. The directory need not exist: the first write
// makes it.
func Files(dir string) Disk {
	return files{&known{durable: map[string]struct{}{}, staged: map[string]bool{}}, statedir.At(dir)}
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
func (s files) Journal(name string) Journal     { return &fileJournal{dir: s.dir, name: name} }

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
	switch how {
	case Once:
		err = s.putOnce(docs, &st)
	case Unsynced:
		err = s.putUnsynced(docs, &st)
	default:
		for i := 0; i < len(docs) && err == nil; i++ {
			err = s.putSynced(docs[i], &st)
		}
	}
	return st, err
}

func (s files) putSynced(d Doc, st *Stats) error {
	made, err := s.dir.MkdirAll(path.Dir(d.Name), dirPerm)
	st.Add(Stats(made))
	if err != nil {
		return err
	}
	made, err = s.dir.WriteFile(d.Name, d.Data, filePerm)
	st.Add(Stats(made))
	return err
}

// putUnsynced writes runs of documents of the same folder together.
func (s files) putUnsynced(docs []Doc, st *Stats) error {
	for len(docs) > 0 {
		folder, n := path.Dir(docs[0].Name), 1
		for n < len(docs) && path.Dir(docs[n].Name) == folder {
			n++
		}
		if err := s.putGroup(folder, docs[:n], st); err != nil {
			return err
		}
		docs = docs[n:]
	}
	return nil
}

func (s files) putGroup(folder string, docs []Doc, st *Stats) error {
	made, err := s.dir.MkdirAll(folder, dirPerm)
	st.Add(Stats(made))
	if err != nil {
		return err
	}
	g := atomicfile.NewGroup(s.dir.Path(folder))
	defer g.Abort()
	for _, d := range docs {
		at, err := s.dir.Check(d.Name)
		if err == nil {
			err = g.Write(at, d.Data, filePerm)
		}
		if err != nil {
			return err
		}
	}
	made, err = g.CommitUnsynced()
	st.Add(Stats(made))
	return err
}

// tempFolder holds documents that are put with Once until they are complete.
const tempFolder = "tmp"

func (s files) putOnce(docs []Doc, st *Stats) error {
	var g *atomicfile.Group // nil until something is to be done
	begin := func() error {
		if g != nil {
			return nil
		}
		if err := s.prepare(); err != nil {
			return err
		}
		g = atomicfile.NewGroup(s.dir.Path(tempFolder))
		return nil
	}
	defer func() {
		if g != nil {
			g.Abort()
		}
	}()
	for _, d := range docs {
		at := s.dir.Path(d.Name)
		fi, err := s.dir.Stat(d.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		stands := err == nil && fi.Size() == int64(len(d.Data))
		if stands && s.isDurable(at) {
			continue
		}
		if err := begin(); err != nil {
			return err
		}
		if stands {
			g.NeedDir(filepath.Dir(at))
		} else if err := g.Write(at, d.Data, filePerm); err != nil {
			return err
		}
	}
	if g == nil {
		return nil
	}
	done, err := g.Commit()
	st.Add(Stats(done))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range docs {
		s.durable[s.dir.Path(d.Name)] = struct{}{}
	}
	return nil
}

func (s files) isDurable(at string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.durable[at]
	return ok
}

// prepare makes the folder for temps and removes the temps of killed processes. It does so once.
func (s files) prepare() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.dir.Path(tempFolder)
	if s.staged[at] {
		return nil
	}
	if _, err := s.dir.MkdirAll(tempFolder, dirPerm); err != nil {
		return err
	}
	if _, err := s.dir.CleanTemps(tempFolder); err != nil {
		return err
	}
	s.staged[at] = true
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
			var done atomicfile.Stats
			done, err = s.dir.Remove(name)
			st.Add(Stats(done))
			s.mu.Lock()
			delete(s.durable, at)
			s.mu.Unlock()
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
		_, err := s.dir.CleanTemps(f)
		errs = append(errs, err)
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

func (r fileReader) Size() (int64, error) { return fileSize(r.File) }

func fileSize(f *os.File) (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// fileJournal is a journal in a file. A file open for appending can't be written in place, so the
// file is open either for appending or for writing in place.
type fileJournal struct {
	dir  statedir.Dir
	name string

	mu    sync.Mutex
	f     *os.File // nil if it is not open
	patch bool     // f is for writing in place
	// was describes the file that was shut to make room for other files, nil if no file was shut.
	// end is the end of the content of that file.
	was os.FileInfo
	end []byte
	// other is set if the name referred to another file when the journal was opened again.
	other bool
}

// mostOpen bounds the number of journal files that this process keeps open between calls. There
// may be many more sessions and tenants. Opening a file again costs a few system calls. Tests set
// it.
var mostOpen = 64

// opened lists the journals with open files, the most recently used one last.
var opened struct {
	sync.Mutex
	all []*fileJournal
}

// used notes that a journal's file is open and in use. Callers must hold j.mu. If too many files
// are open, used shuts the least recently used one. It skips files in use.
func (j *fileJournal) used() {
	opened.Lock()
	defer opened.Unlock()
	if n := len(opened.all); n == 0 || opened.all[n-1] != j {
		opened.all = append(slices.DeleteFunc(opened.all, func(o *fileJournal) bool { return o == j }), j)
	}
	for i := 0; len(opened.all) > mostOpen && i < len(opened.all); i++ {
		if o := opened.all[i]; o.mu.TryLock() {
			o.shut()
			o.mu.Unlock()
			opened.all = slices.Delete(opened.all, i, i+1)
			i--
		}
	}
}

// endBytes is the length of a file's end that identifies the file, because another file may get
// its inode number.
const endBytes = 64

// shut closes the file until the next use. Callers must hold j.mu.
func (j *fileJournal) shut() {
	if !j.patch {
		var err error
		if j.was, err = j.f.Stat(); err == nil {
			j.end = make([]byte, min(j.was.Size(), endBytes))
			_, err = j.f.ReadAt(j.end, j.was.Size()-int64(len(j.end)))
		}
		j.other = j.other || err != nil
	}
	j.f.Close()
	j.f = nil
}

// same reports whether f is the file that was shut.
func (j *fileJournal) same(f *os.File) bool {
	fi, err := f.Stat()
	end := make([]byte, len(j.end))
	if err == nil {
		_, err = f.ReadAt(end, j.was.Size()-int64(len(end)))
	}
	return err == nil && os.SameFile(fi, j.was) && bytes.Equal(end, j.end)
}

// open opens the file for reading and appending, and makes a missing file. Callers must hold
// j.mu.
func (j *fileJournal) open() error {
	if j.f != nil && !j.patch {
		j.used()
		return nil
	}
	if j.patch {
		j.close()
	}
	if _, err := j.dir.Stat(j.name); errors.Is(err, fs.ErrNotExist) {
		if _, err := j.dir.MkdirAll(path.Dir(j.name), dirPerm); err != nil {
			return err
		}
	}
	f, err := j.dir.OpenAppend(j.name, filePerm)
	if err != nil {
		return err
	}
	j.other = j.other || j.was != nil && !j.same(f)
	j.f, j.was = f, nil
	j.used()
	return nil
}

// Close closes the file. The next use opens the file that has the name at that time.
func (j *fileJournal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.close()
}

func (j *fileJournal) close() error {
	j.was, j.end, j.other, j.patch = nil, nil, false, false
	if j.f == nil {
		return nil
	}
	opened.Lock()
	defer opened.Unlock()
	opened.all = slices.DeleteFunc(opened.all, func(o *fileJournal) bool { return o == j })
	err := j.f.Close()
	j.f = nil
	return err
}

// use opens the file if necessary and calls do.
func (j *fileJournal) use(do func() error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.open(); err != nil {
		return err
	}
	return do()
}

func (j *fileJournal) ReadAt(p []byte, off int64) (n int, err error) {
	err = j.use(func() (err error) { n, err = j.f.ReadAt(p, off); return err })
	return n, err
}

func (j *fileJournal) Size() (n int64, err error) {
	err = j.use(func() (err error) { n, err = fileSize(j.f); return err })
	return n, err
}

func (j *fileJournal) Append(off int64, data []byte, sync bool) (st Stats, err error) {
	err = j.use(func() error {
		done, err := atomicfile.Append(j.f, off, data, sync)
		if torn := (*atomicfile.TornError)(nil); errors.As(err, &torn) {
			err = tornError{err}
		}
		st = Stats(done)
		return err
	})
	return st, err
}

// tornError is an error that wraps ErrTorn and adds nothing.
type tornError struct{ error }

func (e tornError) Unwrap() []error { return []error{e.error, ErrTorn} }

func (j *fileJournal) Sync() (st Stats, err error) {
	err = j.use(func() error {
		done, err := atomicfile.Sync(j.f)
		st = Stats(done)
		return err
	})
	return st, err
}

func (j *fileJournal) Cut(size int64) error {
	return j.use(func() error { return atomicfile.Truncate(j.f, size) })
}

func (j *fileJournal) Patch(off int64, data []byte, sync bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil || !j.patch {
		j.close()
		f, err := j.dir.OpenPatch(j.name)
		if err != nil {
			return err
		}
		j.f, j.patch = f, true
	}
	j.used()
	return atomicfile.Patch(j.f, off, data, sync)
}

func (j *fileJournal) Current() (is bool, err error) {
	err = j.use(func() error {
		mine, err := j.f.Stat()
		if err != nil {
			return err
		}
		fi, err := j.dir.Stat(j.name)
		if is = err == nil && !j.other && os.SameFile(fi, mine); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return is, err
}
