package memory

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval"
)

// Index is what is asked of an index.
type Index interface {
	retrieval.Index
	Sync(ctx context.Context, source iter.Seq2[index.FileStat, error], read index.Reader, opts *index.SyncOptions) (index.SyncReport, error)
	Lag(ctx context.Context, source iter.Seq2[index.FileStat, error]) (index.Lag, error)
	Stats(ctx context.Context) (index.Stats, error)
	Check(ctx context.Context) iter.Seq[error]
	Close() error

	// The vectors, by model and text.
	Model(ctx context.Context) (model string, dim int, err error)
	UseModel(ctx context.Context, model string, dim int) error
	MissingEmbeddings(ctx context.Context, model string) iter.Seq2[index.Missing, error]
	PutEmbeddings(ctx context.Context, model string, vectors []index.Embedding) error
	KeepLength(ctx context.Context, model string, dim int) (forgotten int64, err error)
	Held(ctx context.Context, model string, hashes []index.Hash) (map[index.Hash][]float32, error)

	// What is copied where it moves to another backend.
	Chunker(ctx context.Context) (string, error)
	Files(ctx context.Context) iter.Seq2[index.FileStat, error]
	FileChunks(ctx context.Context, path string) ([]index.Chunk, error)
	Embeddings(ctx context.Context) iter.Seq2[index.StoredEmbedding, error]
}

// Backend is where an index is kept: at Place, which is for people. Rebuild empties it
// before it opens it, but for the vectors. One that could not be opened is left alone by
// searches for a while.
type Backend struct {
	Place         string
	Open, Rebuild func(ctx context.Context, o *index.Options) (Index, error)
	LeaveAlone    time.Duration
}

// chunkerMark is part of the rules by which files are cut: an index that was made
// before secrets were masked is made again.
const chunkerMark = ", secrets masked"

// opened is the index as it is searched.
type opened struct {
	backend Backend
	ranking *retrieval.Options
	// rules are the options by which any of its kind is opened.
	rules index.Options

	mu sync.Mutex // guards what follows
	at *reading
	// broken is why the backend could not be opened at brokenAt.
	broken   error
	brokenAt time.Time
}

// reading is an index that is open to be read.
type reading struct {
	Index
	retriever *retrieval.Retriever
}

// options are those by which the index is opened, to be changed at will.
func (x *opened) options() *index.Options {
	o := x.rules
	return &o
}

// get opens the index, if that has not been done.
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

// Index is the index, open to be read; who gets it does not close it.
func (m *Memory) Index(ctx context.Context) (Index, error) {
	r, err := m.index.get(ctx)
	if err != nil {
		return nil, err
	}
	return r.Index, nil
}

// Behind tells by how much an index is behind the files.
func (m *Memory) Behind(ctx context.Context, ix Index) (index.Lag, error) {
	return ix.Lag(ctx, m.corpus.files(ctx, nil))
}

// lag compares the stats of all files with what the index was made from. What can't
// be compared counts as not behind: the search itself will say what is the matter.
func (m *Memory) lag(ctx context.Context) index.Lag {
	r, err := m.index.get(ctx)
	if err != nil {
		return index.Lag{}
	}
	lag, err := m.Behind(ctx, r)
	if err != nil {
		return index.Lag{}
	}
	return lag
}

// writer opens an index to be written, made anew if that is the only way.
func writer(ctx context.Context, x *opened, r *Report, full bool) (Index, error) {
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

// damage is what is the matter with an index that can tell, nil if nothing is.
func damage(ctx context.Context, ix Index) error {
	if c, ok := ix.(interface{ Intact(context.Context) error }); ok {
		if err := c.Intact(ctx); errors.Is(err, index.ErrDamaged) {
			return err
		}
	}
	return nil
}

// rebuilt makes the index anew that is older, or damaged.
func rebuilt(ctx context.Context, x *opened, r *Report, why error) (Index, error) {
	r.Rebuilt = index.Plain(why)
	o := x.options()
	o.Aside = func(path string, _ error) { r.Aside = path }
	if errors.Is(why, index.ErrDamaged) {
		o.Damaged = why
	}
	return x.backend.Rebuild(ctx, o)
}
