package kernel

import (
	"cmp"
	"context"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// SessionOptions are the common parameters of all calls of a session.
type SessionOptions struct {
	// Model is the provider's id of the model that the calls are for.
	Model string
	// Private marks the conversation of one person, which may show MEMORY.md and USER.md.
	Private bool
}

// Session is the conversation of one session. Its methods are those of the kernel, with the
// session's key and its [SessionOptions] filled in. Callers must hand in all messages of the
// conversation. A Session keeps no state of its own: any number may have the same key.
type Session struct {
	k   *Kernel
	key string
	opt SessionOptions
}

// Session returns the conversation of a session. It reads and writes nothing. A session begins
// with its first message.
func (k *Kernel) Session(key string, o SessionOptions) *Session { return &Session{k, key, o} }

// Plan is [Kernel.PlanContext]: it returns the messages to send with a model call. The request's
// other parameters, such as the system prompt and the tools, are in r, which may be nil.
func (s *Session) Plan(ctx context.Context, messages []memkernel.Message, r *api.PlanRequest) (*api.ContextPlan, error) {
	var req api.PlanRequest
	if r != nil {
		req = *r
	}
	req.SessionKey, req.Messages = s.key, messages
	req.Model, req.Private = cmp.Or(req.Model, s.opt.Model), req.Private || s.opt.Private
	return s.k.PlanContext(ctx, req)
}

// ObserveTurn is [Kernel.ObserveTurn]: it commits the conversation, which must end with the
// model's answer. The plan's id and the provider's bill are in t, which may be nil.
func (s *Session) ObserveTurn(ctx context.Context, messages []memkernel.Message, t *api.Turn) (*api.Observation, error) {
	return s.k.ObserveTurn(ctx, s.turn(messages, t))
}

// ObserveToolResult is [Kernel.ObserveToolResult]: it stores the conversation while the turn
// goes on.
func (s *Session) ObserveToolResult(ctx context.Context, messages []memkernel.Message, t *api.Turn) (*api.Observation, error) {
	return s.k.ObserveToolResult(ctx, s.turn(messages, t))
}

func (s *Session) turn(messages []memkernel.Message, t *api.Turn) (turn api.Turn) {
	if t != nil {
		turn = *t
	}
	turn.SessionKey, turn.Messages = s.key, messages
	turn.Model, turn.Private = cmp.Or(turn.Model, s.opt.Model), turn.Private || s.opt.Private
	return turn
}

// End is [Kernel.EndSession]. The session can be resumed.
func (s *Session) End(ctx context.Context) (*api.Passed, error) {
	return s.k.EndSession(ctx, api.Boundary{SessionKey: s.key, Model: s.opt.Model, Private: s.opt.Private})
}
