package index

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/drv"
)

// Driver names the SQLite driver that this program was built with: "modernc",
// or "mattn" under the build tag cgo_sqlite.
const Driver = drv.Name

// Options are settings of an Index; nil means the defaults.
type Options struct {
	// ReadOnly opens the index for searching only. It must exist, and nothing
	// this Index does changes it.
	ReadOnly bool
	// Immutable is ReadOnly without even a reader's lock, so that no file is created or touched
	// next to the index. The file must not be written meanwhile, and the content of a log next to
	// it is not seen.
	Immutable bool
	// BusyTimeout is how long a statement waits for another process's lock
	// within SQLite. Default 5 s.
	BusyTimeout time.Duration
	// Chunker names the rules by which files are cut, with their sizes and
	// counter. If the name differs from the one that the index was made with,
	// the next Sync reads every file again. "" is a name too. A read-only
	// Index with another name than the file's reports itself behind.
	Chunker string
	// Force lets Rebuild take the place of whatever is there, which is moved aside.
	Force bool
	// Damaged, if not nil, is the damage that was found in the file. Rebuild then needs no other
	// reason.
	Damaged error
	// Aside, if not nil, is called by Rebuild with the path where the old file is kept, and with
	// its fault.
	Aside func(path string, why error)
	// ExactVectors is the largest number of vectors of which a search compares every one. Of
	// more, it compares those that a table of codes leaves, if that was found to do as well. The
	// default is 10,000; a negative value means always every one. Only writers use it.
	ExactVectors int
}

func (o *Options) orDefaults() *Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	if out.BusyTimeout <= 0 {
		out.BusyTimeout = defaultBusy
	}
	out.ReadOnly = out.ReadOnly || out.Immutable
	if out.ExactVectors == 0 {
		out.ExactVectors = defaultExact
	}
	return &out
}

// Writable returns ErrReadOnly if the index at a place was opened for reading, else
// nil.
func (o *Options) Writable(op, place string) error {
	if !o.ReadOnly {
		return nil
	}
	return problem(op, place, ErrReadOnly, errors.New("opened for reading"))
}

// Index is an open index file. Its methods may be called from several
// goroutines at once.
type Index struct {
	door      *door
	analyzers analysis.Pool
}

// Open opens the index at path, and creates an empty one if there is none and
// opts is not ReadOnly. Its folder must exist. The error is of a kind:
// ErrMissing, ErrForeign, ErrNewer, ErrOlder, ErrDamaged, ErrBusy or
// ErrReadOnly. After ErrOlder and ErrDamaged, call Rebuild.
func Open(path string, opts *Options) (*Index, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, explain("open index", path, err)
	}
	d, err := openDoor(context.Background(), path, opts.orDefaults())
	if err != nil {
		return nil, err
	}
	return &Index{door: d}, nil
}

// Close closes the index. Calls that are running finish first.
func (ix *Index) Close() error { return ix.door.close() }

// Path returns the index file, absolute.
func (ix *Index) Path() string { return ix.door.path }
