package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/indexing"
)

// Reindex brings the index up to date with the workspace, and makes it if there is
// none. An index that is damaged or of an older format is made anew, and a damaged one
// moved aside; one that is somebody else's file, or of a newer format, is an error and
// stays, unless [indexing.Options.Full] is set. If an
// embedder is configured, texts without a vector get theirs; that it fails is in
// the report, since the search by words needs none.
func (k *Kernel) Reindex(ctx context.Context, o *indexing.Options) (*indexing.Report, error) {
	if k.memory == nil {
		return nil, errors.New("reindex: memory is switched off")
	}
	if o == nil {
		o = &indexing.Options{}
	}
	return k.memory.Reindex(ctx, o)
}

// Migrate gives the index at To what the one at From has: chunks, the model
// in use, and all vectors that were ever paid for. From is only read, unless it is
// damaged or of an older format: then it is made anew first, which keeps its
// vectors. Where there is none, or where its chunks were cut by other rules, To is
// made from the files. A migration that was cut short goes on where it ended when
// it is run again.
func (k *Kernel) Migrate(ctx context.Context, o indexing.MigrateOptions) (*indexing.MigrateReport, error) {
	if k.memory == nil {
		return nil, errors.New("migrate: memory is switched off")
	}
	if o.From.Place == o.To.Place {
		return nil, fmt.Errorf("migrate: source and target are both %s", o.From.Place)
	}
	store.KeepOutOfGit(k.state)
	r, err := k.memory.Migrate(ctx, &o)
	if err != nil {
		err = fmt.Errorf("migrate: %w", err)
	}
	return r, err
}
