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

// ObserveFlush appends what a model wrote down to the day's log, by the rules of the
// journal: secrets masked, every item once, nothing that is there changed. The entry's mark
// says that it is the agent's. A bill is recorded with those of the session's calls: without
// memkernel there would be no such call, so it would have cost nothing.
func (k *Kernel) ObserveFlush(ctx context.Context, r api.FlushReply) (*api.Flushed, error) {
	return k.desk.Flushed(ctx, r)
}
