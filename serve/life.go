package serve

import (
	"cmp"
	"context"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// boundaryCall has the parameters of a call at a boundary of a session, such as its start or its
// end. Without a conversation the call uses the messages that were planned or observed. A session
// without a record is refused as NO_SESSION, unless the method is start_session or a conversation
// or updates are handed in.
type boundaryCall struct {
	sessionCall
	sourceCall
	Branch string `json:"branch"`
	Model  string `json:"model"`
	talkCall
	Updates []journal.Update `json:"updates"`
	// Key makes the delivery idempotent.
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// passed is the answer to the calls at a boundary.
type passed struct {
	Schema     string `json:"schema" rpc:"memkernel/rpc_boundary/v1"`
	SessionKey string `json:"session_key"`
	*api.Passed
	Conversation *mark `json:"conversation,omitempty"`
}

// pass is a function of the kernel that passes a boundary.
type pass func(*kernel.Kernel, context.Context, api.Boundary) (*api.Passed, error)

// passing returns the handler of a boundary call, which the kernel's function do carries out.
func passing(do pass) handler[*boundaryCall, *passed] {
	return func(c *call, p *boundaryCall) (*passed, error) {
		b, h, err := boundaryOf(c, p)
		if err != nil {
			return nil, err
		}
		out, err := do(c.k, c.ctx, b)
		if err != nil {
			return nil, err
		}
		out.Pinned = document.List(out.Pinned)
		return &passed{"memkernel/rpc_boundary/v1", p.key(), out, c.held.put(h)}, nil
	}
}

// doEndSession also removes the held conversations of the session.
func doEndSession(c *call, p *boundaryCall) (*passed, error) {
	doc, err := passing((*kernel.Kernel).EndSession)(c, p)
	if err != nil {
		return nil, err
	}
	c.held.drop(p.key())
	c.k.Release(p.SessionKey)
	doc.Conversation = nil
	return doc, nil
}

func boundaryOf(c *call, p *boundaryCall) (api.Boundary, *held, error) {
	h, err := c.receive(p.key(), p.Branch, p.Conversation)
	return api.Boundary{SessionKey: p.SessionKey, Branch: p.Branch, Model: p.Model, Messages: h.messages(), Updates: p.Updates, Key: p.Key,
		Reason: p.Reason, Now: p.Now, Private: c.opt.private(p.Private), Source: p.source()}, h, err
}

type compactCall struct {
	boundaryCall
	// TargetTokens is the size to which the prompt should shrink, in tokens. If TargetShare is
	// also set, the smaller size counts.
	TargetTokens int `json:"target_tokens"`
	// TargetShare is the size to which the prompt should shrink, as a share of the window.
	TargetShare float64 `json:"target_share"`
	// Force also cuts inside an open tool loop. Without Force an open tool loop is cut only when
	// the cache is cold.
	Force bool `json:"force"`
	// Call has the settings of the next call. Missing settings are taken from the last plan.
	Call *callSettings `json:"call"`
}

func doCompact(c *call, p *compactCall) (*passed, error) {
	if p.TargetShare < 0 || p.TargetShare > 1 || p.TargetTokens < 0 {
		return nil, badParams("target_share is above 0 and at most 1, target_tokens a number of tokens", "target_tokens %d, target_share %v: out of range", p.TargetTokens, p.TargetShare)
	}
	req, err := cmp.Or(p.Call, &callSettings{}).request()
	if err != nil {
		return nil, err
	}
	wish := &api.CompactWish{Tokens: p.TargetTokens, Share: p.TargetShare, Force: p.Force, Overflow: req.Overflow, Call: req}
	req.Overflow, req.Private = nil, c.opt.private(p.Private)
	return passing(func(k *kernel.Kernel, ctx context.Context, b api.Boundary) (*api.Passed, error) {
		b.Compact = wish
		return k.Compact(ctx, b)
	})(c, &p.boundaryCall)
}

// checkpointed is the answer to checkpoint.
type checkpointed struct {
	Schema     string `json:"schema" rpc:"memkernel/rpc_checkpoint/v1"`
	SessionKey string `json:"session_key"`
	// ID is the id of the newest checkpoint, "" if nothing was captured.
	ID string `json:"id"`
	// Text is YAML. Its meta names the session's source. Its token_usage is the provider's bill
	// for the newest observed call. Without a bill it is the kernel's estimate.
	Text         string `json:"text"`
	Conversation *mark  `json:"conversation,omitempty"`
}

func doCheckpoint(cl *call, p *boundaryCall) (*checkpointed, error) {
	b, h, err := boundaryOf(cl, p)
	if err != nil {
		return nil, err
	}
	c, err := cl.k.Checkpoint(cl.ctx, b)
	if err != nil {
		return nil, err
	}
	doc := &checkpointed{Schema: "memkernel/rpc_checkpoint/v1", SessionKey: p.key()}
	if c != nil {
		got, err := cl.k.Get(cl.ctx, p.SessionKey, string(c.Meta.CheckpointID))
		if err != nil {
			return nil, err
		}
		doc.ID, doc.Text = got.ID, got.Text
	}
	doc.Conversation = cl.held.put(h)
	return doc, nil
}

type restoreCall struct {
	sessionCall
	// Occasion is compaction, resume or new. Default: new.
	Occasion string `json:"occasion"`
	// Resolver is the tool or command by which the reader gets the content of an id. Without a
	// resolver the text names no ids.
	Resolver string `json:"resolver"`
}

// occasions are the occasions of a restore text.
var occasions = map[string]checkpoint.Occasion{"": checkpoint.NewSession, "new": checkpoint.NewSession, "resume": checkpoint.OnResume, "compaction": checkpoint.AfterCompaction}

func doRestore(c *call, p *restoreCall) (*document.Restore, error) {
	o, ok := occasions[p.Occasion]
	if !ok {
		return nil, badParams("occasion is new, resume or compaction", "occasion %q is none", p.Occasion)
	}
	r, err := c.k.Restore(c.ctx, api.RestoreRequest{SessionKey: p.SessionKey, Occasion: o, Resolver: p.Resolver})
	return documentedBy(p.key(), r, err, document.OfRestored)
}

// flushTurnCall requests the prompts of a silent turn in which the host's model writes down the
// facts that should outlive a compaction. For a session, the prompt shows the messages since the
// last silent turn. Their secrets are masked and the prompt has at most about 20,000 tokens, so
// that one completion without tools is enough. An empty prompt in the answer means that there is
// nothing to ask.
type flushTurnCall struct {
	sessionCall
	sourceCall
	Branch string `json:"branch"`
	Model  string `json:"model"`
	talkCall
	// System and Prompt are the host's own prompts.
	System string `json:"system"`
	Prompt string `json:"prompt"`
}

type flushTurn struct {
	Schema string `json:"schema" rpc:"memkernel/rpc_flush_turn/v1"`
	*api.FlushTurn
	Conversation *mark `json:"conversation,omitempty"`
}

func doFlushTurn(c *call, p *flushTurnCall) (*flushTurn, error) {
	h, err := c.receive(p.key(), p.Branch, p.Conversation)
	if err != nil {
		return nil, err
	}
	t, err := c.k.FlushTurn(c.ctx, api.FlushRequest{SessionKey: p.SessionKey, Messages: h.messages(), Model: p.Model, System: p.System, Prompt: p.Prompt, Now: p.Now})
	if err != nil {
		return nil, err
	}
	if p.Branch != "" {
		t.Prompt, t.Section = "", "" // a subagent reports its findings to its main line
	}
	return &flushTurn{"memkernel/rpc_flush_turn/v1", t, c.held.put(h)}, nil
}

// observeFlushCall hands in the model's answer to a flush turn.
type observeFlushCall struct {
	sessionCall
	Text string `json:"text" rpc:"required"`
	// Section means that Text is longer than the memories. The memories are between a line
	// <memory> and a line </memory>.
	Section bool `json:"section"`
}

type flushed struct {
	Schema string `json:"schema" rpc:"memkernel/rpc_observe_flush/v1"`
	*api.Flushed
}

func doObserveFlush(c *call, p *observeFlushCall) (*flushed, error) {
	f, err := c.k.ObserveFlush(c.ctx, api.FlushReply{SessionKey: p.SessionKey, Text: p.Text, Section: p.Section, Now: p.Now})
	if err != nil {
		return nil, err
	}
	c.opt.Logger.Info(f.Line)
	return &flushed{"memkernel/rpc_observe_flush/v1", f}, nil
}

// turnCall hands in the conversation up to the end of a turn. The call is one atomic, idempotent
// commit. observe_tool_result commits the messages in the middle of a turn.
type turnCall struct {
	sessionCall
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
	// Updates are updates of pages, in the form that the method write takes.
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

// observing returns the handler of a call that hands a conversation to the kernel's function
// observe.
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
