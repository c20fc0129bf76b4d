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

// ObserveFlush appends a model's answer to the day's log. It masks secrets, writes every item
// once and changes no existing line. The entry's mark names the agent as its author. If the reply
// has a bill, the bill is recorded with the bills of the session's calls. The estimated cost of
// the call without memkernel is zero, since there would be no such call.
func (k *Kernel) ObserveFlush(ctx context.Context, r api.FlushReply) (*api.Flushed, error) {
	return k.desk.Flushed(ctx, r)
}
