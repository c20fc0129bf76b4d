package kernel

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/kernel/api"
)

// FlushTurn makes the prompts of a flush turn.
func (k *Kernel) FlushTurn(ctx context.Context, r api.FlushRequest) (*api.FlushTurn, error) {
	if r.SessionKey != "" && len(r.Messages) == 0 {
		if err := known(k.state, k.sessions, r.SessionKey); err != nil {
			return nil, fmt.Errorf("flush turn: %w", err)
		}
	}
	return k.desk.FlushTurn(ctx, r)
}

// ObserveFlush appends a model's answer to the day's log, by the rules of the journal: secrets
// masked, every item once, no existing line changed. The entry's mark names the agent as its
// author. A bill is recorded with those of the session's calls. Without memkernel there would be
// no such call, so its cost without memkernel is zero.
func (k *Kernel) ObserveFlush(ctx context.Context, r api.FlushReply) (*api.Flushed, error) {
	return k.desk.Flushed(ctx, r)
}
