package kernel

import (
	"context"
	"errors"

	"github.com/memkernel/memkernel/kernel/api"
)

// Reindex updates the index of the workspace, and makes it if there is none. It rebuilds an index
// that is damaged or of an older format, and moves a damaged one aside. For a file that is no
// index of ours, or an index of a newer format, it returns an error and leaves it, unless
// [indexing.Options.Full] is set. If an embedder is configured, texts without a vector get
// theirs. A failure of the embedder is in the report, since the search by words needs no vectors.
func (k *Kernel) Reindex(ctx context.Context, o *api.ReindexOptions) (*api.Reindexed, error) {
	if k.memory == nil {
		return nil, errors.New("reindex: memory is switched off")
	}
	if o == nil {
		o = &api.ReindexOptions{}
	}
	return k.memory.Reindex(ctx, o)
}
