package kernel

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Compact makes room now. The conversation is taken in and committed
// first; then the prompt is cut, durably, so that the next plan begins with what
// [api.Passed.Compaction] says. It asks no model and needs no messages if the session
// was planned in this process: OpenClaw's compact hands none. A host that compacts
// its own history calls it before, and takes the texts. Without messages a session that
// is not there is a [api.NoSessionError].
func (k *Kernel) Compact(ctx context.Context, b api.Boundary) (*api.Passed, error) {
	if err := b.Compact.Check(); err != nil {
		return nil, fmt.Errorf("%s of session %s: %w", journal.PointCompaction, b.SessionKey, err)
	}
	if err := begun(k, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", journal.PointCompaction, err)
	}
	done := k.watch.begin(OpCompact)
	p, err := k.desk.Compact(ctx, b)
	k.watch.end(ctx, done, err, func(d *Done) { d.Passed = p })
	return p, err
}
