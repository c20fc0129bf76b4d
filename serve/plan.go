package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval/foreign"
	"github.com/memkernel/memkernel/transcript"
)

var forms = []string{formItems, formBody, formNone}

// The forms in which a plan's messages are handed out.
const (
	// formItems gives the places of the host's messages that are kept, and writes out all other
	// messages.
	formItems = "items"
	// formBody is the whole request body in the provider's format.
	formBody = "body"
	// formNone gives the figures without any message.
	formNone = "none"
)

// callSettings are the settings of a model call.
type callSettings struct {
	// Branch is the id of a sidechain. "" is the main line.
	Branch string `json:"branch"`
	// Model is the provider's id of the model.
	Model string `json:"model"`
	// ContextWindow is the size of the window in tokens. 0 takes the price book's window.
	ContextWindow int `json:"context_window"`
	// Reserve is the room for the answer, in tokens. With 0 it is max_tokens if the provider refuses
	// a prompt that leaves less room. Otherwise it is the room that the session's answers need.
	Reserve int `json:"reserve"`
	// FixedTokens is the size of a system prompt and tools that are not handed in.
	FixedTokens int `json:"fixed_tokens"`
	// System is the system prompt. Tools are the tool definitions in any provider's shape. The
	// host must send both to the provider itself.
	System json.RawMessage `json:"system" rpc:"texts"`
	Tools  json.RawMessage `json:"tools" rpc:"objects"`
	// Resolver is the tool by which the model follows pointers. Without a resolver nothing is
	// shown as a pointer.
	Resolver string `json:"resolver"`
	// ToolChoice, Thinking, Effort and DropOption are settings that the provider's cache
	// depends on.
	ToolChoice string `json:"tool_choice"`
	Thinking   string `json:"thinking"`
	Effort     string `json:"effort"`
	DropOption bool   `json:"drop_option"`
	// Format is the format of the form body. By default it is the dialect's format, or for the
	// dialect pi the model's format.
	Format   string    `json:"format" rpc:"anthropic|openai|responses"`
	Overflow *overflow `json:"overflow"`
	// Economy decides between memory and cost. It is a word, or a number from 0 (save) to 1
	// (keep). Default: the configured economy.
	Economy cachelayout.Economy `json:"economy"`
}

// overflow is a provider's refusal of the last call, because the prompt was too long or contained
// thinking of another conversation.
type overflow struct {
	Text   string `json:"text"`
	Input  int    `json:"input_tokens"`
	Limit  int    `json:"limit_tokens"`
	PlanID string `json:"plan_id"`
}

// planCall requests the messages to send with a model call. plan commits the new messages and
// records the plan. peek records nothing, and its pointers do not resolve. The conversation must
// end with a user message or tool results, unless there is a prompt.
type planCall struct {
	sessionCall
	sourceCall
	callSettings
	talkCall
	// Prompt is a user prompt that is not in the conversation yet. Turn is the id of the prompt.
	// By this id the server recognises the later message.
	Prompt string `json:"prompt"`
	Turn   string `json:"turn"`
	// TTLSeconds is the cache lifetime that the host requests. 0 is the lifetime that was seen
	// before. -1 lets the kernel choose.
	TTLSeconds int64 `json:"ttl_seconds"`
	// Memories are the results of the host's own memory.
	Memories []memories `json:"memories"`
	// Loaded are the names of files that the host itself shows to its model.
	Loaded []string `json:"loaded"`
	// Form is the form in which messages are handed out. Default: items.
	Form string `json:"form" rpc:"items|body|none"`
	// Explain adds layout and debug to the answer.
	Explain bool `json:"explain"`
	// MaxTokens is the max_tokens of the body, or of the request that the host sends itself.
	MaxTokens int `json:"max_tokens"`
}

// memories are the results of one memory of the host.
type memories struct {
	Format string          `json:"format" rpc:"qmd|mem0|cognee|"`
	Answer json.RawMessage `json:"answer" rpc:"required"`
	Scope  string          `json:"scope" rpc:"session|project|"`
}

// planning returns the handler of a call for a plan. The kernel's function plan makes the plan.
func planning(plan func(*kernel.Kernel, context.Context, api.PlanRequest) (*api.ContextPlan, error)) handler[*planCall, *planned] {
	return func(c *call, p *planCall) (*planned, error) {
		p.Form = cmp.Or(p.Form, formItems)
		if err := oneOf("form", p.Form, forms); err != nil {
			return nil, err
		}
		req, err := p.request()
		if err != nil {
			return nil, err
		}
		h, err := c.receive(p.key(), p.Branch, p.Conversation)
		if err != nil {
			return nil, err
		}
		req.Private, req.Messages, req.Source = c.opt.private(p.Private), h.messages(), p.source()
		if h != nil {
			req.Format = cmp.Or(req.Format, h.intake.Dialect().Format())
			if p.System == nil {
				req.System = h.intake.System()
			}
		}
		made, err := plan(c.k, c.ctx, *req)
		if err != nil {
			return nil, err
		}
		out := &planned{Schema: "memkernel/rpc_plan/v1", Outline: made.Outline, Cut: made.Layout.Made != nil, Cold: made.Layout.Cold, Markers: []marker{}, Notes: []note{}}
		if p.Explain {
			out.Details = &made.Details
		}
		switch p.Form {
		case formItems:
			err = out.spellItems(made, h)
		case formBody:
			err = spellBody(c.opt, out, p, made, h)
		}
		if err != nil {
			return nil, err
		}
		out.Conversation = c.held.put(h)
		return out, nil
	}
}

// request returns the kernel's request, without messages.
func (p *planCall) request() (*api.PlanRequest, error) {
	req, err := p.callSettings.request()
	if err != nil {
		return nil, err
	}
	switch {
	case p.TTLSeconds > int64(math.MaxInt64/time.Second):
		return nil, badParams("give seconds, 0 or more", "ttl_seconds %d is out of range", p.TTLSeconds)
	case p.MaxTokens < 0:
		return nil, badParams("give how many tokens the answer may have", "max_tokens is negative")
	case p.ContextWindow > 0 && p.MaxTokens >= p.ContextWindow:
		return nil, badParams("an answer and its prompt share the window", "max_tokens %d leaves nothing of the context_window of %d", p.MaxTokens, p.ContextWindow)
	}
	for _, name := range p.Loaded {
		if name == "" || strings.ContainsAny(name, `/\`) {
			return nil, badParams("give a file's name, such as CLAUDE.md: it is meant in whatever folder it is", "loaded: %q is no name of a file", name)
		}
	}
	req.SessionKey, req.Prompt, req.Turn, req.Now, req.Loaded, req.MaxTokens = p.SessionKey, p.Prompt, p.Turn, p.Now, p.Loaded, p.MaxTokens
	if req.TTL = time.Duration(p.TTLSeconds) * time.Second; p.TTLSeconds < 0 {
		req.TTL = api.ChooseTTL
	}
	for i, m := range p.Memories {
		if len(m.Answer) == 0 {
			return nil, badParams("answer is the JSON as that system gave it", "memories: no answer in number %d", i)
		}
		req.Memories = append(req.Memories, api.MemoryAnswer{Format: foreign.Format(m.Format), JSON: m.Answer, Scope: memkernel.Scope(m.Scope)})
	}
	return req, nil
}

// request returns the request of a call, without a session.
func (c *callSettings) request() (*api.PlanRequest, error) {
	req := &api.PlanRequest{Branch: c.Branch, Model: c.Model, ContextWindow: c.ContextWindow, Reserve: c.Reserve, FixedTokens: c.FixedTokens,
		Resolver: c.Resolver, ToolChoice: c.ToolChoice, Thinking: c.Thinking, Effort: c.Effort, DropOption: c.DropOption,
		Format: transcript.Format(c.Format), Economy: c.Economy}
	if err := oneOf("format", c.Format, append([]string{""}, names(transcript.Formats())...)); err != nil {
		return nil, err
	}
	if err := c.Economy.Check(); err != nil {
		return nil, badParams("give a word or a number", "economy: %s", err)
	}
	sizes := map[string]int{"context_window": c.ContextWindow, "reserve": c.Reserve, "fixed_tokens": c.FixedTokens}
	if o := c.Overflow; o != nil {
		req.Overflow = &api.Overflow{Text: o.Text, Input: o.Input, Limit: o.Limit, PlanID: o.PlanID}
		sizes["overflow.input_tokens"], sizes["overflow.limit_tokens"] = o.Input, o.Limit
	}
	for name, n := range sizes {
		if n < 0 {
			return nil, badParams("give a number of tokens", "%s is negative", name)
		}
	}
	var err error
	if req.System, err = systemParts(c.System); err == nil {
		req.Tools, err = toolList(c.Tools)
	}
	return req, err
}

// systemParts reads a system prompt: a text, or a list of text blocks.
func systemParts(raw json.RawMessage) ([]memkernel.Part, error) {
	var text string
	var blocks []json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &blocks) != nil {
		return nil, badParams("system is a text or a list", "system is neither a text nor a list")
	}
	if text != "" {
		return memkernel.Text(text), nil
	}
	parts, err := document.SystemParts(blocks)
	if err != nil {
		return nil, badParams(`a block is {"type":"text","text":"…"}`, "system: %s", err)
	}
	return parts, nil
}

// toolList reads tool definitions in any provider's shape.
func toolList(raw json.RawMessage) ([]memkernel.Tool, error) {
	var defs []json.RawMessage
	if len(raw) > 0 && string(raw) != `""` && json.Unmarshal(raw, &defs) != nil {
		return nil, badParams("tools is a list of definitions", "tools is no list")
	}
	tools, err := document.Tools(defs)
	if err != nil {
		return nil, badParams("a definition is an object with a name", "tools: %s", err)
	}
	return tools, nil
}

// names returns words of another type as plain strings.
func names[S ~string | ~[]byte](words []S) (out []string) {
	for _, w := range words {
		out = append(out, string(w))
	}
	return out
}

func oneOf(name, value string, of []string) error {
	if slices.Contains(of, value) {
		return nil
	}
	return badParams(fmt.Sprintf("%s is one of %q", name, of), "%s %q is not known", name, value)
}

// planned is the answer to plan and peek.
type planned struct {
	Schema string `json:"schema" rpc:"memkernel/rpc_plan/v1"`
	api.Outline
	// Cut reports whether this plan removed older messages.
	Cut bool `json:"cut"`
	// Cold reports whether the provider's cache is assumed to be empty.
	Cold bool `json:"cold"`
	// Items are the messages to send in the form "items". A message that no item covers is left
	// out. If the provider does not merge consecutive messages of one role, the host must merge
	// them.
	Items []item `json:"items,omitempty"`
	// Count is the number of messages in all items.
	Count   int      `json:"count"`
	Markers []marker `json:"markers"`
	// Body is the request in the form "body".
	Body json.RawMessage `json:"body,omitempty"`
	// Notes name the parts of the conversation that the body could not hold.
	Notes        []note `json:"notes"`
	Conversation *mark  `json:"conversation,omitempty"`
	// Details are nil unless the call requests an explanation.
	*api.Details `json:",omitempty"`
}

// item is a run of unchanged messages of the host, or one message that is new or replaces
// messages of the host.
type item struct {
	// Host is a range of the host's messages, which stay byte for byte unchanged. The first index
	// is included, the second is not.
	Host    *[2]int  `json:"host,omitempty"`
	Message verbatim `json:"message,omitempty"`
	// Replaces is the range of the host's messages that the message replaces.
	Replaces *[2]int `json:"replaces,omitempty"`
}

// verbatim is JSON that is written unchanged.
type verbatim string

func (v verbatim) MarshalJSON() ([]byte, error) { return []byte(v), nil }

// marker is a cache breakpoint after a message of the list that the items expand to. -1 is a
// breakpoint after the system prompt, -2 a breakpoint after the tools.
type marker struct {
	Message int `json:"message"`
	// TTL is 5m, 1h or "".
	TTL string `json:"ttl"`
	Why string `json:"why"`
}

type note struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// spellItems writes the messages in the host's dialect. If the host handed in no conversation, it
// writes them in the dialect of the format.
func (out *planned) spellItems(made *api.ContextPlan, h *held) error {
	var in *transcript.Intake
	if h != nil {
		in = h.intake
	} else {
		var err error
		if in, err = transcript.NewIntake(made.Format.Dialect()); err != nil {
			return err
		}
	}
	items, at := in.Items(made.Messages)
	out.Items = make([]item, 0, len(items))
	for _, it := range items {
		out.Count += it.Len()
		row, span := item{Message: verbatim(it.JSON)}, [2]int{it.From, it.To}
		switch {
		case it.JSON == "":
			row.Host = &span
		case it.To > it.From:
			row.Replaces = &span
		}
		out.Items = append(out.Items, row)
	}
	for i, m := range made.Markers {
		row := marker{Message: m.Message, TTL: m.TTL}
		if m.Message >= 0 && m.Message < len(at) {
			row.Message = at[m.Message]
		}
		if i < len(made.Layout.Breakpoints) {
			row.Why = made.Layout.Breakpoints[i].Why
		}
		out.Markers = append(out.Markers, row)
	}
	return nil
}

// spellBody renders the whole request.
func spellBody(o *Options, out *planned, p *planCall, made *api.ContextPlan, h *held) error {
	req := transcript.Request{Model: made.Model, Tools: made.Tools, System: made.System, Messages: made.Messages, Markers: made.Markers}
	if h != nil {
		req.Source = h.intake.Dialect()
	}
	if made.Format == transcript.FormatAnthropic {
		if req.MaxTokens = p.MaxTokens; req.MaxTokens == 0 { // the Messages API insists on it
			req.MaxTokens = made.Budgets.AnswerTokens()
			if m, ok := o.Prices.Lookup(made.Model, time.Now()); ok && m.MaxOutput > 0 {
				req.MaxTokens = min(req.MaxTokens, m.MaxOutput)
			}
		}
		if made.Params.ThinkingOff {
			req.Thinking = `{"type":"disabled"}`
		}
	} else {
		req.CacheKey = made.Params.CacheKey
	}
	body, notes, err := transcript.Render(made.Format, &req)
	if err != nil {
		return err
	}
	out.Body, out.Count = body, len(made.Messages)
	for _, n := range notes {
		out.Notes = append(out.Notes, note{n.Rule, n.Text})
	}
	return nil
}
