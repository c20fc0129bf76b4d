package markdownstore

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
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// folder is a workspace in a folder of the file system.
type folder struct {
	dir      string // absolute, without symbolic links
	root     *os.Root
	lockFile string

	// A writer must hold writing, which excludes other writers of this process, and lock, which
	// excludes other processes.
	writing chan struct{}
	lock    *flock.Flock
}

var _ Files = (*folder)(nil)

// openFolder opens the folder dir, which must exist. It creates nothing.
func openFolder(dir, lockFile string) (*folder, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	if lockFile == "" {
		lockFile = filepath.Join(abs, filepath.FromSlash(defaultLockName))
	}
	return &folder{dir: abs, root: root, lockFile: lockFile, writing: make(chan struct{}, 1), lock: flock.New(lockFile)}, nil
}

// abs returns the absolute path of a path of the workspace.
func (d *folder) abs(p string) string { return filepath.Join(d.dir, filepath.FromSlash(p)) }

func (d *folder) Open(p string) (fs.File, error)      { return d.root.FS().Open(p) }
func (d *folder) Lstat(p string) (fs.FileInfo, error) { return d.root.Lstat(filepath.FromSlash(p)) }
func (d *folder) Stat(p string) (fs.FileInfo, error)  { return d.root.Stat(filepath.FromSlash(p)) }
func (d *folder) Same(a, b fs.FileInfo) bool          { return os.SameFile(a, b) }

// Close waits for the writer of this process.
func (d *folder) Close() error {
	d.writing <- struct{}{}
	defer func() { <-d.writing }()
	return d.root.Close()
}

func (d *folder) Resolve(link string) (to string, isFolder bool, err error) {
	if fi, err := os.Stat(d.abs(link)); err == nil {
		isFolder = fi.IsDir()
	}
	target, err := filepath.EvalSymlinks(d.abs(link))
	if err != nil {
		return "", isFolder, err
	}
	rel, err := filepath.Rel(d.dir, target)
	if err == nil && !filepath.IsLocal(rel) {
		err = fmt.Errorf("%s leads out of the workspace", link)
	}
	return filepath.ToSlash(rel), isFolder, err
}

// lockPoll is the interval of attempts to take a lock that another process holds.
const lockPoll = 5 * time.Millisecond

// Write runs f while no other goroutine and no other process writes. The operating system releases the
// lock of a process that dies.
func (d *folder) Write(ctx context.Context, f func(Writer) error) error {
	select {
	case d.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("lock workspace: %w", ctx.Err())
	}
	defer func() { <-d.writing }()
	err := d.makeLockDir()
	if err == nil {
		_, err = d.lock.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return fmt.Errorf("lock workspace: %w", err)
	}
	defer d.lock.Unlock()
	return f(folderWriter{d})
}

// makeLockDir makes the folder of the lock file. The default folder is the kernel's own and is
// kept out of the user's version control.
func (d *folder) makeLockDir() error {
	dir := filepath.Dir(d.lockFile)
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if d.lockFile != d.abs(defaultLockName) {
		return nil
	}
	return atomicfile.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
}

// folderWriter is a folder whose lock is held.
type folderWriter struct{ *folder }

func (d folderWriter) Append(p string, add func(old string) (string, error)) (now string, settled bool, err error) {
	f, err := d.openAppend(p)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	old, err := readFrom(f)
	if err != nil {
		return "", false, err
	}
	block, err := add(old)
	if err != nil || block == "" {
		return old, true, err
	}
	if _, err := atomicfile.Append(f, int64(len(old)), []byte(block), true); err != nil {
		return "", false, err
	}
	fi, err := f.Stat()
	if err != nil {
		return "", false, err
	}
	named, err := os.Lstat(d.abs(p))
	if err != nil || !os.SameFile(named, fi) {
		return "", false, gone(err)
	}
	now, err = readFrom(f)
	return now, true, err
}

// openAppend opens a file for appending, and makes it if it is missing.
func (d folderWriter) openAppend(p string) (*os.File, error) {
	if _, err := d.Lstat(p); err != nil {
		if err := d.makeFolder(p); err != nil {
			return nil, err
		}
	}
	f, err := atomicfile.OpenAppend(d.abs(p), 0o644)
	if err != nil {
		return nil, err
	}
	// A link may have replaced the file since the path was checked, so the opened file must be the
	// one that the path names inside the workspace.
	fi, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = d.Lstat(p); err == nil && !os.SameFile(fi, named) {
			err = deny(p, denyLink)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d folderWriter) Create(p, text string) error {
	if err := d.makeFolder(p); err != nil {
		return err
	}
	// An empty file reserves the name, because an editor may create a file of this name too.
	f, err := d.root.OpenFile(filepath.FromSlash(p), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return d.changed(p, "")
	}
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(d.abs(p), []byte(text), fi.Mode().Perm()); err != nil {
		return errors.Join(err, d.unclaim(p))
	}
	return nil
}

// unclaim removes the file that reserves a name if nobody has written to it.
func (d folderWriter) unclaim(p string) error {
	if fi, err := d.Lstat(p); err == nil && fi.Size() == 0 {
		return d.root.Remove(filepath.FromSlash(p))
	}
	return nil
}

func (d folderWriter) Swap(p string, change func(fi fs.FileInfo, old string) (string, error)) error {
	return d.change(p, false, change)
}

func (d folderWriter) Remove(p string, check func(fi fs.FileInfo, old string) error) error {
	err := d.change(p, true, func(fi fs.FileInfo, old string) (string, error) { return "", check(fi, old) })
	if err != nil {
		return err
	}
	for dir := path.Dir(p); dir != "." && dir != memoryDir; dir = path.Dir(dir) {
		if err := d.root.Remove(filepath.FromSlash(dir)); err != nil {
			break // there is something else in it
		}
	}
	return nil
}

// change replaces a file's text by the result of decide, or removes the file. It then checks the
// former file, which is still open. If an editor wrote into that file meanwhile, change restores
// the editor's text and returns a conflict.
func (d folderWriter) change(p string, remove bool, decide func(fi fs.FileInfo, old string) (string, error)) error {
	f, err := d.root.Open(filepath.FromSlash(p))
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return deny(p, denyNotFile)
	}
	old, err := readFrom(f)
	if err != nil {
		return err
	}
	text, err := decide(fi, old)
	if err != nil || text == old && !remove {
		return err
	}
	if now, err := d.Lstat(p); err != nil || !os.SameFile(now, fi) {
		return d.changed(p, hashOf(old))
	}
	if runtime.GOOS == "windows" {
		f.Close() // an open file can't be replaced or removed there, so there is no second look
	}
	put := func(text string) error { return atomicfile.WriteFile(d.abs(p), []byte(text), fi.Mode().Perm()) }
	if remove {
		_, err = atomicfile.Remove(d.abs(p))
	} else {
		err = put(text)
	}
	if err != nil || runtime.GOOS == "windows" {
		return err
	}
	edited, err := readFrom(f)
	if err != nil || edited == old {
		return err
	}
	if now, err := os.ReadFile(d.abs(p)); remove && errors.Is(err, fs.ErrNotExist) || !remove && err == nil && string(now) == text {
		if err := put(edited); err != nil {
			return err
		}
	}
	return &ConflictError{Path: p, Want: hashOf(old), Have: hashOf(edited)}
}

// changed returns the conflict for a file that is not the one that was read.
func (d folderWriter) changed(p, want string) error {
	c := &ConflictError{Path: p, Want: want}
	if b, err := os.ReadFile(d.abs(p)); err == nil {
		c.Have = hashOf(string(b))
	}
	return c
}

// makeFolder makes the folders of a path. The caller must have called locate, which refuses folders
// that are symbolic links.
func (d folderWriter) makeFolder(p string) error {
	if dir := path.Dir(p); dir != "." {
		_, err := atomicfile.MkdirAll(d.abs(dir), 0o755)
		return err
	}
	return nil
}

func readFrom(f *os.File) (string, error) {
	var b strings.Builder
	_, err := io.Copy(&b, io.NewSectionReader(f, 0, 1<<62))
	return b.String(), err
}
