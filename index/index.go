package index

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
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
	// Immutable is ReadOnly without even a reader's lock, so that not a file is made
	// or touched beside the index. Nobody may write it meanwhile, and what a log
	// beside it holds is not seen.
	Immutable bool
	// BusyTimeout is how long a statement waits for another process's lock
	// within SQLite. Default 5 s.
	BusyTimeout time.Duration
	// Chunker names the rules by which files are cut, with their sizes and
	// counter. If the name differs from the one that the index was made with,
	// the next Sync reads every file again. "" is a name too. A read-only
	// Index with another name than the file's reports itself behind.
	Chunker string
	// Force lets Rebuild take the place of whatever stands there, which is moved aside.
	Force bool
	// Damaged tells Rebuild that the file was found not to be whole, and how.
	Damaged error
	// Aside, if not nil, is told by Rebuild under which name the old file is kept, and
	// what was the matter with it.
	Aside func(path string, why error)
	// ExactVectors is up to how many vectors a search compares every one; of more,
	// those that a table of codes leaves, if that was found to do as well. Default
	// 10,000; negative: always every one. Only those who write look at it.
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

// Index is an open index file. Its methods may be called from several
// goroutines at once.
type Index struct {
	path string
	opts *Options

	// mu guards cur and the counts of users in all handles.
	mu  sync.Mutex
	cur *handles

	// analyzers are kept between calls, since they remember words.
	analyzers sync.Pool
}

// handles are the connections to one incarnation of the file.
type handles struct {
	// read serves searches, write the rest; write is nil if the index is
	// opened for reading.
	read, write *sql.DB
	// file tells whether another file has taken this one's place.
	file fs.FileInfo

	// users counts those who are using the connections; retired ones are
	// closed by the last.
	users   int
	retired bool

	// seen caches what searches need of meta. seenMu guards pathByID too.
	seenMu sync.Mutex
	seen   *view

	// pathByID caches the files' paths, for one generation.
	pathByID map[int64]string
	pathsOf  string

	// words caches what they need of the word lists, codes those of vectors.
	words listCache
	codes codeCache
}

// maxReaders bounds the connections for searches, idleReaders those that are kept:
// each may fill a page cache, and a search needs two.
const (
	maxReaders  = 4
	idleReaders = 2
)

// Open opens the index at path, and makes an empty one if there is none and
// opts does not say ReadOnly. Its folder must exist. The error tells by its
// kind (ErrMissing, ErrForeign, ErrNewer, ErrOlder, ErrDamaged, ErrBusy,
// ErrReadOnly) what is the matter; Rebuild is the answer to ErrOlder and
// ErrDamaged.
func Open(path string, opts *Options) (*Index, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, explain("open index", path, err)
	}
	ix := &Index{path: path, opts: opts.orDefaults()}
	ctx := context.Background()
	err = probe(path)
	if errors.Is(err, ErrMissing) && !ix.opts.ReadOnly {
		err = ix.make(ctx)
	}
	if err != nil {
		return nil, err
	}
	if ix.cur, err = ix.open(ctx); err != nil {
		return nil, err
	}
	return ix, nil
}

// make creates the file unless somebody else just did.
func (ix *Index) make(ctx context.Context) error {
	release, err := lock(ctx, ix.path, ix.opts.BusyTimeout)
	if err != nil {
		return err
	}
	defer release()
	if err := probe(ix.path); !errors.Is(err, ErrMissing) {
		return err
	}
	return explain("create index", ix.path, create(ctx, ix.path, ix.opts))
}

// open makes the connections and looks whether the file can be read.
func (ix *Index) open(ctx context.Context) (*handles, error) {
	h := &handles{}
	var err error
	if h.file, err = os.Stat(ix.path); err != nil {
		return nil, explain("open index", ix.path, err)
	}
	if !ix.opts.ReadOnly {
		if h.write, err = drv.Open(ix.path, drv.ReadWrite, ix.opts.BusyTimeout); err != nil {
			return nil, explain("open index", ix.path, err)
		}
		h.write.SetMaxOpenConns(1)
		// The first connection turns the log on, which a reader can't.
		if err := h.write.PingContext(ctx); err != nil {
			h.close()
			return nil, explain("open index", ix.path, err)
		}
	}
	if err := ix.openReader(ctx, h); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// readModes are the ways in which the file is opened to be read, the first that
// works.
func (o *Options) readModes() []drv.Mode {
	if o.Immutable {
		return []drv.Mode{drv.Immutable}
	}
	return []drv.Mode{drv.ReadOnly, drv.Immutable}
}

// openReader opens h.read. Where not even a reader's lock file can be made
// (a read-only folder), nobody else can be writing either, and SQLite is told
// to do without locks.
func (ix *Index) openReader(ctx context.Context, h *handles) error {
	var first error
	for _, mode := range ix.opts.readModes() {
		db, err := drv.Open(ix.path, mode, ix.opts.BusyTimeout)
		if err != nil {
			return explain("open index", ix.path, err)
		}
		db.SetMaxOpenConns(maxReaders)
		db.SetMaxIdleConns(idleReaders)
		_, err = loadMeta(ctx, db)
		if err == nil {
			h.read = db
			return nil
		}
		db.Close()
		if first == nil {
			first = err
		}
		if !ix.opts.ReadOnly || !errors.Is(kindOf(err), ErrReadOnly) {
			break
		}
	}
	if kindOf(first) == nil && (drv.Code(first) == drv.CodeError || drv.Code(first) == drv.CodeNone) {
		return problem("open index", ix.path, ErrDamaged, first)
	}
	return explain("open index", ix.path, first)
}

func (h *handles) close() error {
	var errs []error
	if h.read != nil {
		errs = append(errs, h.read.Close())
	}
	if h.write != nil {
		// The last to close folds the log into the file.
		errs = append(errs, h.write.Close())
	}
	return errors.Join(errs...)
}

// Close ends the use of the index. What is still running finishes first.
func (ix *Index) Close() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	h := ix.cur
	if h == nil {
		return nil
	}
	ix.cur = nil
	return explain("close index", ix.path, h.retire())
}

// retire closes the connections now or when their last user is done. The
// caller holds Index.mu.
func (h *handles) retire() error {
	h.retired = true
	if h.users > 0 {
		return nil
	}
	return h.close()
}

// Path is the index file, absolute.
func (ix *Index) Path() string { return ix.path }

// use returns the connections, after opening those to a new file if one has
// taken the old one's place. done must be called when they are no longer used.
func (ix *Index) use(ctx context.Context) (h *handles, done func(), err error) {
	return ix.enter(ctx, func() error { return ix.make(ctx) })
}

// useLocked is use for those who hold the lock.
func (ix *Index) useLocked(ctx context.Context) (h *handles, done func(), err error) {
	return ix.enter(ctx, func() error { return create(ctx, ix.path, ix.opts) })
}

func (ix *Index) enter(ctx context.Context, make func() error) (h *handles, done func(), err error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.cur == nil {
		return nil, nil, explain("use index", ix.path, fs.ErrClosed)
	}
	if fi, err := os.Stat(ix.path); err != nil || !os.SameFile(fi, ix.cur.file) {
		if err := ix.reopen(ctx, make); err != nil {
			return nil, nil, err
		}
	}
	h = ix.cur
	h.users++
	return h, func() { ix.leave(h) }, nil
}

func (ix *Index) leave(h *handles) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if h.users--; h.users == 0 && h.retired {
		h.close()
	}
}

// reopen replaces the connections by those to the file that is there now; make
// makes one if there is none. The caller holds mu.
func (ix *Index) reopen(ctx context.Context, make func() error) error {
	err := probe(ix.path)
	if errors.Is(err, ErrMissing) && !ix.opts.ReadOnly {
		err = make()
	}
	if err != nil {
		return err
	}
	h, err := ix.open(ctx)
	if err != nil {
		return err
	}
	ix.cur.retire()
	ix.cur = h
	return nil
}

// writer is use for those who write.
func (ix *Index) writer(ctx context.Context, op string) (*handles, func(), error) {
	if ix.opts.ReadOnly {
		return nil, nil, problem(op, ix.path, ErrReadOnly, errors.New("opened for reading"))
	}
	return ix.use(ctx)
}

// exclusive is writer with the lock of those who sync.
func (ix *Index) exclusive(ctx context.Context, op string, wait time.Duration) (h *handles, done func(), err error) {
	if ix.opts.ReadOnly {
		return nil, nil, problem(op, ix.path, ErrReadOnly, errors.New("opened for reading"))
	}
	release, err := lock(ctx, ix.path, wait)
	if err != nil {
		return nil, nil, err
	}
	h, leave, err := ix.useLocked(ctx) // after the lock: a Rebuild may just have ended
	if err != nil {
		release()
		return nil, nil, err
	}
	return h, func() { leave(); release() }, nil
}

// analyzer lends an Analyzer; give takes it back.
func (ix *Index) analyzer() (*analysis.Analyzer, error) {
	if a, ok := ix.analyzers.Get().(*analysis.Analyzer); ok {
		return a, nil
	}
	return analysis.New()
}

func (ix *Index) give(a *analysis.Analyzer) { ix.analyzers.Put(a) }

// transact runs f in one transaction that holds the write lock from its start.
func (h *handles) transact(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := h.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
