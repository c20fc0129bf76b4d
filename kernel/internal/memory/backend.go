package memory

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// chunkerMark is part of the rules by which files are cut into chunks. An index without it was made
// before secrets were masked, and is rebuilt.
const chunkerMark = ", secrets masked"

// opened is the index that searches use. It is opened when it is first needed.
type opened struct {
	backend api.Backend
	ranking *retrieval.Options
	// rules are the options with which an index of this kind is opened.
	rules index.Options

	mu sync.Mutex // guards the fields below
	at *reading
	// broken is why the backend could not be opened at brokenAt.
	broken   error
	brokenAt time.Time
}

// reading is an index that is open for reading.
type reading struct {
	api.MemoryIndex
	retriever *retrieval.Retriever
}

// options returns a copy of the options with which the index is opened. The caller may change the
// copy.
func (x *opened) options() *index.Options {
	o := x.rules
	return &o
}

// get returns the index, and opens it if it is not open yet.
func (x *opened) get(ctx context.Context) (*reading, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.at != nil {
		return x.at, nil
	}
	if x.broken != nil && time.Since(x.brokenAt) < x.backend.LeaveAlone {
		return nil, x.broken
	}
	o := x.options()
	o.ReadOnly = true
	ix, err := x.backend.Open(ctx, o)
	if err != nil {
		if !errors.Is(err, index.ErrMissing) && ctx.Err() == nil {
			x.broken, x.brokenAt = err, time.Now()
		}
		return nil, err
	}
	x.at = &reading{ix, retrieval.New(ix, x.ranking)}
	return x.at, nil
}

func (x *opened) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.at == nil {
		return nil
	}
	err := x.at.Close()
	x.at = nil
	return err
}

// Index returns the index, open for reading. The caller must not close it.
func (m *Memory) Index(ctx context.Context) (api.MemoryIndex, error) {
	r, err := m.index.get(ctx)
	if err != nil {
		return nil, err
	}
	return r.MemoryIndex, nil
}

// Behind returns how far an index lags the files.
func (m *Memory) Behind(ctx context.Context, ix api.MemoryIndex) (index.Lag, error) {
	return ix.Lag(ctx, m.corpus.files(ctx, nil))
}

// lag compares the stats of all files with the stats that the index recorded. A file that can't
// be compared counts as current, and whole is then false.
func (m *Memory) lag(ctx context.Context) (lag index.Lag, whole bool) {
	r, err := m.index.get(ctx)
	if err != nil {
		return index.Lag{}, false
	}
	whole = true
	lag, err = r.Lag(ctx, func(yield func(index.FileStat, error) bool) {
		for f, err := range m.corpus.files(ctx, nil) {
			whole = whole && err == nil
			if !yield(f, err) {
				return
			}
		}
	})
	if err != nil {
		return index.Lag{Files: 1}, false // such as a locked index: a missing file can't be ruled out
	}
	return lag, whole
}

// writer opens an index for writing. It rebuilds the index if it can't be opened otherwise.
func writer(ctx context.Context, x *opened, r *api.Reindexed, full bool) (api.MemoryIndex, error) {
	if full {
		o := x.options()
		o.Force, o.Aside = true, func(path string, why error) { r.Rebuilt, r.Aside = index.Plain(why), path }
		look := x.options()
		look.ReadOnly = true
		ix, err := x.backend.Open(ctx, look)
		if err == nil {
			err = errors.Join(damage(ctx, ix), ix.Close())
		}
		if errors.Is(err, index.ErrDamaged) {
			o.Damaged = err
		}
		return x.backend.Rebuild(ctx, o)
	}
	ix, err := x.backend.Open(ctx, x.options())
	if errors.Is(err, index.ErrDamaged) || errors.Is(err, index.ErrOlder) {
		ix, err = rebuilt(ctx, x, r, err)
	}
	return ix, err
}

// damage returns the fault of an index that can check itself. It returns nil if the index has no
// fault.
func damage(ctx context.Context, ix api.MemoryIndex) error {
	if c, ok := ix.(interface{ Intact(context.Context) error }); ok {
		if err := c.Intact(ctx); errors.Is(err, index.ErrDamaged) {
			return err
		}
	}
	return nil
}

// rebuilt rebuilds an older or damaged index.
func rebuilt(ctx context.Context, x *opened, r *api.Reindexed, why error) (api.MemoryIndex, error) {
	r.Rebuilt = index.Plain(why)
	o := x.options()
	o.Aside = func(path string, _ error) { r.Aside = path }
	if errors.Is(why, index.ErrDamaged) {
		o.Damaged = why
	}
	return x.backend.Rebuild(ctx, o)
}
