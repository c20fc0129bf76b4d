package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// door holds the connections to the file at a path. If another file replaces the file, later callers
// get connections to the new file. Running calls keep their connections.
type door struct {
	path string
	opts *Options

	// mu guards cur and the counts of users in all handles.
	mu  sync.Mutex
	cur *handles
}

// handles are the connections to one file. A file that replaces it gets handles of its own.
type handles struct {
	// read serves searches. write serves the rest and is nil if the index is opened for reading.
	read, write *sql.DB
	// file identifies the open file, to find out whether another file has replaced it. It is nil
	// for an index in memory.
	file fs.FileInfo

	// users counts the callers that are using the connections. The last one closes retired
	// connections.
	users   int
	retired bool

	// prepared holds the prepared statement of each query that searches run.
	prepared map[string]*sql.Stmt

	// seen caches the part of meta that searches need.
	seenMu sync.Mutex
	seen   *view

	// words caches the part of the word lists that searches need.
	words fts5.Cache
	// codes caches the codes of vectors.
	codes vec.Cache
	// owners caches the paths of rows.
	owners owners
}

// maxReaders bounds the connections for searches. idleReaders bounds the idle connections that
// are kept open. Each connection may fill a page cache.
const (
	maxReaders  = 4
	idleReaders = 2
)

// openDoor opens the file at path. If the file is missing and o is not ReadOnly, openDoor creates
// it.
func openDoor(ctx context.Context, path string, o *Options) (*door, error) {
	h, err := openFile(ctx, path, o, makeFile)
	if err != nil {
		return nil, err
	}
	return &door{path: path, opts: o, cur: h}, nil
}

// openFile connects to the file at path. If the file is missing and o is not ReadOnly, it calls make
// first.
func openFile(ctx context.Context, path string, o *Options, make func(context.Context, string, *Options) error) (*handles, error) {
	err := probe(path)
	if errors.Is(err, ErrMissing) && !o.ReadOnly {
		err = make(ctx, path, o)
	}
	if err != nil {
		return nil, err
	}
	return connect(ctx, path, o)
}

// makeFile creates the file under the lock. It does nothing if another process has just created it.
func makeFile(ctx context.Context, path string, o *Options) error {
	release, err := lock(ctx, path, o.BusyTimeout)
	if err != nil {
		return err
	}
	defer release()
	if err := probe(path); !errors.Is(err, ErrMissing) {
		return err
	}
	return explain("create index", path, create(ctx, path, o))
}

// connect makes the connections and tests whether the file can be read.
func connect(ctx context.Context, path string, o *Options) (*handles, error) {
	h := &handles{}
	var err error
	if h.file, err = os.Stat(path); err != nil {
		return nil, explain("open index", path, err)
	}
	if !o.ReadOnly {
		if err := narrow(path); err != nil {
			return nil, explain("open index", path, err)
		}
		if h.write, err = drv.Open(path, drv.ReadWrite, o.BusyTimeout); err != nil {
			return nil, explain("open index", path, err)
		}
		h.write.SetMaxOpenConns(1)
		// The first connection of a writer turns the write-ahead log on. A reader can't do that.
		if err := h.write.PingContext(ctx); err != nil {
			h.close()
			return nil, explain("open index", path, err)
		}
	}
	if err := h.openReader(ctx, path, o); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// narrow makes the file and its companion files readable by their owner only. Companion files that
// SQLite makes later get the mode of the file.
func narrow(path string) error {
	for _, at := range []string{path, path + "-wal", path + "-shm"} {
		if i, err := os.Stat(at); err == nil && i.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(at, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// readModes returns the modes for opening the file for reading. The caller takes the first mode
// that works.
func (o *Options) readModes() []drv.Mode {
	if o.Immutable {
		return []drv.Mode{drv.Immutable}
	}
	return []drv.Mode{drv.ReadOnly, drv.Immutable}
}

// reading opens the file at path in the first mode for reading that try accepts. In a read-only
// folder, even a reader can't make its lock file. Nobody can write the index there either, so an
// Index that only reads then opens it without locks.
func (o *Options) reading(path string, try func(db *sql.DB) error) (*sql.DB, error) {
	var first error
	for _, mode := range o.readModes() {
		db, err := drv.Open(path, mode, o.BusyTimeout)
		if err == nil {
			if err = try(db); err == nil {
				return db, nil
			}
			db.Close()
		}
		first = cmp.Or(first, err)
		if !o.ReadOnly || kindOf(err) != ErrReadOnly {
			break
		}
	}
	return nil, first
}

// openReader opens h.read.
func (h *handles) openReader(ctx context.Context, path string, o *Options) (err error) {
	h.read, err = o.reading(path, func(db *sql.DB) error {
		db.SetMaxOpenConns(maxReaders)
		db.SetMaxIdleConns(idleReaders)
		_, err := loadMeta(ctx, db)
		if err == nil {
			err = h.prepare(ctx, db)
		}
		if err != nil {
			h.unprepare()
		}
		return err
	})
	if err != nil && kindOf(err) == nil && drv.Code(err).Vague() {
		return Problem("open index", path, ErrDamaged, err)
	}
	return explain("open index", path, err)
}

// prepare prepares the statements of searches.
func (h *handles) prepare(ctx context.Context, db *sql.DB) error {
	h.prepared = map[string]*sql.Stmt{}
	for _, q := range []string{lookQuery, rowsQuery, ownersQuery, fts5.Pages} {
		s, err := db.PrepareContext(ctx, q)
		if err != nil {
			return err
		}
		h.prepared[q] = s
	}
	return nil
}

func (h *handles) unprepare() error {
	var errs []error
	for _, s := range h.prepared {
		errs = append(errs, s.Close())
	}
	h.prepared = nil
	return errors.Join(errs...)
}

func (h *handles) close() error {
	errs := []error{h.unprepare()}
	if h.read != nil {
		errs = append(errs, h.read.Close())
	}
	if h.write != nil {
		// The connection that is closed last writes the log into the file.
		errs = append(errs, h.write.Close())
	}
	return errors.Join(errs...)
}

// retire closes the connections now or when their last user is done. The caller must hold
// door.mu.
func (h *handles) retire() error {
	h.retired = true
	if h.users > 0 {
		return nil
	}
	return h.close()
}

// close closes the door after its users are done.
func (d *door) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.cur
	if h == nil {
		return nil
	}
	d.cur = nil
	return explain("close index", d.path, h.retire())
}

// use returns the connections. If another file has replaced the old file, use connects to the new
// file first. The caller must call done when it no longer uses the connections.
func (d *door) use(ctx context.Context) (h *handles, done func(), err error) {
	return d.enter(ctx, makeFile)
}

// enter does what use does, and makes a missing file by calling make.
func (d *door) enter(ctx context.Context, make func(context.Context, string, *Options) error) (h *handles, done func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cur == nil {
		return nil, nil, explain("use index", d.path, fs.ErrClosed)
	}
	if d.replaced() {
		h, err := openFile(ctx, d.path, d.opts, make)
		if err != nil {
			return nil, nil, err
		}
		d.cur.retire()
		d.cur = h
	}
	h = d.cur
	h.users++
	return h, func() { d.leave(h) }, nil
}

// replaced reports whether the open file was removed or replaced by another file. The caller must
// hold mu.
func (d *door) replaced() bool {
	if d.cur.file == nil {
		return false // it is in memory
	}
	fi, err := os.Stat(d.path)
	return err != nil || !os.SameFile(fi, d.cur.file)
}

func (d *door) leave(h *handles) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.users--; h.users == 0 && h.retired {
		h.close()
	}
}

// writer does what use does for a caller that writes. It returns an error if the index was opened for
// reading.
func (d *door) writer(ctx context.Context, op string) (*handles, func(), error) {
	if err := d.opts.Writable(op, d.path); err != nil {
		return nil, nil, err
	}
	return d.use(ctx)
}

// exclusive does what writer does, and holds the lock of Sync until done is called.
func (d *door) exclusive(ctx context.Context, op string, wait time.Duration) (h *handles, done func(), err error) {
	if err := d.opts.Writable(op, d.path); err != nil {
		return nil, nil, err
	}
	if d.path == memoryPath {
		return d.use(ctx)
	}
	release, err := lock(ctx, d.path, wait)
	if err != nil {
		return nil, nil, err
	}
	h, leave, err := d.enter(ctx, create) // after the lock: a Rebuild may just have ended
	if err != nil {
		release()
		return nil, nil, err
	}
	return h, func() { leave(); release() }, nil
}

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

// update reads the current meta in a transaction, runs f, and saves the changes that f made to meta.
func (h *handles) update(ctx context.Context, f func(tx *sql.Tx, m *meta) error) error {
	return h.transact(ctx, func(tx *sql.Tx) error {
		old, err := loadMeta(ctx, tx)
		if err != nil {
			return err
		}
		m := old.clone()
		if err := f(tx, m); err != nil {
			return err
		}
		return m.save(ctx, tx, old)
	})
}

// lockPoll is how often a waiting process tries the lock again.
const lockPoll = 25 * time.Millisecond

// lock takes the lock for a sync or rebuild. It waits at most for the duration wait; if wait is
// negative, it waits until the context ends. The kernel frees the lock when its holder dies.
func lock(ctx context.Context, path string, wait time.Duration) (release func(), err error) {
	l := flock.New(path + ".lock")
	try := ctx
	if wait >= 0 {
		var cancel context.CancelFunc
		try, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	ok, err := l.TryLock()
	if err == nil && !ok {
		ok, err = l.TryLockContext(try, lockPoll)
	}
	switch {
	case err == nil && ok:
		return func() { l.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return nil, Problem("lock index", path, ErrBusy, nil)
	}
	return nil, explain("lock index", path, err)
}
