package markdownstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
)

const (
	// DefaultMaxFileBytes is the default of Options.MaxFileBytes.
	DefaultMaxFileBytes = 32 << 20 // 32 MiB
	// defaultLockName is the path of the writers' lock in a workspace.
	defaultLockName = ".memkernel/markdown.lock"
)

// Options are the settings of a Store. A nil *Options and zero fields mean the defaults.
type Options struct {
	// Timezone is the user's time zone, in which days begin and end. The default is time.Local.
	Timezone *time.Location
	// Private reports whether the session is private. MEMORY.md and USER.md exist only for
	// private sessions. The default is a shared session.
	Private bool
	// MaxFileBytes is the size of the largest file that is loaded whole, and the largest number
	// of bytes that Read returns at once. The default is DefaultMaxFileBytes. Larger files are
	// listed and can be read by lines, but they are neither indexed nor written.
	MaxFileBytes int64
	// ChunkTokens and OverlapTokens are the fields of Chunking, with its defaults.
	ChunkTokens, OverlapTokens int
	// Include are globs, relative to the workspace, of the files that are memory in addition to
	// MEMORY.md, USER.md and memory/. Exclude are globs of files that Include matches but that
	// are not memory. Callers should validate globs, because an invalid glob matches nothing.
	Include, Exclude []string
	// PrivateNotes lets only private sessions read the files that Include takes in. It is for the
	// workspace of one person who has not allowed shared sessions to read these files.
	PrivateNotes bool
	// NoGitignore also includes files that .gitignore files leave out.
	NoGitignore bool
	// MaxEntries is the largest number of files and folders that are searched for Include. The
	// default is 250,000.
	MaxEntries int
	// Shown, if not nil, returns the part of a file's text that readers get. It must keep the
	// number of lines. Such a store must not be written to.
	Shown func(text string) string
	// Settle, if not nil, makes the choice of Include permanent. It is called before a write to
	// the workspace, since the write may create the first of memory's own files. Callers that
	// index the workspace must handle its error.
	Settle func() error
	// Own is the folder in which the program keeps its state, relative to the workspace. It is ""
	// if that folder is .memkernel or outside of the workspace.
	Own string
	// LockFile is the file whose lock is held while the workspace is written. The default is
	// .memkernel/markdown.lock below the workspace. Every process that writes must name the same
	// file.
	LockFile string
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

// Store is a workspace. It adds the rules for the meaning of files to the Files that keeps them.
// It is safe for concurrent use, also by several processes.
type Store struct {
	files Files
	dir   string // the folder that keeps the files, "" if they are kept elsewhere
	opts  Options
	// in and out are the globs of Include and Exclude.
	in, out textutil.Globs
	// guard is called before MEMORY.md is replaced. If it is nil, every replacement is allowed.
	guard func(path, before, after string) error
	// byHand lets a person change the logs of past days.
	byHand bool
}

// Open opens the workspace in dir, which must exist. It reads and creates
// nothing.
func Open(dir string, opts *Options) (*Store, error) {
	lockFile := ""
	if opts != nil {
		lockFile = opts.LockFile
	}
	d, err := openFolder(dir, lockFile)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return New(d, opts), nil
}

// New returns a workspace whose files are kept in files. The store closes files.
func New(files Files, opts *Options) *Store {
	s := &Store{files: files}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.setDefaults()
	if d, ok := files.(*folder); ok {
		s.dir = d.dir
	}
	if !s.opts.PrivateNotes || s.opts.Private {
		s.in = textutil.NewGlobs(s.opts.Include, closed)
	}
	s.out = textutil.NewGlobs(s.opts.Exclude, nil)
	return s
}

func (o *Options) setDefaults() {
	o.Timezone = cmp.Or(o.Timezone, time.Local)
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = defaultMaxEntries
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Guard sets a function that is called, under the lock, before MEMORY.md is replaced. If the
// function returns an error, nothing is written. Callers must call Guard before they use the
// store.
func (s *Store) Guard(refuse func(path, before, after string) error) { s.guard = refuse }

// Close releases the workspace. The store must not be used after it.
func (s *Store) Close() error { return s.files.Close() }

// Listed is a file system for reading a workspace, with the list of its files.
type Listed interface {
	fs.FS
	Walk(ctx context.Context) iter.Seq2[File, error]
}

// FS returns the workspace for callers that only read. It does not open links to memory files
// that this store refuses. Callers must not use it after closing the store.
func (s *Store) FS() Listed { return storeFS{s} }

type storeFS struct{ s *Store }

// Walk is [Store.Walk].
func (f storeFS) Walk(ctx context.Context) iter.Seq2[File, error] { return f.s.Walk(ctx) }

func (f storeFS) Open(name string) (fs.File, error) {
	if _, ok := Classify(name); ok {
		var d *DeniedError
		if _, err := f.s.locate(name); errors.As(err, &d) && d.Reason == denyLink {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return f.s.files.Open(name)
}

// Dir returns the workspace's absolute path, or "" if the files are not kept in a folder.
func (s *Store) Dir() string { return s.dir }

// Files returns the files of the workspace, for a move of them to another place.
func (s *Store) Files() Files { return s.files }

// Shared returns a store of the same workspace for shared sessions. Closing one of the two stores
// closes both.
func (s *Store) Shared() *Store {
	o := s.opts
	o.Private = false
	return New(s.files, &o)
}

// Own returns a store of memory's own files alone. Upkeep may write only these files. Closing one
// of the two stores closes both.
func (s *Store) Own() *Store {
	o := s.opts
	o.Include = nil
	out := New(s.files, &o)
	out.guard = s.guard
	return out
}

// Chunking returns the setting by which this store's documents are chunked.
func (s *Store) Chunking() Chunking {
	c := Chunking{Tokens: s.opts.ChunkTokens, Overlap: s.opts.OverlapTokens}
	c.SetDefaults()
	return c
}

// File describes a file of the workspace by its path and its stat.
type File struct {
	// Path is relative to the workspace, with forward slashes.
	Path    string    `json:"path"`
	Size    int64     `json:"size_bytes"`
	ModTime time.Time `json:"mod_time"`
	// Changed is the time of [Changed].
	Changed int64 `json:"-"`
	Class
	// Shadowed marks a memory.md that is not used because MEMORY.md exists.
	Shadowed bool `json:"shadowed,omitempty"`
	// TooLarge marks a file above Options.MaxFileBytes. It is not indexed.
	TooLarge bool `json:"too_large,omitempty"`
}

// AgesFrom returns the moment from which the file's age counts. This is the beginning, in loc, of
// the day in the file's name, or else the file's modification time. ok is false for files that
// never age.
func (f File) AgesFrom(loc *time.Location) (t time.Time, ok bool) {
	switch f.Tier {
	case tierDated:
		return ParseDate(f.Date, loc)
	case tierEvergreen:
		return time.Time{}, false
	}
	return f.ModTime, true
}

// fileOf returns the File of a path, class and stat.
func fileOf(path string, c Class, fi fs.FileInfo, limit int64) File {
	f := File{Path: path, Size: fi.Size(), ModTime: fi.ModTime(), Changed: Changed(fi), Class: c}
	if f.Size > limit {
		f.TooLarge, f.Indexed = true, false
	}
	return f
}
