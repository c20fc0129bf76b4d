package retrieval

import (
	"context"

	"github.com/memkernel/memkernel/index"
)

// Index finds candidates; *index.Index does.
type Index interface {
	Search(ctx context.Context, q index.Query) (index.Hits, error)
}

var _ Index = (*index.Index)(nil)

// embedder turns questions into vectors. It must return when its context ends.
type embedder interface {
	// Model names the model as the index knows it.
	Model() string
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Retriever answers questions. It is safe for concurrent use if its Index and
// its Embedder are.
type Retriever struct {
	ix   Index
	opts Options
	// outlines caches the outlines of the chunks that were found last.
	outlines *outlines
}

// New makes a Retriever over an index. If ix is nil, the Retriever searches only spans.
func New(ix Index, opts *Options) *Retriever {
	r := &Retriever{ix: ix, outlines: &outlines{}}
	if opts != nil {
		r.opts = *opts
	}
	r.opts.SetDefaults()
	return r
}
