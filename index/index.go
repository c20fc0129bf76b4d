package index

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/drv"
)

// Driver names the SQLite driver that this program was built with: sqlite, which is modernc.org/sqlite,
// or sqlite3, the binding to C, under the build tag cgo_sqlite.
const Driver = drv.Driver

// Options are settings of an Index. A nil *Options means the defaults.
type Options struct {
	// ReadOnly opens the index for searching only. The index must exist, and the methods of this
	// Index never change it.
	ReadOnly bool
	// Immutable opens the index like ReadOnly but without a reader's lock, so that no file is
	// created or touched next to the index. Nobody may write the file while it is open. Searches
	// do not see the content of a log next to the file.
	Immutable bool
	// BusyTimeout is how long a statement waits for another process's lock
	// within SQLite. Default 5 s.
	BusyTimeout time.Duration
	// Chunker names the rules by which files are cut into chunks, their sizes included. "" is a name
	// too. If the name differs from the name that the index was made with, the next Sync reads every
	// file again, and until then Lag and Hits.Outdated report it.
	Chunker string
	// Force lets Rebuild move aside any file at the path and make a new index there.
	Force bool
	// Damaged, if not nil, is the damage that was found in the file. Rebuild then keeps the file
	// as a damaged one even if its header is in order.
	Damaged error
	// Aside, if not nil, is called by Rebuild with the path where the old file is kept, and with
	// the fault of the old file.
	Aside func(path string, why error)
	// ExactVectors is the largest number of vectors up to which a search compares every vector.
	// With more vectors, it compares only the vectors that a table of codes selects, if the codes
	// were found to work as well. The default is 10,000. A negative value means that every vector
	// is always compared. Only writers use ExactVectors.
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
	return Problem(op, place, ErrReadOnly, errors.New("opened for reading"))
}

// Index is an open index file. Its methods may be called from several
// goroutines at once.
type Index struct {
	door      *door
	analyzers analysis.Pool
}

// Open opens the index at path. If the file is missing and opts is not ReadOnly, Open creates an
// empty index. The folder must exist. The error wraps ErrMissing, ErrForeign, ErrNewer, ErrOlder,
// ErrDamaged, ErrBusy or ErrReadOnly. After ErrOlder and ErrDamaged, call Rebuild.
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

// read calls f with the connections and the view of the present state. op names the call in
// errors.
func (ix *Index) read(ctx context.Context, op string, f func(h *handles, v *view) error) error {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	v, err := h.look(ctx)
	if err == nil {
		err = f(h, v)
	}
	return explain(op, ix.door.path, err)
}

// Path returns the index file, absolute.
func (ix *Index) Path() string { return ix.door.path }

// memoryPath is the path of an index in memory.
const memoryPath = ":memory:"

// inMemory counts the indexes in memory that were made. Each gets its name from this count.
var inMemory atomic.Int64

// InMemory makes an empty index in memory, for searches where nothing may be written. Close
// discards the index, and no other process sees it. Callers must run only one Sync at a time.
// Check, Intact and Rebuild are only for files.
func InMemory(ctx context.Context, opts *Options) (*Index, error) {
	o := opts.orDefaults()
	o.ReadOnly, o.Immutable = false, false
	name := fmt.Sprintf("/memkernel-%d", inMemory.Add(1))
	h := &handles{}
	var err error
	if h.write, err = drv.Open(name, drv.Memory, o.BusyTimeout); err == nil {
		// One connection stays open, because the content is lost with the last connection.
		h.write.SetMaxOpenConns(1)
		err = lay(ctx, h.write, o)
	}
	if err == nil {
		h.read, err = drv.Open(name, drv.Memory, o.BusyTimeout)
	}
	if err == nil {
		err = h.prepare(ctx, h.read)
	}
	if err != nil {
		h.close()
		return nil, explain("make index in memory", memoryPath, err)
	}
	h.read.SetMaxOpenConns(maxReaders)
	return &Index{door: &door{path: memoryPath, opts: o, cur: h}}, nil
}
