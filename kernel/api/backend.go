package api

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval"
)

// MemoryIndex is an index over the workspace's Markdown as the kernel uses it. Its methods are the
// methods of [index.Index], which implements the interface. For an unsupported operation an
// implementation returns an error, or reports it in the result.
type MemoryIndex interface {
	retrieval.Index
	Sync(ctx context.Context, source iter.Seq2[index.FileStat, error], read index.Reader, opts *index.SyncOptions) (index.SyncReport, error)
	Lag(ctx context.Context, source iter.Seq2[index.FileStat, error]) (index.Lag, error)
	Stats(ctx context.Context) (index.Stats, error)
	Check(ctx context.Context) iter.Seq[error]
	// Labels returns the labels of all files that have labels, by path.
	Labels(ctx context.Context) (map[string][]string, error)
	// The remaining methods except Close store vectors, by model and text.
	Model(ctx context.Context) (model string, dim int, err error)
	UseModel(ctx context.Context, model string, dim int) error
	MissingEmbeddings(ctx context.Context, model string) iter.Seq2[index.Missing, error]
	PutEmbeddings(ctx context.Context, model string, vectors []index.Embedding) error
	// KeepLength removes vectors of a model that have another length.
	KeepLength(ctx context.Context, model string, dim int) (forgotten int64, err error)
	Close() error
}

// Backend describes the place where the index is kept. The zero value is the SQLite file
// index.sqlite in the state directory.
type Backend struct {
	// Name is the kind of index: "sqlite", "postgres", "qmd".
	Name string
	// Place names the place of the index, for people.
	Place string
	// Open opens the index for reading or writing. Rebuild empties it first, except for the
	// vectors.
	Open, Rebuild func(ctx context.Context, o *index.Options) (MemoryIndex, error)
	// Shared: machines that share the state also share the index. Only one of them at a time
	// makes vectors.
	Shared bool
	// LeaveAlone is how long searches do not try again to open an index after an attempt that
	// failed and took long.
	LeaveAlone time.Duration
}

// SQLite is the backend that keeps the index in a file.
func SQLite(path string) Backend {
	folder := func() error { return os.MkdirAll(filepath.Dir(path), 0o700) }
	return Backend{Name: "sqlite", Place: path,
		Open: func(_ context.Context, o *index.Options) (MemoryIndex, error) {
			if !o.ReadOnly {
				if err := folder(); err != nil {
					return nil, err
				}
			}
			return some(index.Open(path, o))
		},
		Rebuild: func(ctx context.Context, o *index.Options) (MemoryIndex, error) {
			if err := folder(); err != nil {
				return nil, err
			}
			return some(index.Rebuild(ctx, path, o))
		}}
}

// some returns ix as a MemoryIndex. With an error it returns a nil interface, not a nil pointer in one.
func some(ix *index.Index, err error) (MemoryIndex, error) {
	if err != nil {
		return nil, err
	}
	return ix, nil
}

// MemoryFolder is a folder outside the workspace whose Markdown is searched, and never written
// to. Name goes before the paths of its files, as in "notes:sub/ops.md".
type MemoryFolder struct {
	Name, Path string
	// Host, if not "", is the agent that writes the folder by itself. Only private sessions then
	// see the files.
	Host string
	// Shown, if not nil, returns the part of a file that may be seen. It keeps the number of lines.
	Shown func(text string) string
}
