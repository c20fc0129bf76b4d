package serve

import (
	"encoding/json"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

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

// verbatim is JSON.
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
	} else if key := made.Params.CacheKey; key != "" {
		raw, _ := json.Marshal(key) // a string always can
		req.Params = append(req.Params, transcript.Param{Name: "prompt_cache_key", Raw: string(raw)})
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
