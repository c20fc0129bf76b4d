package consolidation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// file is a workspace file that was read.
type file struct {
	Path    string
	ModTime time.Time
	markdownstore.Class
	// UTF16 marks a file in UTF-16, which Doc has in UTF-8.
	UTF16 bool
	// Shadowed marks a memory.md that is not used because there is a MEMORY.md.
	Shadowed bool
	Doc      markdownstore.Document
	Entries  []*Entry
	// parsed are Entries as the file alone makes them.
	parsed []*Entry
	// Err is the reason why the file could not be read, nil if it was read. With an Err, Doc and
	// Entries are empty.
	Err error
}

// lineCount returns how many lines the file has.
func (f *file) lineCount() int { return lineCount(f.Doc.Raw) }

// Evergreen reports whether a file is about lasting facts, and not about a day.
func (f *file) Evergreen() bool {
	switch f.Kind {
	case markdownstore.KindMemory, markdownstore.KindTopic, markdownstore.KindUser, markdownstore.KindInstructions:
		return !f.Shadowed
	}
	return false
}

// Snapshot is a workspace at one moment, files in byte order of their paths.
type Snapshot struct {
	Files []*file
	fsys  fs.FS
	at    map[string]*file
}

// File finds a file by its path, nil if it was not read.
func (s *Snapshot) File(path string) *file {
	if s == nil {
		return nil
	}
	return cmp.Or(s.at[path], s.at[textutil.Composed(path)])
}

// exists reports whether anything is at a path of the workspace, memory or
// not.
func (s *Snapshot) exists(path string) bool {
	if !fs.ValidPath(path) {
		return false
	}
	_, err := fs.Stat(s.fsys, textutil.Spelled(s.fsys, path))
	return err == nil
}

// errTooLarge means that a file is over the limit.
var errTooLarge = errors.New("too large to be read")

// errNoFile means that the path of a file holds something else.
var errNoFile = errors.New("not a regular file")

// refused reports whether a file was not read because it is too large, not a regular file, or
// denied. Such a file is left out, as a search leaves it out. After any other error the file may
// hold the text that is missing.
func refused(err error) bool {
	return errors.Is(err, errTooLarge) || errors.Is(err, errNoFile) || errors.Is(err, markdownstore.ErrDenied)
}

// Read reads every file that a workspace lists: its memory, and its permanent instructions. A
// file system that lists no files is taken as a workspace of memory's own files. A file that
// can't be read is in the snapshot with its error. Read returns an error only if the context ends
// or the workspace can't be listed. maxBytes bounds the size of a file. 0 means
// markdownstore.DefaultMaxFileBytes. Read takes over what last, which may be nil, knows of files that
// still have the same bytes.
func Read(ctx context.Context, fsys fs.FS, maxBytes int64, last *Snapshot) (*Snapshot, error) {
	if maxBytes <= 0 {
		maxBytes = markdownstore.DefaultMaxFileBytes
	}
	ws, ok := fsys.(markdownstore.Listed)
	if !ok {
		ws = markdownstore.OfFS(fsys).FS()
	}
	s := &Snapshot{fsys: fsys, at: map[string]*file{}}
	if _, err := fs.ReadDir(fsys, "."); err != nil {
		return nil, fmt.Errorf("list the workspace: %w", err)
	}
	var found []*file
	for f, err := range ws.Walk(ctx) {
		found = append(found, &file{Path: f.Path, Class: f.Class, Shadowed: f.Shadowed, Err: err})
	}
	for _, f := range longwork.Over(ctx, "file", found) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.add(f, maxBytes, last)
	}
	slices.SortFunc(s.Files, func(a, b *file) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range s.Files {
		s.at[f.Path] = f
		if typed := textutil.Composed(f.Path); s.File(typed) == nil {
			s.at[typed] = f
		}
	}
	s.outdate()
	return s, ctx.Err()
}

// add reads one file. last may be nil.
func (s *Snapshot) add(f *file, maxBytes int64, last *Snapshot) {
	if f.Err != nil {
		s.Files = append(s.Files, f)
		return
	}
	p := f.Path
	fi, err := fs.Stat(s.fsys, p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fi, err = nil, fmt.Errorf("%w: a link that leads nowhere", errNoFile)
	case err != nil:
	case fi.IsDir():
		return
	case !fi.Mode().IsRegular():
		err = errNoFile
	case fi.Size() > maxBytes:
		err = fmt.Errorf("%w: %d bytes, the limit is %d", errTooLarge, fi.Size(), maxBytes)
	}
	if fi != nil {
		f.ModTime = fi.ModTime()
	}
	var data []byte
	if err == nil {
		data, err = fs.ReadFile(s.fsys, p)
	}
	if f.Err = err; err == nil {
		text := textutil.UTF8(string(data))
		f.UTF16 = text != string(data)
		if g := last.File(p); g != nil && g.Err == nil && g.Doc.Raw == text {
			f.Doc, f.parsed = g.Doc, g.parsed
		} else {
			f.Doc = markdownstore.Parse(p, text)
			f.parsed = entriesOf(f.Doc)
			for _, e := range f.parsed {
				if r, ok := markdownstore.ReplacementOf(e.Plain); ok && e.State != stateSuperseded {
					e.replacement = &r
				}
			}
		}
		for _, e := range f.parsed {
			own := *e
			f.Entries = append(f.Entries, &own)
		}
	}
	s.Files = append(s.Files, f)
}

// Memory returns MEMORY.md, or memory.md if there is no MEMORY.md. The result is nil if there is
// neither.
func (s *Snapshot) Memory() *file {
	return cmp.Or(s.File("MEMORY.md"), s.File("memory.md"))
}
