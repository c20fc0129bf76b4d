package markdownstore

import (
	"cmp"
	"context"
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
	return func(yield func(File, error) bool) {
		if !s.Includes() {
			newWalker(ctx, s, yield).known()
			return
		}
		type listed struct {
			File
			err error
		}
		var all []listed
		w := newWalker(ctx, s, func(f File, err error) bool {
			all = append(all, listed{f, err})
			return true
		})
		if w.known() {
			w.tree("", nil, "")
		}
		slices.SortStableFunc(all, func(a, b listed) int { return strings.Compare(a.Path, b.Path) })
		for _, l := range all {
			if !yield(l.File, l.err) {
				return
			}
		}
	}
}

// walker lists a workspace. Its methods return false if the listing must end.
type walker struct {
	*Store
	ctx      context.Context
	yield    func(File, error) bool
	privates []fs.FileInfo
	memory   fs.FileInfo // MEMORY.md, once it was seen
	// leftOut gets the files that are left out. If it is nil, folders in which nothing is
	// included are not entered.
	leftOut *LeftOut
	// seen counts the entries of folders with included files. spared counts the entries of folders
	// that are left out.
	seen, spared int
}

func newWalker(ctx context.Context, s *Store, yield func(File, error) bool) *walker {
	return &walker{Store: s, ctx: ctx, yield: yield, privates: privates(s.files)}
}

// known lists the files that are memory, or that prompts show, because of their names.
func (w *walker) known() bool {
	for _, name := range rootNames {
		if c, _ := Classify(name); !c.Memory && w.takes(name) {
			continue // among the notes
		}
		if !w.name(name) || name == memoryLower && !w.folder(memoryDir) {
			return false
		}
	}
	return true
}

// name lists a known file of the root. Known files are looked up one by one, since a workspace
// can be a large repository.
func (w *walker) name(name string) bool {
	c, _ := Classify(name)
	fi, err := w.files.Lstat(name)
	if c.Private && !w.opts.Private {
		return true
	}
	shadowed := name == memoryLower && w.memory != nil
	if shadowed && err == nil && w.files.Same(w.memory, fi) {
		return true // a file system that ignores case
	}
	if name == memoryName {
		w.memory = fi
	}
	return w.entry(name, c, fi, err, shadowed)
}

// entry yields one file, unless it vanished.
func (w *walker) entry(p string, c Class, fi fs.FileInfo, err error, shadowed bool) bool {
	if err != nil && gone(err) == nil {
		return true
	}
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
		return w.fails(p, err)
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

// fails yields an error for a file or a folder.
func (w *walker) fails(p string, err error) bool {
	return w.yield(File{Path: p}, wrapped("list", cmp.Or(p, "."), err))
}

// folder lists the files in a folder of memory and below.
func (w *walker) folder(dir string) bool {
	entries, err := readDir(w.files, dir)
	if err != nil {
		return gone(err) == nil || w.fails(dir, err)
	}
	for _, e := range entries {
		p, more := path.Join(dir, e.Name()), true
		c, ok := Classify(p)
		switch {
		case skippedName(e.Name()):
		case (e.IsDir() || isMarkdown(e.Name())) && !textutil.IsVisible(p):
			more = w.fails(p, deny(p, denyName))
		case e.IsDir():
			more = w.folder(p)
		case ok:
			fi, err := e.Info()
			more = w.entry(p, c, fi, err, false)
		case linksFolder(w.files, p, e):
			more = w.fails(p, deny(p, denyLink)) // its files are not listed
		}
		if !more {
			return false
		}
	}
	return true
}

// linksFolder reports whether an entry is a symbolic link to a folder.
func linksFolder(files Files, p string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	_, folder, _ := files.Resolve(p)
	return folder
}

// readDir returns the entries of a folder. A folder among them is sorted by its name with a slash, so
// that a recursive listing is in byte order.
func readDir(files Files, dir string) ([]fs.DirEntry, error) {
	fi, err := files.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return nil, deny(dir, denyLink)
	}
	if !fi.IsDir() {
		return nil, nil
	}
	entries, err := fs.ReadDir(files, dir)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return entries, err
}

// pathOf returns the name of a file, or the name of a folder with a slash.
func pathOf(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}
