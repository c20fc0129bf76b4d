package markdownstore

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// defaultMaxEntries is the default of Options.MaxEntries.
const defaultMaxEntries = 250_000

// errTooMany is returned if a workspace has more files and folders than Options.MaxEntries. The
// files after the limit are not listed.
var errTooMany = errors.New("too many files")

// tree lists the included files in dir and below. dir is "" for the workspace. above are the ignore
// rules of the folders above it. why is the reason why all files in dir are left out, or "".
func (w *walker) tree(dir string, above []*textutil.Ignore, why leftReason) bool {
	entries, err := readDir(w.files, path.Join(".", dir))
	if err != nil {
		return why != "" || gone(err) == nil || w.fails(dir, err)
	}
	if why != "" {
		if w.spared += len(entries); w.spared > maxSpared {
			w.leftOut.More = true
			return true
		}
	} else if w.seen += len(entries); w.seen > w.opts.MaxEntries {
		w.yield(File{}, fmt.Errorf("%w: the workspace has more than %d files and folders; name those that matter by index.include", errTooMany, w.opts.MaxEntries))
		return false
	}
	ignore := w.ignoreIn(dir, above)
	for _, e := range entries {
		if w.ctx.Err() != nil {
			w.yield(File{}, w.ctx.Err())
			return false
		}
		p, more := path.Join(dir, e.Name()), true
		if e.IsDir() {
			more = w.below(p, ignore, why)
		} else {
			more = w.file(p, e, ignore, why)
		}
		if !more {
			return false
		}
	}
	return true
}

// below lists a folder if it may have included files, or if files that are left out are counted.
func (w *walker) below(p string, ignore []*textutil.Ignore, why leftReason) bool {
	if p == memoryDir || w.isOwn(p) {
		return true
	}
	if !textutil.IsVisible(p) && why == "" {
		return w.fails(p, deny(p, denyName))
	}
	if why == "" || why == leftNotIncluded {
		why = w.leftFolder(p, ignore)
	}
	if why != "" && w.leftOut == nil {
		return true
	}
	return w.tree(p, ignore, why)
}

// file yields a file if it is included.
func (w *walker) file(p string, e fs.DirEntry, ignore []*textutil.Ignore, why leftReason) bool {
	if c, known := Classify(p); known && (c.Memory || !w.takes(p)) {
		return true // listed by its name
	}
	named := w.named(p)
	switch {
	case !named && !anyMarkdown(p):
		// A link to a folder is reported: there may be notes in the folder.
		if why == "" && w.in.Below(p) && linksFolder(w.files, p, e) {
			w.leftOut.add(p, leftLink)
		}
		return true
	case why == "" && !textutil.IsVisible(p):
		return w.fails(p, deny(p, denyName))
	case why == "":
		if why = w.leftFile(p, named, ignore); why == "" && e.Type()&fs.ModeSymlink != 0 {
			why = leftLink
		}
	}
	if why != "" {
		w.leftOut.add(p, why)
		return true
	}
	fi, err := e.Info()
	if err == nil && !fi.Mode().IsRegular() {
		return true
	}
	c, _ := w.Classify(p)
	if c.Private && !w.opts.Private {
		return true
	}
	return w.entry(p, c, fi, err, false)
}

// leftFolder returns the reason why a folder is left out, or "" if it is not.
func (s *Store) leftFolder(p string, ignore []*textutil.Ignore) leftReason {
	name := path.Base(p)
	switch inside := s.in.Below(p); {
	case !inside && strings.HasPrefix(name, "."):
		return leftHidden
	case !inside && closed(name):
		return leftGenerated
	case isIgnored(ignore, p, true):
		return leftIgnored
	case !inside:
		return leftNotIncluded
	case s.out.Match(p):
		return leftExcluded
	}
	return ""
}

// leftFile returns the reason why a file is left out, or "" if it is not. named reports whether a glob
// of Options.Include matches it.
func (s *Store) leftFile(p string, named bool, ignore []*textutil.Ignore) leftReason {
	switch {
	case isIgnored(ignore, p, false):
		return leftIgnored
	case !named && (strings.HasPrefix(p, ".") || strings.Contains(p, "/.")):
		return leftHidden
	case !named:
		return leftNotIncluded
	case s.out.Match(p):
		return leftExcluded
	}
	return ""
}

// left returns the error for a file that is no memory file, with the rule that leaves it out.
// called is the path as the caller spells it.
func (s *Store) left(called, p string) error {
	e := &DeniedError{Path: called, Reason: DenyNotMemory}
	switch {
	case !anyMarkdown(p):
		return e
	case s.opts.PrivateNotes && !s.opts.Private:
		e.Reason = DenyPrivate
		return e
	}
	for at, ignore := range s.down(p) {
		switch {
		case e.Left != "" && e.Left != leftNotIncluded:
		case at != p:
			e.Left = s.leftFolder(at, ignore)
		case e.Left == "":
			e.Left = s.leftFile(p, s.in.Names(p) || s.in.Match(p), ignore)
		}
	}
	if e.Left == leftNotIncluded {
		e.Left = "" // the text of the error says what is memory
	}
	return e
}

// ignored reports whether .gitignore files leave out a path, or a folder that contains it.
func (s *Store) ignored(p string, folder bool) bool {
	for at, ignore := range s.down(p) {
		if isIgnored(ignore, at, folder || at != p) {
			return true
		}
	}
	return false
}

// down yields the folders that contain a path, the outermost first, and then the path itself. It yields
// each with the ignore rules that apply to it.
func (s *Store) down(p string) iter.Seq2[string, []*textutil.Ignore] {
	return func(yield func(string, []*textutil.Ignore) bool) {
		ignore := s.ignoreIn("", nil)
		for at := range len(p) {
			if p[at] == '/' {
				if !yield(p[:at], ignore) {
					return
				}
				ignore = s.ignoreIn(p[:at], ignore)
			}
		}
		yield(p, ignore)
	}
}

// isIgnored reports whether ignore rules leave out a path. The rules of the innermost folder that match
// it decide.
func isIgnored(files []*textutil.Ignore, p string, folder bool) bool {
	for _, f := range slices.Backward(files) {
		if out, decided := f.Match(p, folder); decided {
			return out
		}
	}
	return false
}

// maxIgnore is the size of the largest .gitignore file that is read, in bytes.
const maxIgnore = 1 << 20

// ignoreIn returns the ignore rules for the content of a folder: those above it and its own. Above the
// workspace's own rules are those of its repository.
func (s *Store) ignoreIn(dir string, above []*textutil.Ignore) []*textutil.Ignore {
	if s.opts.NoGitignore {
		return nil
	}
	if dir == "" && s.dir != "" {
		above = repositoryRules(s.dir)
	}
	p := path.Join(dir, ".gitignore")
	fi, err := s.files.Lstat(p)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxIgnore {
		return above
	}
	if text, err := fs.ReadFile(s.files, p); err == nil && len(text) > 0 {
		return append(slices.Clip(above), textutil.ParseIgnore(dir, string(text)))
	}
	return above
}

// isOwn reports whether a folder belongs to git or to this program. Files in such folders are not
// counted as left out.
func (s *Store) isOwn(dir string) bool {
	return path.Base(dir) == ".git" || dir == path.Dir(defaultLockName) || dir == s.opts.Own
}
