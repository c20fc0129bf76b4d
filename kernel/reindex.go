package kernel

import (
	"context"
	"errors"

	"github.com/memkernel/memkernel/kernel/api"
)

// Reindex updates the index of the workspace, or makes it if it does not exist. It rebuilds an
// index that is damaged or of an older format, and moves a damaged index aside. If the file is
// not an index of the kernel, or is an index of a newer format, Reindex returns an error and
// leaves the file, unless o.Full is set. If an embedder is configured, Reindex
// makes the missing vectors. A failure of the embedder is only reported in the result, since the
// search by words needs no vectors.
func (k *Kernel) Reindex(ctx context.Context, o *api.ReindexOptions) (*api.Reindexed, error) {
	if k.memory == nil {
		return nil, errors.New("reindex: memory is switched off")
	}
	if o == nil {
		o = &api.ReindexOptions{}
	}
	return k.memory.Reindex(ctx, o)
}
