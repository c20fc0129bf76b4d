package markdownstore

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/memkernel/memkernel/internal/textutil"
)

// place is a path that passed the rules, with the file that it leads to.
type place struct {
	path  string // as the workspace calls it
	real  string // the same, or where a symbolic link leads, by slashes
	class Class
	info  fs.FileInfo // nil if there is no such file
}

// clean checks a path and its class without reading the disk. It returns the clean path.
func (s *Store) clean(p string) (string, Class, error) {
	slashed := filepath.ToSlash(p)
	if p == "" || strings.HasPrefix(slashed, "/") || strings.ContainsRune(p, 0) || !filepath.IsLocal(p) || slices.Contains(strings.Split(slashed, "/"), "..") {
		return "", Class{}, deny(p, denyOutside)
	}
	slashed = path.Clean(slashed)
	if !textutil.IsVisible(slashed) {
		return "", Class{}, deny(p, denyName)
	}
	c, ok := s.Classify(slashed)
	switch {
	case !ok:
		return "", Class{}, s.left(p, slashed)
	case c.Private && !s.opts.Private:
		return "", Class{}, deny(p, DenyPrivate)
	}
	return slashed, c, nil
}

// PathLike distinguishes a path from the id of a page or a blob. An id has no slash, no leading
// dot and no extension of Markdown or text. PathLike ignores a line number at the end (":3").
func PathLike(s string) bool {
	if strings.ContainsAny(s, `/\\`) || strings.HasPrefix(s[strings.LastIndexByte(s, ':')+1:], ".") {
		return true
	}
	return slices.Contains([]string{".md", ".markdown", ".mdx", ".mdc", ".txt"}, strings.ToLower(path.Ext(s)))
}

// locate finds the file of a path. If the file does not exist, err is nil and the place has no info. If
// only one of MEMORY.md and memory.md exists, both names find it.
func (s *Store) locate(p string) (place, error) {
	name, c, err := s.clean(p)
	if err != nil {
		return place{}, err
	}
	name = textutil.Spelled(s.files, name)
	if s.Includes() && isNote(name) {
		// The file may be memory because it is included. As in a listing, such a file must not be
		// ignored or a link. A bootstrap file then keeps the class of its name.
		out := s.ignored(name, false)
		if fi, err := s.files.Lstat(name); out || err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			own, bootstrap := Classify(name)
			switch {
			case !bootstrap && out:
				return place{}, s.left(name, name)
			case !bootstrap:
				return place{}, deny(name, denyLink)
			}
			c = own
		}
	}
	pl, err := s.follow(name, c)
	if err == nil && pl.info == nil && c.Kind == KindMemory {
		other := memoryLower
		if name == memoryLower {
			other = memoryName
		}
		if alt, err := s.follow(other, c); err == nil && alt.info != nil {
			return alt, nil
		}
	}
	return pl, err
}

// follow looks up a clean path. All lookups use the root, so that no link can lead out of it, even if
// files are replaced meanwhile.
func (s *Store) follow(p string, c Class) (place, error) {
	pl := place{path: p, real: p, class: c}
	if err := checkFolders(s.files, p); err != nil {
		return pl, gone(err)
	}
	fi, err := s.files.Lstat(p)
	if err != nil {
		return pl, gone(err)
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		if pl.real, fi, pl.class, err = readLink(s.files, p, c); err != nil {
			return pl, err
		}
	}
	if !fi.Mode().IsRegular() {
		return pl, deny(p, denyNotFile)
	}
	if isAny(s.files, fi, privates(s.files)) {
		pl.class.Private = true
		if !s.opts.Private {
			return pl, deny(p, DenyPrivate)
		}
	}
	pl.info = fi
	return pl, nil
}

// gone returns nil for the error of a missing file, else err.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// checkFolders refuses a path with a folder that is a symbolic link. A listing does not follow such
// links either, because they can form circles.
func checkFolders(files Files, p string) error {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		fi, err := files.Lstat(p[:i])
		if err != nil {
			return err
		}
		if fi.Mode()&fs.ModeSymlink != 0 {
			return deny(p, denyLink)
		}
	}
	return nil
}

// readLink finds the target of a link and its class. A link may lead to a file that is memory by
// its own path, or to a file of the link's own kind. Standing instructions may also lead to any
// Markdown file of the workspace that is not hidden, since hosts call theirs by other names. All
// else is refused: a link doesn't turn another file into memory.
func readLink(files Files, p string, c Class) (string, fs.FileInfo, Class, error) {
	rel, _, err := files.Resolve(p)
	to, known := Classify(rel)
	instructs := c.Kind == KindInstructions || c.Kind == KindRoutine
	if !known && instructs {
		to = c
	}
	leads := known && (to.Memory || to.Kind == c.Kind) || instructs
	if err == nil && leads && isMarkdown(path.Base(rel)) && !skippedPath(rel) && textutil.IsVisible(rel) {
		if fi, err := files.Lstat(rel); err == nil && fi.Mode().IsRegular() {
			return rel, fi, behind(c, to), nil
		}
	}
	return "", nil, c, deny(p, denyLink)
}

// behind returns the class of a link to a file. The class allows only uses that both the link and
// the file allow. So past logs stay closed, and curated memory stays guarded, under any name.
func behind(link, to Class) Class {
	link.Private = link.Private || to.Private
	link.Memory, link.Indexed = link.Memory && to.Memory, link.Indexed && to.Indexed
	if link.Memory && (to.Kind == KindDaily || to.Kind == KindMemory) {
		link.Kind, link.Tier, link.Date = to.Kind, to.Tier, to.Date
	}
	return link
}

// isAny reports whether a file is the same as one of others, perhaps under another name: by a link, or
// by another letter case in a file system that ignores case.
func isAny(files Files, fi fs.FileInfo, others []fs.FileInfo) bool {
	return slices.ContainsFunc(others, func(o fs.FileInfo) bool { return files.Same(fi, o) })
}

// withheld reports whether a file is private, under any name, while the session is shared.
func (s *Store) withheld(fi fs.FileInfo) bool {
	return !s.opts.Private && isAny(s.files, fi, privates(s.files))
}

// instructs reports whether a file is a file of standing instructions under another name.
func instructs(files Files, fi fs.FileInfo) bool {
	return fi != nil && isAny(files, fi, existing(files, func(c Class) bool { return c.PageType == pageBootstrap }))
}

// privates returns the private files that exist.
func privates(files Files) []fs.FileInfo {
	out := existing(files, func(c Class) bool { return c.Private })
	if fi, err := files.Stat(memoryDir + "/" + bufferName); err == nil {
		out = append(out, fi)
	}
	return out
}

// existing returns the infos of the existing root files whose class of accepts. It follows links.
func existing(files Files, of func(Class) bool) (out []fs.FileInfo) {
	for _, name := range rootNames {
		if of(rootFiles[name]) {
			if fi, err := files.Stat(name); err == nil {
				out = append(out, fi)
			}
		}
	}
	return out
}

// open opens the file of a place for reading. It checks again that the file is regular and may be read,
// because the file may have been replaced.
func (s *Store) open(pl place) (fs.File, fs.FileInfo, error) {
	f, err := s.files.Open(pl.real)
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = deny(pl.path, denyNotFile)
	}
	if err == nil && s.withheld(fi) {
		err = deny(pl.path, DenyPrivate)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}
