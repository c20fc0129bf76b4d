package rows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
)

// Workspace keeps the files of a workspace as documents of one folder of the tables. Each change is
// a unit of work in that folder. A Workspace has no links. A folder of files exists as long as a
// file is below it.
//
// Reads may return a state that is up to 200 ms old. A write sees all writes that were complete
// when its call began.
type Workspace struct {
	s *Store
	f *folder
	// The folder's mutex guards the fields below.
	seen    int64     // the folder's newest mark when news was last incremented
	news    int64     // how many changes of the folder this process has noticed
	checked time.Time // when the folder was last read
	mover   bool      // this process moves the files
}

var _ markdownstore.Remote = (*Workspace)(nil)

const (
	// filesIn is the folder of the files in the tables. No name of a document can be in it, because
	// names don't begin with a slash.
	filesIn = "/workspace"
	// believed is how long known files are trusted to be current.
	believed = 200 * time.Millisecond
	// mostTexts is the most bytes of all texts that are kept in memory.
	mostTexts = 16 << 20
	// mostFile is the most bytes of one file.
	mostFile = 256 << 20
	// mostName is the longest name, in bytes, that file systems accept. mostPath is the longest
	// path, in bytes, that the index of a table can hold.
	mostName, mostPath = 255, 1024
)

// Workspace returns the files of the workspace. All callers share them.
func (s *Store) Workspace() *Workspace {
	f := s.core.folder(filesIn)
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	if s.files == nil {
		s.files = &Workspace{s: &Store{core: s.core}, f: f}
	}
	return s.files
}

// Where implements [markdownstore.Remote].
func (w *Workspace) Where() string { return w.s.place }

// Close does nothing: the opener of the store must close it.
func (w *Workspace) Close() error { return nil }

// refresh brings the knowledge of the workspace up to date, and drops texts beyond mostTexts.
// Callers must hold w.f.mu.
func (w *Workspace) refresh() error {
	asked := time.Now()
	if err := w.f.refresh(w.s.core); err != nil {
		return err
	}
	w.checked = asked
	bytes := 0
	for name, f := range w.f.docs {
		if bytes += len(f.data); bytes > mostTexts {
			bytes -= len(f.data)
			f.data = nil
			w.f.docs[name] = f
		}
	}
	return nil
}

// moved returns an error while another process moves the files.
func (w *Workspace) moved(from string) error {
	if from == "" || w.mover {
		return nil
	}
	return fmt.Errorf("%s has a part of the files of %s: a move was cut short; run 'memkernel migrate --memory' again, which goes on there", w.s.place, from)
}

// lock locks w.f.mu. If the folder was last read old ago or earlier, it also reads the folder
// again. After an error w.f.mu is not locked.
func (w *Workspace) lock(old time.Duration) (err error) {
	w.f.mu.Lock()
	if !w.f.known || time.Since(w.checked) >= old {
		err = w.refresh()
	}
	if err = cmp.Or(err, w.moved(w.f.moving)); err != nil {
		w.f.mu.Unlock()
	}
	return err
}

// Version implements [markdownstore.Remote].
func (w *Workspace) Version(ctx context.Context, old time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := w.lock(old); err != nil {
		return 0, err
	}
	defer w.f.mu.Unlock()
	if mark := w.f.newest(); mark != w.seen {
		w.seen = mark
		w.news++
	}
	return w.news, nil
}

// fileInfo is the stat of a file or a folder.
type fileInfo struct {
	doc
	path   string
	folder bool
}

func (i fileInfo) Name() string       { return path.Base(i.path) }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) ModTime() time.Time { return i.written }
func (i fileInfo) IsDir() bool        { return i.folder }
func (i fileInfo) Sys() any           { return nil }
func (i fileInfo) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// look describes the file or the folder at a path among files. For a folder, below has the entries.
func look(files map[string]doc, op, name string) (i fileInfo, below listing, err error) {
	if !fs.ValidPath(name) {
		return i, nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if d, ok := files[name]; ok {
		return fileInfo{d, name, false}, nil, nil
	}
	in := name
	if in == "." {
		in = ""
	}
	if below = listed(files, in); len(below) == 0 && in != "" {
		return i, nil, missing(op, name)
	}
	return fileInfo{path: name, folder: true}, below, nil
}

// missing returns the error for a missing file.
func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// Lstat implements [markdownstore.Files].
func (w *Workspace) Lstat(name string) (fs.FileInfo, error) {
	if err := w.lock(believed); err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	defer w.f.mu.Unlock()
	i, _, err := look(w.f.docs, "lstat", name)
	return i, err
}

// Stat implements [markdownstore.Files].
func (w *Workspace) Stat(name string) (fs.FileInfo, error) { return w.Lstat(name) }

// Resolve implements [markdownstore.Files].
func (w *Workspace) Resolve(link string) (string, bool, error) {
	i, err := w.Lstat(link)
	return link, err == nil && i.IsDir(), err
}

// Same implements [markdownstore.Files].
func (w *Workspace) Same(a, b fs.FileInfo) bool {
	x, ok := a.(fileInfo)
	y, too := b.(fileInfo)
	return ok && too && x.path == y.path
}

// openFile is a file or a folder as it was when it was opened.
type openFile struct {
	*strings.Reader // empty for a folder
	info            fileInfo
	entries         []fs.DirEntry
}

func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openFile) Close() error               { return nil }
func (o *openFile) Read(p []byte) (int, error) {
	if o.info.folder {
		return 0, &fs.PathError{Op: "read", Path: o.info.path, Err: syscall.EISDIR}
	}
	return o.Reader.Read(p)
}

func (o *openFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 || !o.info.folder {
		return nil, &fs.PathError{Op: "readdir", Path: o.info.path, Err: errors.ErrUnsupported}
	}
	return o.entries, nil
}

// Open implements [fs.FS].
func (w *Workspace) Open(name string) (fs.File, error) {
	if err := w.lock(believed); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer w.f.mu.Unlock()
	i, below, err := look(w.f.docs, "open", name)
	if err != nil {
		return nil, err
	}
	o := &openFile{info: i, entries: []fs.DirEntry{}}
	for _, base := range slices.Sorted(maps.Keys(below)) {
		at := path.Join(name, base)
		o.entries = append(o.entries, fs.FileInfoToDirEntry(fileInfo{w.f.docs[at], at, below[base].Folder}))
	}
	if !i.folder && i.data == nil { // the text is not kept in memory
		now, err := w.s.get(fileAt(name))
		switch {
		case err != nil:
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		case now == nil:
			return nil, missing("open", name)
		case now.mark == i.mark:
			w.f.docs[name] = *now
		default: // another process has written the file
			w.f.known = false
		}
		o.info.doc = *now
	}
	o.Reader = strings.NewReader(string(o.info.data))
	return o, nil
}

// Write implements [markdownstore.Files].
func (w *Workspace) Write(ctx context.Context, f func(markdownstore.Writer) error) error {
	if _, err := w.Version(ctx, time.Since(markdownstore.SinceOf(ctx))); err != nil { // for example ctx has ended
		return err
	}
	err := f(fileWriter{w})
	if err == nil || errors.Is(err, fs.ErrNotExist) { // a caller may also rely on a file being missing
		return cmp.Or(w.stand(), err)
	}
	return err
}

// stand waits until everything that this process has read is durable. Callers must call it before
// they report a text as written that another process wrote.
func (w *Workspace) stand() error {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	if w.f.durable {
		return nil
	}
	mark := w.f.newest()
	has, _, err := w.s.stand(filesIn, mark)
	if err == nil && !has && mark != 0 {
		w.f.known = false
		err = fmt.Errorf("write in %s: another server has taken over, without files that were read: %w", w.s.place, store.ErrOvertaken)
	}
	w.f.durable = err == nil
	return err
}

// Moving implements [markdownstore.Remote].
func (w *Workspace) Moving(_ context.Context, from string) (was string, err error) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	if err := w.refresh(); err != nil {
		return "", err
	}
	was = w.f.moving
	if from != "" && was != "" && was != from {
		return was, fmt.Errorf("%s has a part of the files of %s: move those first, or name another root", w.s.place, was)
	}
	if _, err := w.s.one(&moving, filesIn, []any{filesIn, from, newMark()}); err != nil {
		return was, err
	}
	w.mover = from != ""
	return was, w.refresh()
}

// fileAt returns the place of a file in the tables.
func fileAt(name string) place { return place{filesIn + "/" + name, filesIn, name} }

// fileWriter is a workspace for the caller of [Workspace.Write].
type fileWriter struct{ *Workspace }

// change changes a file in a unit of its own. It calls f with the file, whose mark is 0 if it is
// missing. f returns the file's new content, nil to leave the file unchanged, or a doc without data
// to remove it. If another process writes to the workspace meanwhile, change calls f again. If swap
// is set and the other process changed this file, change returns a *ConflictError instead.
func (w fileWriter) change(op, name string, swap bool, f func(fi fileInfo) (*doc, error)) error {
	var first *fileInfo
	return w.s.within(filesIn, true, func(s *Store, u *unit) error {
		fi, err := w.now(s, op, name)
		if err != nil {
			return err
		}
		if first == nil {
			first = &fi
		} else if swap && first.mark != fi.mark {
			return conflict(first.hash(), fi)
		}
		d, err := f(fi)
		if err == nil && d != nil && d.data != nil {
			err = fits(u.docs, op, name, len(d.data))
		}
		if err != nil {
			return err
		}
		return u.collect(func() error {
			if u.asked = true; d != nil {
				u.change(store.Synced, put{fileAt(name), *d})
			}
			return nil
		})
	})
}

// contents returns the document for a text that is written now.
func contents(text string) *doc {
	return &doc{size: int64(len(text)), data: []byte(text), written: time.Now()}
}

// now returns a file with its text as the unit of s knows it, and for a missing file a fileInfo whose
// mark is 0.
func (w fileWriter) now(s *Store, op, name string) (fileInfo, error) {
	i, _, err := look(s.unit.docs, op, name)
	switch moved := w.moved(s.unit.moving); {
	case moved != nil:
		return i, moved
	case errors.Is(err, fs.ErrNotExist):
		return fileInfo{path: name}, nil
	case err != nil:
		return i, err
	case i.folder:
		return i, &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
	}
	d, err := s.doc(fileAt(name))
	if err == nil {
		i.doc = *d
	}
	return i, err
}

// fits returns an error for a file whose path or size neither a folder of files nor a row can hold.
func fits(files map[string]doc, op, name string, size int) (err error) {
	switch {
	case strings.ContainsRune(name, 0): // look has refused the other invalid paths
		err = fs.ErrInvalid
	case len(name) > mostPath, slices.ContainsFunc(strings.Split(name, "/"), func(n string) bool { return len(n) > mostName }):
		err = syscall.ENAMETOOLONG
	case size > mostFile:
		err = fmt.Errorf("it would have %d bytes, and a file in the database has %d at most; split it", size, mostFile)
	}
	for dir := path.Dir(name); dir != "." && err == nil; dir = path.Dir(dir) {
		if _, file := files[dir]; file {
			err = fmt.Errorf("%s is a file: %w", dir, syscall.ENOTDIR)
		}
	}
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return err
}

// hash returns the hash of a file's text, or "" for a missing file.
func (i fileInfo) hash() string {
	if i.mark == 0 {
		return ""
	}
	return store.Sum(i.data)
}

// conflict returns the error for a file whose hash is not want.
func conflict(want string, now fileInfo) error {
	return &markdownstore.ConflictError{Path: now.path, Want: want, Have: now.hash()}
}

// Append implements [markdownstore.Writer].
func (w fileWriter) Append(name string, add func(old string) (string, error)) (now string, settled bool, err error) {
	err = w.change("append", name, false, func(fi fileInfo) (*doc, error) {
		block, err := add(string(fi.data))
		if now = string(fi.data) + block; block == "" {
			return nil, err
		}
		return contents(now), err
	})
	if store.Overtaken(err) {
		return "", false, nil
	}
	return now, err == nil, err
}

// Create implements [markdownstore.Writer].
func (w fileWriter) Create(name, text string) error {
	return w.change("create", name, true, func(fi fileInfo) (*doc, error) {
		if fi.mark != 0 {
			return nil, conflict("", fi)
		}
		return contents(text), nil
	})
}

// Swap implements [markdownstore.Writer].
func (w fileWriter) Swap(name string, change func(fi fs.FileInfo, old string) (string, error)) error {
	return w.change("swap", name, true, func(fi fileInfo) (*doc, error) {
		if fi.mark == 0 {
			return nil, missing("swap", name)
		}
		text, err := change(fi, string(fi.data))
		if text == string(fi.data) {
			return nil, err
		}
		return contents(text), err
	})
}

// Remove implements [markdownstore.Writer].
func (w fileWriter) Remove(name string, check func(fi fs.FileInfo, old string) error) error {
	return w.change("remove", name, true, func(fi fileInfo) (*doc, error) {
		if fi.mark == 0 {
			return nil, missing("remove", name)
		}
		return new(doc), check(fi, string(fi.data))
	})
}
