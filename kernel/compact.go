package kernel

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Compact makes room now. It first takes in and commits the conversation. Then it cuts the
// prompt, durably, so that the next plan begins with the result in [api.Passed.Compaction]. It
// asks no model and needs no messages if the session was planned in this process: OpenClaw's
// compact passes none. A host that compacts its own history must call it before, and takes the
// texts. Without messages, and if the session does not exist, it returns an [api.NoSessionError].
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
