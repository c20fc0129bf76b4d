package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
)

// ObserveTurn commits a turn: its pages, its usage, and the updated summary. It is atomic, since
// a single journal line is the commit. It is idempotent per AdvancementKey: a turn that
// is delivered again is no error, and neither is a conflict. [api.Observation] tells them apart.
//
// The error wraps [api.ErrNoMessages], [api.ErrDamaged], [api.ErrNewer], [api.ErrClosed] or the
// error of ctx if the reason is theirs. A turn that was not committed may be delivered again.
func (k *Kernel) ObserveTurn(ctx context.Context, t api.Turn) (*api.Observation, error) {
	return k.observed(ctx, api.OpTurn, t, k.desk.TakeTurn)
}

// ObserveToolResult ingests a host's messages so far, in the middle of a turn, so that a kill
// loses at most the running call. It does not change the prompt.
func (k *Kernel) ObserveToolResult(ctx context.Context, t api.Turn) (*api.Observation, error) {
	return k.observed(ctx, api.OpToolResult, t, k.desk.Ingest)
}

// observed takes a turn in, and reports it.
func (k *Kernel) observed(ctx context.Context, op api.Op, t api.Turn, take func(context.Context, api.Turn) (*api.Observation, error)) (*api.Observation, error) {
	done := k.watch.begin(op)
	out, err := take(ctx, t)
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Model, d.Observation = t.Model, out })
	return out, err
}
