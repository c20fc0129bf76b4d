package kernel

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Compact makes room now. It first ingests and commits the conversation. Then it cuts the prompt
// durably, and returns the outcome in [api.Passed.Compaction]. The next plan begins with the
// shortened prompt. Compact asks no model. It needs no messages if the session was planned in
// this process. A host that compacts its own history must call Compact first, and takes the texts
// from the outcome. If the session does not exist and there are no messages, Compact returns an
// [api.NoSessionError].
func (k *Kernel) Compact(ctx context.Context, b api.Boundary) (*api.Passed, error) {
	if err := b.Compact.Check(); err != nil {
		return nil, fmt.Errorf("%s of session %s: %w", journal.PointCompaction, b.SessionKey, err)
	}
	if err := begun(k, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", journal.PointCompaction, err)
	}
	done := k.watch.begin(api.OpCompact)
	p, err := k.desk.Pass(ctx, b, journal.PointCompaction)
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Passed = p })
	return p, err
}
