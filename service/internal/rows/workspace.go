package rows

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
)

// Workspace keeps the files of a workspace as documents of a folder of their own. A Workspace has
// no links, and a folder exists as long as a file is below it.
//
// A Workspace trusts its knowledge for a moment. A write sees all writes from before its call
// began. The statement that writes compares the mark of the file that was read.
type Workspace struct {
	c *core
	// writing is full while a caller in this process writes.
	writing chan struct{}

	mu      mutex     // guards the fields below
	head    head      // up to which the files are known
	news    int64     // counts the changes that were learned of
	stood   int64     // the mark up to which the files are known to survive a crash
	checked time.Time // when news were asked for last
	mover   bool      // this process moves the files
	files   map[string]doc
	names   []string // the paths in order, nil if they must be sorted again
	bytes   int      // of the texts in files
}

var _ markdownstore.Remote = (*Workspace)(nil)

const (
	// filesIn is the folder of the files in the tables. No name of a document leads there.
	filesIn = "/workspace"
	// believed is how long known files are trusted to be current.
	believed = 200 * time.Millisecond
	// mostTexts bounds the texts that are kept, in bytes.
	mostTexts = 16 << 20
	// mostFile bounds one text, in bytes.
	mostFile = 256 << 20
	// mostName is the longest name that folders can have, and mostPath the longest path that an
	// index can hold.
	mostName, mostPath = 255, 1024
)

// Workspace returns the files of the workspace. All callers share them.
func (s *Store) Workspace() *Workspace {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	if s.files == nil {
		s.files = &Workspace{c: s.core, mu: newMutex(), writing: make(chan struct{}, 1), files: map[string]doc{}}
	}
	return s.files
}

// Where implements [markdownstore.Remote].
func (w *Workspace) Where() string { return w.c.place }

// Close does nothing: the opener of the store must close it.
func (w *Workspace) Close() error { return nil }

// refresh reads the news of the workspace. Callers must hold w.mu.
func (w *Workspace) refresh() error {
	asked := time.Now()
	n, err := w.c.read(filesIn, &w.head, []int{}, true)
	if err != nil {
		return err
	}
	w.checked = asked
	if n.mark() == w.head.mark() {
		return nil
	}
	w.files, w.head, w.names, w.bytes = n.merged(w.files), n.head, nil, 0
	w.news++
	for _, f := range w.files {
		w.bytes += len(f.data)
	}
	w.shrink("")
	return nil
}

// shrink drops texts beyond the bound, except the text of keep. Callers must hold w.mu.
func (w *Workspace) shrink(keep string) {
	for name, f := range w.files {
		if w.bytes <= mostTexts {
			return
		}
		if name != keep {
			w.bytes -= len(f.data)
			f.data = nil
			w.files[name] = f
		}
	}
}

// set records the newest state of a file. Callers must hold w.mu.
func (w *Workspace) set(name string, f doc) {
	old, there := w.files[name]
	if !there {
		w.names = nil
	}
	w.bytes += len(f.data) - len(old.data)
	w.files[name] = f
	w.shrink(name)
}

// lock locks w.mu. If the news were last read old ago or earlier, it first reads them again.
func (w *Workspace) lock(old time.Duration) error {
	w.mu.Lock()
	if time.Since(w.checked) >= old {
		if err := w.refresh(); err != nil {
			w.mu.Unlock()
			return err
		}
	}
	if from := w.head.moving; from != "" && !w.mover {
		w.mu.Unlock()
		return fmt.Errorf("%s has a part of the files of %s: a move was cut short; run 'memkernel migrate --memory' again, which goes on there", w.c.place, from)
	}
	return nil
}

// Version implements [markdownstore.Remote].
func (w *Workspace) Version(ctx context.Context, old time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := w.lock(old); err != nil {
		return 0, err
	}
	defer w.mu.Unlock()
	return w.news, nil
}

// fileInfo is the stat of a file or a folder.
type fileInfo struct {
	path   string
	file   doc
	folder bool
}

func (i fileInfo) Name() string               { return path.Base(i.path) }
func (i fileInfo) Size() int64                { return i.file.size }
func (i fileInfo) ModTime() time.Time         { return i.file.written }
func (i fileInfo) IsDir() bool                { return i.folder }
func (i fileInfo) Sys() any                   { return nil }
func (i fileInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i fileInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i fileInfo) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// below returns the paths in a folder, in order. Callers must hold w.mu.
func (w *Workspace) below(dir string) []string {
	if w.names == nil {
		w.names = slices.Sorted(maps.Keys(w.files))
	}
	if dir == "." {
		return w.names
	}
	from, _ := slices.BinarySearch(w.names, dir+"/")
	to, _ := slices.BinarySearch(w.names, dir+"0") // the character after the slash
	return w.names[from:to]
}

// look looks a path up. Callers must hold w.mu.
func (w *Workspace) look(op, name string) (fileInfo, error) {
	if !fs.ValidPath(name) {
		return fileInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if f, ok := w.files[name]; ok {
		return fileInfo{path: name, file: f}, nil
	}
	if name == "." || len(w.below(name)) > 0 {
		return fileInfo{path: name, folder: true}, nil
	}
	return fileInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Lstat implements [markdownstore.Files].
func (w *Workspace) Lstat(name string) (fs.FileInfo, error) {
	if err := w.lock(believed); err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	defer w.mu.Unlock()
	i, err := w.look("lstat", name)
	if err != nil {
		return nil, err
	}
	return i, nil
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
	*strings.Reader // nil for a folder
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
	if !o.info.folder {
		return nil, &fs.PathError{Op: "readdir", Path: o.info.path, Err: syscall.ENOTDIR}
	}
	if n > 0 {
		return nil, &fs.PathError{Op: "readdir", Path: o.info.path, Err: errors.ErrUnsupported}
	}
	return o.entries, nil
}

// Open implements [fs.FS].
func (w *Workspace) Open(name string) (fs.File, error) {
	if err := w.lock(believed); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer w.mu.Unlock()
	i, err := w.look("open", name)
	if err != nil {
		return nil, err
	}
	if i.folder {
		return &openFile{info: i, entries: w.list(name)}, nil
	}
	var text string
	i.file, text, err = w.text("open", name, i.file)
	return &openFile{Reader: strings.NewReader(text), info: i}, err
}

// list lists a folder. Callers must hold w.mu.
func (w *Workspace) list(dir string) []fs.DirEntry {
	out := []fs.DirEntry{}
	last := ""
	for _, at := range w.below(dir) {
		rest := at
		if dir != "." {
			rest = at[len(dir)+1:]
		}
		first, _, deeper := strings.Cut(rest, "/")
		if first == last {
			continue // a folder's files are adjacent
		}
		last = first
		if deeper {
			out = append(out, fileInfo{path: path.Join(dir, first), folder: true})
		} else {
			out = append(out, fileInfo{path: at, file: w.files[at]})
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// text returns the text of a file. The text may be newer than the known one. Callers must hold
// w.mu.
func (w *Workspace) text(op, name string, f doc) (doc, string, error) {
	if f.data != nil || f.size == 0 {
		return f, string(f.data), nil
	}
	known := f.mark
	f, there, err := w.c.get(place{filesIn + "/" + name, filesIn, name})
	if err == nil && !there {
		err = fs.ErrNotExist
	}
	if err != nil {
		return f, "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	if f.mark == known {
		w.set(name, f)
	} else { // w.files has no file that is newer than w.head
		w.checked = time.Time{}
	}
	return f, string(f.data), nil
}

// Write implements [markdownstore.Files].
func (w *Workspace) Write(ctx context.Context, f func(markdownstore.Writer) error) error {
	select {
	case w.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("lock workspace: %w", ctx.Err())
	}
	defer func() { <-w.writing }()
	if err := ctx.Err(); err != nil { // the context may have ended while it waited
		return fmt.Errorf("lock workspace: %w", err)
	}
	old := time.Since(markdownstore.SinceOf(ctx))
	if err := w.lock(old); err != nil {
		return err
	}
	w.mu.Unlock()
	err := f(fileWriter{w})
	if err == nil || errors.Is(err, fs.ErrNotExist) { // a missing file may be a valid answer too
		return cmp.Or(w.stand(), err)
	}
	return err
}

// stand waits until the writes of other processes that were read are as durable as a write. A
// caller that finds its text in a file reports that text as written.
func (w *Workspace) stand() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	mark := w.head.mark()
	if mark == w.stood {
		return nil
	}
	has, _, err := w.c.stand(filesIn, mark)
	if err == nil && !has && mark != 0 {
		w.checked = time.Time{}
		err = fmt.Errorf("write in %s: another server has taken over, without files that were read: %w", w.c.place, store.ErrOvertaken)
	}
	if err == nil {
		w.stood = mark
	}
	return err
}

// Moving implements [markdownstore.Remote].
func (w *Workspace) Moving(_ context.Context, from string) (was string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.refresh(); err != nil {
		return "", err
	}
	was = w.head.moving
	if from != "" && was != "" && was != from {
		return was, fmt.Errorf("%s has a part of the files of %s: move those first, or name another root", w.c.place, was)
	}
	if _, err := w.c.ask(&moving, filesIn, []any{filesIn, from, newMark()}, nil, nothing); err != nil {
		return was, err
	}
	w.mover = from != ""
	return was, w.refresh()
}

// fileWriter is a workspace that this process's one writer writes to.
type fileWriter struct{ *Workspace }

// now reads a file. there is false if the file is missing.
func (w fileWriter) now(op, name string) (f doc, text string, there bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, err := w.look(op, name)
	if err == nil && i.folder {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
	}
	if err == nil {
		f, text, err = w.text(op, name, i.file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return doc{}, "", false, nil
	}
	return f, text, err == nil, err
}

// checkName returns an error for a name that a folder or a row can't have.
func checkName(op, name string) error {
	var err error
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		err = fs.ErrInvalid
	case len(name) > mostPath, slices.ContainsFunc(strings.Split(name, "/"), func(n string) bool { return len(n) > mostName }):
		err = syscall.ENAMETOOLONG
	default:
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// errOther reports that a file no longer is the one that was read.
var errOther = errors.New("the file has changed")

// write replaces a file that was read, or appends to it. For the zero doc it makes a new file.
func (w fileWriter) write(op, name string, was doc, text string, appends bool) error {
	if err := checkName(op, name); err != nil {
		return err
	}
	size := int64(len(text))
	if appends {
		size += was.size
	}
	if size > mostFile {
		return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("it would have %d bytes, and a file in the database has %d at most; split it", size, mostFile)}
	}
	above := []string{}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		above = append(above, dir)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for range creations {
		f := doc{mark: newMark()}
		var inTheWay string
		var before int64
		unsure, err := w.c.one(&writeFile, filesIn+"/"+name, []any{filesIn, name, was.mark, []byte(text), appends, f.mark, above, w.head.rev, w.head.mark(), w.mover}, &inTheWay, &f.rev, &f.size, &f.written, &before)
		switch {
		case err != nil:
			w.checked = time.Time{}
			return err
		case f.rev != 0:
			if f.data = []byte(text); appends && was.mark != 0 {
				f.data = slices.Concat(was.data, f.data)
			}
			if before == w.head.mark() {
				w.wrote(name, f)
			} else if w.refresh() != nil { // others wrote, too
				w.checked = time.Time{}
			}
			return nil
		case len(inTheWay) > len(name):
			return &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
		case inTheWay != "":
			return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%s is a file: %w", inTheWay, syscall.ENOTDIR)}
		}
		if err := w.refresh(); err != nil {
			return err
		}
		if unsure && !appends {
			return w.unsure(op, name)
		}
		if _, there := w.files[name]; there || unsure || appends || was.mark != 0 {
			break
		}
	}
	return errOther // the caller reads the file and checks whether its text is there
}

// unsure returns the error for a write that may have been done.
func (w fileWriter) unsure(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("an answer was lost, and others wrote since, so that it is not known whether it was done: read it and %w", store.ErrAgain)}
}

// creations is how often a writer tries to make a missing file while others write other files.
const creations = 8

// wrote records a write right after the known state. Callers must hold w.mu.
func (w *Workspace) wrote(name string, f doc) {
	if f.size != int64(len(f.data)) { // the old text was not kept
		f.data = nil
	}
	w.set(name, f)
	w.head.rev, w.head.trail = f.rev, []int64{after(w.head.mark(), f.mark)}
	w.news++
	w.stood = w.head.mark() // a synchronous commit waits for all earlier ones
}

// conflict returns the error for a file that has changed since it was read.
func (w fileWriter) conflict(op, name, want string) error {
	c := &markdownstore.ConflictError{Path: name, Want: want}
	_, text, there, err := w.now(op, name)
	if err != nil {
		return err
	}
	if there {
		c.Have = hashText(text)
	}
	return c
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// appends is how often an append is tried while others write to the file, and appendPause bounds
// the first pause in between.
const appends, appendPause = 16, 4 * time.Millisecond

// Append implements [markdownstore.Writer].
func (w fileWriter) Append(name string, add func(old string) (string, error)) (now string, settled bool, err error) {
	for try := range appends {
		f, old, _, err := w.now("append", name)
		if err != nil {
			return "", false, err
		}
		block, err := add(old)
		if err != nil || block == "" {
			return old, true, err
		}
		if err = w.write("append", name, f, block, true); !errors.Is(err, errOther) {
			return old + block, err == nil, err
		}
		apart := time.Duration(crc32.ChecksumIEEE([]byte(w.c.holder))%1000 + 1) // or writers in step would meet again
		time.Sleep(appendPause * time.Duration(try+1) * apart / 1000)
	}
	return "", false, nil
}

// Create implements [markdownstore.Writer].
func (w fileWriter) Create(name, text string) error {
	err := w.write("create", name, doc{}, text, false)
	if errors.Is(err, errOther) {
		return w.conflict("create", name, "")
	}
	return err
}

// there is like now, but returns an error for a missing file.
func (w fileWriter) there(op, name string) (doc, string, error) {
	f, text, there, err := w.now(op, name)
	if err == nil && !there {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return f, text, err
}

// Swap implements [markdownstore.Writer].
func (w fileWriter) Swap(name string, change func(fi fs.FileInfo, old string) (string, error)) error {
	f, old, err := w.there("swap", name)
	if err != nil {
		return err
	}
	text, err := change(fileInfo{path: name, file: f}, old)
	if err != nil || text == old {
		return err
	}
	err = w.write("swap", name, f, text, false)
	if errors.Is(err, errOther) {
		return w.conflict("swap", name, hashText(old))
	}
	return err
}

// Remove implements [markdownstore.Writer].
func (w fileWriter) Remove(name string, check func(fi fs.FileInfo, old string) error) error {
	f, old, err := w.there("remove", name)
	if err != nil {
		return err
	}
	if err := check(fileInfo{path: name, file: f}, old); err != nil {
		return err
	}
	w.mu.Lock()
	mark := newMark()
	var gone, left bool
	unsure, err := w.c.one(&removeFile, filesIn+"/"+name, []any{filesIn, name, f.mark, mark, w.mover}, &gone, &left)
	err = cmp.Or(err, w.refresh())
	gone = gone || w.head.wrote(mark) // before an answer was lost
	w.mu.Unlock()
	switch {
	case err != nil || gone:
		return err
	case unsure && !left: // it may have been removed by a server that is not asked any more
		return w.unsure("remove", name)
	}
	return w.conflict("remove", name, hashText(old))
}
