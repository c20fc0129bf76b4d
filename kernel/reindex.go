package kernel

import (
	"context"
	"errors"

	"github.com/memkernel/memkernel/kernel/api"
)

// Reindex brings the index up to date with the workspace, and makes it if there is
// none. An index that is damaged or of an older format is made anew, and a damaged one
// moved aside; one that is somebody else's file, or of a newer format, is an error and
// stays, unless [indexing.Options.Full] is set. If an
// embedder is configured, texts without a vector get theirs; that it fails is in
// the report, since the search by words needs none.
func (k *Kernel) Reindex(ctx context.Context, o *api.ReindexOptions) (*api.Reindexed, error) {
	if k.memory == nil {
		return nil, errors.New("reindex: memory is switched off")
	}
	if o == nil {
		o = &api.ReindexOptions{}
	}
	return k.memory.Reindex(ctx, o)
}
