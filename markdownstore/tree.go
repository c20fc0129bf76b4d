package markdownstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// defaultMaxEntries is how many files and folders are searched for included files.
const defaultMaxEntries = 250_000

// errTooMany is returned if a workspace has more files and folders than Options.MaxEntries. The
// files after the limit are not listed.
var errTooMany = errors.New("too many files")

// treeWalk goes through all of a workspace.
type treeWalk struct {
	*walker
	include *included
	// left gets the files that are left out. If it is nil, folders in which nothing is included
	// are not entered.
	left *LeftOut
	// seen counts the entries that were looked at. spared counts those in folders where nothing
	// is included.
	seen, spared int
}

// folder goes through a folder, "" for the workspace, with the ignore files above it. why is the
// reason for leaving out everything in it, "" if there is none. folder returns false at the end
// of the listing.
func (t *treeWalk) folder(dir string, above []*textutil.Ignore, why LeftReason) bool {
	entries, err := t.readDir(cmpDot(dir))
	if err != nil {
		return why != "" || gone(err) == nil || t.yield(File{Path: dir}, wrapList(cmpDot(dir), err))
	}
	if why != "" {
		if t.spared += len(entries); t.spared > maxSpared {
			t.left.More = true
			return true
		}
	} else if t.seen += len(entries); t.seen > t.opts.MaxEntries {
		t.yield(File{}, fmt.Errorf("%w: the workspace has more than %d files and folders; name those that matter by index.include", errTooMany, t.opts.MaxEntries))
		return false
	}
	slices.SortFunc(entries, byPath)
	ignore := t.include.ignoreIn(dir, above)
	for _, e := range entries {
		if t.ctx.Err() != nil {
			t.yield(File{}, t.ctx.Err())
			return false
		}
		p := path.Join(dir, e.Name())
		more := true
		if e.IsDir() {
			more = t.below(p, ignore, why)
		} else {
			more = t.file(p, e, ignore, why)
		}
		if !more {
			return false
		}
	}
	return true
}

func cmpDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// below enters a folder if there may be something to be listed, or to be told.
func (t *treeWalk) below(p string, ignore []*textutil.Ignore, why LeftReason) bool {
	if p == memoryDir || t.include.isOwn(p) {
		return true
	}
	if !textutil.IsVisible(p) && why == "" {
		return t.yield(File{Path: p}, deny(p, DenyName))
	}
	if why == "" || why == leftNotIncluded {
		why = t.include.leftFolder(p, ignore)
	}
	if why != "" && t.left == nil {
		return true
	}
	return t.folder(p, ignore, why)
}

// leftFolder is why a folder is left out, "" if it is not.
func (i *included) leftFolder(p string, ignore []*textutil.Ignore) LeftReason {
	name := path.Base(p)
	switch inside := i.in.Below(p); {
	case !inside && strings.HasPrefix(name, "."):
		return leftHidden
	case !inside && closed(name):
		return leftGenerated
	case isIgnored(ignore, p, true):
		return leftIgnored
	case !inside:
		return leftNotIncluded
	case i.out.Match(p):
		return leftExcluded
	}
	return ""
}

// leftFile is why a file is left out, "" if it is not. takes says whether a glob of Options.Include
// matches it.
func (i *included) leftFile(p string, takes bool, ignore []*textutil.Ignore) LeftReason {
	switch {
	case isIgnored(ignore, p, false):
		return leftIgnored
	case !takes && (strings.HasPrefix(p, ".") || strings.Contains(p, "/.")):
		return leftHidden
	case !takes:
		return leftNotIncluded
	case i.out.Match(p):
		return leftExcluded
	}
	return ""
}

// left returns the error for a file that is no memory file, with the rule that leaves it out.
// called is the path as the caller spells it.
func (i *included) left(called, p string) error {
	e := &DeniedError{Path: called, Reason: DenyNotMemory}
	switch {
	case !anyMarkdown(p):
		return e
	case i.opts.PrivateNotes && !i.opts.Private:
		e.Reason = DenyPrivate
		return e
	}
	ignore := i.ignoreIn("", nil)
	for at := range len(p) {
		if p[at] == '/' && (e.Left == "" || e.Left == leftNotIncluded) {
			e.Left = i.leftFolder(p[:at], ignore)
			ignore = i.ignoreIn(p[:at], ignore)
		}
	}
	if e.Left == "" {
		e.Left = i.leftFile(p, i.in.Names(p) || i.in.Match(p), ignore)
	}
	if e.Left == leftNotIncluded {
		e.Left = "" // the text of the error says what is memory
	}
	return e
}

// file yields a file if it is included.
func (t *treeWalk) file(p string, e fs.DirEntry, ignore []*textutil.Ignore, why LeftReason) bool {
	name := e.Name()
	if c, known := Classify(p); known && (c.Memory || !t.include.takes(p)) {
		return true // listed by its name
	}
	in := t.include.in
	takes := in.Names(p) || anyMarkdown(name) && in.Match(p)
	link := e.Type()&fs.ModeSymlink != 0
	switch {
	case why == "" && (takes || anyMarkdown(name)) && !textutil.IsVisible(name):
		return t.yield(File{Path: p}, deny(p, DenyName))
	case !takes && !anyMarkdown(name):
		// A link to a folder is reported: there may be notes in the folder.
		if link && why == "" && in.Below(p) {
			if _, folder, _ := t.files.Resolve(p); folder {
				t.leave(p, leftLink)
			}
		}
		return true
	case why != "":
	default:
		if why = t.include.leftFile(p, takes, ignore); why == "" && link {
			why = leftLink
		}
	}
	if why != "" {
		t.leave(p, why)
		return true
	}
	fi, err := e.Info()
	if err != nil && gone(err) == nil || err == nil && !fi.Mode().IsRegular() {
		return true
	}
	c := classifyIn(p)
	if c.Private && !t.opts.Private {
		return true
	}
	return t.entry(p, c, fi, err, false)
}

// classifyIn is the class of a file that is included.
func classifyIn(p string) Class {
	c, ok := Classify(p)
	switch {
	case !ok:
		return classifyNote(p)
	case c.Kind == KindState, c.Kind == KindBuffer: // copies of a session's own state, whatever includes them
		return c
	}
	c.Tier, c.Memory, c.Indexed = tierEvergreen, true, true
	return c
}

func (t *treeWalk) leave(p string, why LeftReason) {
	if t.left != nil {
		t.left.add(p, why)
	}
}

// isIgnored asks ignore files, the nearest first.
func isIgnored(files []*textutil.Ignore, p string, folder bool) bool {
	for i := len(files) - 1; i >= 0; i-- {
		if out, decided := files[i].Match(p, folder); decided {
			return out
		}
	}
	return false
}

// maxIgnore bounds a .gitignore file that is read, in bytes.
const maxIgnore = 1 << 20

// ignoreIn adds the ignore file of a folder to those above it. The workspace's own comes
// after those of its repository.
func (i *included) ignoreIn(dir string, above []*textutil.Ignore) []*textutil.Ignore {
	if i.opts.NoGitignore {
		return nil
	}
	if dir == "" && i.dir != "" {
		above = repositoryRules(i.dir)
	}
	if text := i.readSmall(path.Join(dir, ".gitignore"), maxIgnore); text != "" {
		return append(slices.Clip(above), textutil.ParseIgnore(dir, text))
	}
	return above
}

// readSmall reads a regular file of the workspace, "" if that can't be done.
func (i *included) readSmall(p string, limit int64) string {
	fi, err := i.files.Lstat(p)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > limit {
		return ""
	}
	f, err := i.files.Open(p)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := readAll(f, fi.Size(), limit)
	if err != nil {
		return ""
	}
	return text
}

// ignored reports whether .gitignore files leave out a file, or a folder, or one that it
// is in.
func (i *included) ignored(p string, folder bool) bool {
	ignore := i.ignoreIn("", nil)
	for at := range len(p) {
		if p[at] != '/' {
			continue
		}
		if isIgnored(ignore, p[:at], true) {
			return true
		}
		ignore = i.ignoreIn(p[:at], ignore)
	}
	return isIgnored(ignore, p, folder)
}

// isOwn reports whether a folder is git's or the program's. Such folders are not reported.
func (i *included) isOwn(dir string) bool {
	return path.Base(dir) == ".git" || dir == path.Dir(defaultLockName) || dir == i.opts.Own
}
