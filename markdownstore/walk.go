package markdownstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Walk lists the files of the workspace in byte order of their paths, by stat alone. It opens no
// file. For a refused file it yields a File with only its path, and a *DeniedError. For an
// unreadable file it yields the error of the file. The listing continues after such errors, and
// ends early only if the context ends. A folder whose name can't be shown is refused with all its
// content. Walk leaves out files that vanish meanwhile. It skips hidden folders, node_modules and
// other files without an error, and in a shared session also private files.
//
// Files that Options.Include takes in are listed too, except those that .gitignore files leave
// out. Links to them are not followed. If there are more than Options.MaxEntries files and
// folders, Walk yields errTooMany without a path.
func (s *Store) Walk(ctx context.Context) iter.Seq2[File, error] {
	if !s.Includes() {
		return s.known(ctx)
	}
	return func(yield func(File, error) bool) {
		type listed struct {
			File
			err error
		}
		var all []listed
		keep := func(f File, err error) bool {
			all = append(all, listed{f, err})
			return true
		}
		for f, err := range s.known(ctx) {
			keep(f, err)
		}
		t := treeWalk{walker: newWalker(ctx, s, keep), include: &s.include}
		t.folder("", nil, "")
		slices.SortStableFunc(all, func(a, b listed) int { return strings.Compare(a.Path, b.Path) })
		for _, l := range all {
			if !yield(l.File, l.err) {
				return
			}
		}
	}
}

func newWalker(ctx context.Context, s *Store, yield func(File, error) bool) *walker {
	return &walker{files: s.files, opts: &s.opts, ctx: ctx, yield: yield, privates: privates(s.files)}
}

// known lists the files that are memory, or that prompts show, by their names.
func (s *Store) known(ctx context.Context) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		w := newWalker(ctx, s, yield)
		for _, name := range rootNames {
			if c, _ := Classify(name); !c.Memory && s.include.takes(name) {
				continue // among the notes
			}
			more := w.name(name)
			if name == memoryLower && more {
				more = w.folder(memoryDir)
			}
			if !more {
				return
			}
		}
	}
}

type walker struct {
	files    Files
	opts     *Options
	ctx      context.Context
	yield    func(File, error) bool
	privates []fs.FileInfo
	memory   fs.FileInfo // MEMORY.md, once it was seen
}

// name lists a known file of the root. Known files are looked up one by one, since a workspace
// can be a large repository.
func (w *walker) name(name string) bool {
	c, _ := Classify(name)
	fi, err := w.files.Lstat(name)
	if c.Private && !w.opts.Private || err != nil && gone(err) == nil {
		return true
	}
	shadowed := false
	if name == memoryLower && w.memory != nil {
		if err == nil && w.files.Same(w.memory, fi) {
			return true // a file system that ignores case
		}
		shadowed = true
	}
	if name == memoryName {
		w.memory = fi
	}
	return w.entry(name, c, fi, err, shadowed)
}

// entry yields one file.
func (w *walker) entry(p string, c Class, fi fs.FileInfo, err error, shadowed bool) bool {
	if err := w.ctx.Err(); err != nil {
		w.yield(File{}, err)
		return false
	}
	if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		_, fi, c, err = readLink(w.files, p, c)
	}
	if err == nil && !fi.Mode().IsRegular() {
		err = deny(p, denyNotFile)
	}
	if err != nil {
		return w.yield(File{Path: p}, wrapList(p, err))
	}
	if isAny(w.files, fi, w.privates) {
		c.Private = true
		if !w.opts.Private {
			return true
		}
	}
	f := fileOf(p, c, fi, w.opts.MaxFileBytes)
	if shadowed {
		f.Shadowed, f.Indexed = true, false
	}
	return w.yield(f, nil)
}

func wrapList(p string, err error) error {
	if errors.Is(err, ErrDenied) {
		return err
	}
	return fmt.Errorf("list %s: %w", p, err)
}

// folder lists the files in a folder and below.
func (w *walker) folder(dir string) bool {
	entries, err := w.readDir(dir)
	if err != nil {
		return gone(err) == nil || w.yield(File{Path: dir}, wrapList(dir, err))
	}
	slices.SortFunc(entries, byPath)
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		if skippedName(e.Name()) {
			continue
		}
		if (e.IsDir() || isMarkdown(e.Name())) && !textutil.IsVisible(e.Name()) {
			if !w.yield(File{Path: p}, deny(p, DenyName)) {
				return false
			}
			continue
		}
		if e.IsDir() {
			if !w.folder(p) {
				return false
			}
			continue
		}
		c, ok := Classify(p)
		if !ok && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if !w.child(p, c, ok, e) {
			return false
		}
	}
	return true
}

// child yields a file of a folder. A symbolic link to a folder is reported, since its target is
// not listed; links to other things, like files of other kinds, are left out.
func (w *walker) child(p string, c Class, ok bool, e fs.DirEntry) bool {
	if !ok {
		if _, folder, _ := w.files.Resolve(p); !folder {
			return true
		}
		return w.yield(File{Path: p}, deny(p, denyLink))
	}
	fi, err := e.Info()
	if err != nil && gone(err) == nil {
		return true
	}
	return w.entry(p, c, fi, err, false)
}

func (w *walker) readDir(dir string) ([]fs.DirEntry, error) {
	fi, err := w.files.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return nil, deny(dir, denyLink)
	}
	if !fi.IsDir() {
		return nil, nil
	}
	d, err := w.files.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if d, ok := d.(fs.ReadDirFile); ok {
		return d.ReadDir(-1)
	}
	return nil, &fs.PathError{Op: "list", Path: dir, Err: errors.ErrUnsupported}
}

// byPath orders the entries of a folder so that the whole listing is in byte
// order: a folder sorts as its paths do, with the slash.
func byPath(a, b fs.DirEntry) int {
	x, y := a.Name(), b.Name()
	n := min(len(x), len(y))
	if c := strings.Compare(x[:n], y[:n]); c != 0 {
		return c
	}
	return cmp.Compare(after(a, n), after(b, n))
}

// after returns the byte of the entry's path that follows the first n.
func after(e fs.DirEntry, n int) int {
	switch name := e.Name(); {
	case n < len(name):
		return int(name[n])
	case e.IsDir():
		return '/'
	}
	return -1
}
