package markdownstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	// DefaultMaxFileBytes is the size above which a file is not indexed.
	DefaultMaxFileBytes = 32 << 20 // 32 MiB
	// DefaultLockName is where the lock of the writers stands in a workspace.
	DefaultLockName = ".memkernel/markdown.lock"
)

// Options are the settings of a Store. nil and zero fields mean the defaults.
type Options struct {
	// Timezone is the user's, in which days begin and end; default time.Local.
	Timezone *time.Location
	// Private tells that the session is private: only then MEMORY.md and
	// USER.md exist. A door that doesn't say is shared.
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
	// LockFile is held while the workspace is written to; default
	// DefaultLockName below the workspace. Every process that writes must name
	// the same file.
	LockFile string
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Store is a workspace. It is safe for concurrent use, also by several
// processes.
type Store struct {
	dir  string // absolute, without symbolic links
	root *os.Root
	opts Options

	mu   sync.Mutex // one writer of this process
	lock *flock.Flock
	// guard is asked before MEMORY.md is replaced, nil for nobody.
	guard func(path, before, after string) error
}

// Open opens the workspace in dir, which must exist. It reads and creates
// nothing.
func Open(dir string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	o.setDefaults(abs)
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &Store{dir: abs, root: root, opts: o, lock: flock.New(o.LockFile)}, nil
}

func (o *Options) setDefaults(dir string) {
	if o.Timezone == nil {
		o.Timezone = time.Local
	}
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	if o.LockFile == "" {
		o.LockFile = filepath.Join(dir, filepath.FromSlash(DefaultLockName))
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Guard has a function asked, under the lock, before MEMORY.md is replaced; what it
// refuses is not written. It must be set before the store is used.
func (s *Store) Guard(refuse func(path, before, after string) error) { s.guard = refuse }

// Close releases the workspace. The store must not be used after it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root.Close()
}

// FS is the workspace for those who only read. Of the files that have a meaning it opens
// no link that this store refuses. It lives as long as the store.
func (s *Store) FS() fs.FS { return storeFS{s} }

type storeFS struct{ s *Store }

func (f storeFS) Open(name string) (fs.File, error) {
	if _, ok := Classify(name); ok {
		var d *DeniedError
		if _, err := f.s.locate(name); errors.As(err, &d) && d.Reason == DenyLink {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return f.s.root.FS().Open(name)
}

// Dir is the workspace's absolute path.
func (s *Store) Dir() string { return s.dir }

// Shared returns a store of the same workspace for shared sessions. Closing
// either closes both.
func (s *Store) Shared() *Store {
	o := s.opts
	o.Private = false
	return &Store{dir: s.dir, root: s.root, opts: o, lock: flock.New(o.LockFile)}
}

// Chunking is the setting by which this store's documents are chunked.
func (s *Store) Chunking() Chunking {
	c := Chunking{Tokens: s.opts.ChunkTokens, Overlap: s.opts.OverlapTokens, Count: s.opts.Count, CountName: s.opts.CountName}
	c.setDefaults()
	return c
}

// File is a file of the workspace as its name and a stat tell it.
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

// AgesFrom is the moment from which the file's age counts: the beginning of
// the day in its name, in loc; else its modification time; ok is false for
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

func (s *Store) file(path string, c Class, fi fs.FileInfo) File {
	f := File{Path: path, Size: fi.Size(), ModTime: fi.ModTime(), Class: c}
	if f.Size > s.opts.MaxFileBytes {
		f.TooLarge, f.Indexed = true, false
	}
	return f
}
