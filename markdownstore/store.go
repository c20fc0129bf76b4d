package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"
)

const (
	// DefaultMaxFileBytes is the size above which a file is not indexed.
	DefaultMaxFileBytes = 32 << 20 // 32 MiB
	// defaultLockName is where the lock of the writers is in a workspace.
	defaultLockName = ".memkernel/markdown.lock"
)

// Options are the settings of a Store. nil and zero fields mean the defaults.
type Options struct {
	// Timezone is the user's, in which days begin and end; default time.Local.
	Timezone *time.Location
	// Private reports whether the session is private: only then MEMORY.md and
	// USER.md exist. The default is shared.
	Private bool
	// MaxFileBytes is the largest file that is loaded whole, and the most that
	// Read returns at once; default DefaultMaxFileBytes. Larger files are
	// listed but neither indexed nor written to, and still read by lines.
	MaxFileBytes int64
	// ChunkTokens, OverlapTokens, Count and CountName are the fields of
	// Chunking, with its defaults.
	ChunkTokens, OverlapTokens int
	Count                      func(string) int
	CountName                  string
	// Include are globs of the files that are memory in addition to MEMORY.md, USER.md and
	// memory/, relative to the workspace; none for these alone. Exclude are globs of the files
	// among them that are not. Callers should validate globs with glob.Check, since an invalid
	// one matches nothing.
	Include, Exclude []string
	// PrivateNotes lets only private sessions read the files that Include takes in: nobody has
	// allowed others to, and the workspace is one person's.
	PrivateNotes bool
	// NoGitignore includes files that .gitignore files leave out, too.
	NoGitignore bool
	// MaxEntries is how many files and folders are looked at for Include; default
	// DefaultMaxEntries.
	MaxEntries int
	// Settle, if not nil, makes the choice of Include last. It is called before a write to the
	// workspace, since that may create the first of memory's own files. Callers that index the
	// workspace must handle its error.
	Settle func() error
	// Own is the folder of the workspace, relative to it, in which the program keeps its
	// state; "" if that is elsewhere or .memkernel.
	Own string
	// LockFile is held while the workspace is written to; default
	// .memkernel/markdown.lock below the workspace. Every process that writes must name
	// the same file.
	LockFile string
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Store is a workspace: the rules of its files' meaning, on top of the Files that keeps them. It
// is safe for concurrent use, also by several processes.
type Store struct {
	files Files
	dir   string
	opts  Options
	// include decides which files the globs of opts take in.
	include included
	// guard is called before MEMORY.md is replaced; nil allows every
	// replacement.
	guard func(path, before, after string) error
}

// Open opens the workspace in dir, which must exist. It reads and creates
// nothing.
func Open(dir string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	d, err := openFolder(dir, o.LockFile)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	s := New(d, &o)
	s.dir = d.dir
	return s, nil
}

// New returns a workspace whose files are not kept in a folder. The store closes them.
func New(files Files, opts *Options) *Store {
	s := &Store{files: files}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.setDefaults()
	s.include = newIncluded(files, &s.opts)
	return s
}

func (o *Options) setDefaults() {
	if o.Timezone == nil {
		o.Timezone = time.Local
	}
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

// settled makes the choice last before something is written. That it can't be an index
// says.
func settled(o *Options) {
	if o.Settle != nil {
		_ = o.Settle()
	}
}

// Guard sets a function that is called, under the lock, before MEMORY.md is
// replaced; if it returns an error, nothing is written. It must be set before the
// store is used.
func (s *Store) Guard(refuse func(path, before, after string) error) { s.guard = refuse }

// Close releases the workspace. The store must not be used after it.
func (s *Store) Close() error { return s.files.Close() }

// Listed is a workspace to read, with the list of its files to read.
type Listed interface {
	fs.FS
	Walk(ctx context.Context) iter.Seq2[File, error]
}

// FS returns the workspace for callers that only read. It opens no link to memory files that this
// store refuses. Callers must not use it after closing the store.
func (s *Store) FS() Listed { return storeFS{s} }

type storeFS struct{ s *Store }

// Walk is [Store.Walk].
func (f storeFS) Walk(ctx context.Context) iter.Seq2[File, error] { return f.s.Walk(ctx) }

func (f storeFS) Open(name string) (fs.File, error) {
	if _, ok := Classify(name); ok {
		var d *DeniedError
		if _, err := f.s.locate(name); errors.As(err, &d) && d.Reason == DenyLink {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return f.s.files.Open(name)
}

// Dir returns the workspace's absolute path, "" if its files are kept elsewhere than
// in a folder.
func (s *Store) Dir() string { return s.dir }

// Shared returns a store of the same workspace for shared sessions. Closing
// either closes both.
func (s *Store) Shared() *Store {
	o := s.opts
	o.Private = false
	out := New(s.files, &o)
	out.dir = s.dir
	return out
}

// Own returns a store of memory's own files alone, the only files that upkeep may write to.
// Closing either closes both.
func (s *Store) Own() *Store {
	o := s.opts
	o.Include = nil
	out := New(s.files, &o)
	out.dir, out.guard = s.dir, s.guard
	return out
}

// Chunking returns the setting by which this store's documents are chunked.
func (s *Store) Chunking() Chunking {
	c := Chunking{Tokens: s.opts.ChunkTokens, Overlap: s.opts.OverlapTokens, Count: s.opts.Count, CountName: s.opts.CountName}
	c.setDefaults()
	return c
}

// File describes a file of the workspace by its name and its stat.
type File struct {
	// Path is relative to the workspace, with forward slashes.
	Path    string    `json:"path"`
	Size    int64     `json:"size_bytes"`
	ModTime time.Time `json:"mod_time"`
	Class
	// Shadowed marks a memory.md that is not used because MEMORY.md exists.
	Shadowed bool `json:"shadowed,omitempty"`
	// TooLarge marks a file above Options.MaxFileBytes. It is not indexed.
	TooLarge bool `json:"too_large,omitempty"`
}

// AgesFrom returns the moment from which the file's age counts: the beginning
// of the day in its name, in loc; else its modification time; ok is false for
// files that never age.
func (f File) AgesFrom(loc *time.Location) (t time.Time, ok bool) {
	switch f.Tier {
	case TierDated:
		return ParseDate(f.Date, loc)
	case TierEvergreen:
		return time.Time{}, false
	}
	return f.ModTime, true
}

// fileOf returns the File of a path, class and stat.
func fileOf(path string, c Class, fi fs.FileInfo, limit int64) File {
	f := File{Path: path, Size: fi.Size(), ModTime: fi.ModTime(), Class: c}
	if f.Size > limit {
		f.TooLarge, f.Indexed = true, false
	}
	return f
}
