package kernel

import (
	"context"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/turn"
)

// ObserveTurn commits a turn: its pages, its usage, and the updated summary. It is atomic, since
// a single journal line is the commit. It is idempotent per AdvancementKey.
func (k *Kernel) ObserveTurn(ctx context.Context, t api.Turn) (*api.Observation, error) {
	done := k.watch.begin(OpTurn)
	out, err := k.desk.TakeTurn(ctx, t)
	k.watch.end(ctx, done, err, func(d *Done) { d.Model, d.Observation = t.Model, out })
	return out, err
}

// ObserveToolResult ingests a host's messages so far, in the middle of a turn, so that a kill
// loses at most the running call. It does not change the prompt.
func (k *Kernel) ObserveToolResult(ctx context.Context, t api.Turn) (*api.Observation, error) {
	done := k.watch.begin(OpToolResult)
	out, err := k.desk.Ingest(ctx, t)
	k.watch.end(ctx, done, err, func(d *Done) { d.Model, d.Observation = t.Model, out })
	return out, err
}

// ShapeResult stores a large result and returns the text to show the model instead. The text
// names the page that holds the whole result. ShapeResult returns "" if the host should show the
// result as it is. The page is durable when ShapeResult returns. If a turn is observed later with
// the text in place of the result, the kernel learns from the whole result.
func ShapeResult(ctx context.Context, k *Kernel, r api.Result) (string, error) {
	part := memkernel.Part{Kind: memkernel.PartText, Text: r.Text}
	return turn.Shape(ctx, k.desk, r.SessionKey, r.Resolver, &r.Call, &memkernel.ToolResult{CallID: r.Call.ID, Name: r.Call.Name, Text: true, Content: []memkernel.Part{part}}, r.Shown)
}
