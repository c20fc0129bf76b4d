package serve

import (
	"context"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// turnCall hands in the conversation up to the end of a turn. The call is one atomic, idempotent
// commit. observe_tool_result commits the messages in the middle of a turn.
type turnCall struct {
	sourceCall
	Branch string `json:"branch"`
	Model  string `json:"model"`
	talkCall
	// PlanID is the plan that was sent.
	PlanID string `json:"plan_id"`
	// Usage is the bill: the object of the provider's answer (Messages API, chat completions,
	// Responses API, Gemini's usageMetadata), or input_tokens, cache_read_tokens,
	// cache_write_5m_tokens and cache_write_1h_tokens, which add up to the prompt, and
	// output_tokens. Without Usage the newest message's own counts are taken. Other members are
	// ignored. Figures that contradict each other are refused.
	Usage *memkernel.Usage `json:"usage"`
	// AdvancementKey makes the delivery idempotent. Default: a hash of the session and the last
	// message.
	AdvancementKey string `json:"advancement_key"`
	// input_transformations, diagnostics and prompt_cache_diagnostics are members of the
	// provider's answer, unchanged.
	memkernel.ReportMembers
	// Updates have the form of the updates of write.
	Updates []journal.Update `json:"updates"`
	// More means that another turn follows at once.
	More bool `json:"more"`
}

// observed is the answer to the calls that observe.
type observed struct {
	Schema     string `json:"schema" rpc:"memkernel/rpc_observe/v1"`
	SessionKey string `json:"session_key"`
	*api.Observation
	Conversation *mark `json:"conversation,omitempty"`
}

// observing returns the handler of a call that the kernel's function observes.
func observing(observe func(*kernel.Kernel, context.Context, api.Turn) (*api.Observation, error)) handler[*turnCall, *observed] {
	return func(c *call, p *turnCall) (*observed, error) {
		h, err := c.receive(p.key(), p.Branch, p.Conversation)
		if err != nil {
			return nil, err
		}
		msgs := h.messages()
		if len(msgs) == 0 {
			return nil, badParams("hand in the conversation after the turn", "there are no messages to observe")
		}
		bill := p.Usage
		if bill == nil || *bill == (memkernel.Usage{}) {
			bill = msgs[len(msgs)-1].Usage
		}
		turn := api.Turn{SessionKey: p.SessionKey, Branch: p.Branch, Model: p.Model, Messages: msgs, PlanID: p.PlanID, Usage: bill, Reported: p.Read(),
			Now: p.Now, AdvancementKey: p.AdvancementKey, Updates: p.Updates, Private: c.opt.private(p.Private), More: p.More, Source: p.source()}
		o, err := observe(c.k, c.ctx, turn)
		if err != nil {
			return nil, err
		}
		return &observed{"memkernel/rpc_observe/v1", p.key(), o, c.held.put(h)}, nil
	}
}
