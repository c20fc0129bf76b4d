package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/report"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/transcript"
)

// PromptCounter asks a provider how many tokens a request body would be.
type PromptCounter interface {
	CountPrompt(ctx context.Context, model string, body []byte) (int, error)
}

// AnthropicCounter counts with Anthropic's count_tokens endpoint, which is free
// and has rate limits of its own. The answer is the provider's estimate.
type AnthropicCounter struct {
	// BaseURL is the API's address, such as https://api.anthropic.com.
	BaseURL string
	// Key is the API key.
	Key string
	// Client is used for the requests; nil is http.DefaultClient.
	Client *http.Client
}

var _ PromptCounter = (*AnthropicCounter)(nil)

// anthropicVersion is the API version of the request, as its documentation gives
// it.
const anthropicVersion = "2023-06-01"

// CountPrompt sends the body, which must be an Anthropic Messages request.
func (c *AnthropicCounter) CountPrompt(ctx context.Context, model string, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.BaseURL+"/v1/messages/count_tokens", bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("count tokens of %s: %w", model, err)
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("x-api-key", c.Key)
	req.Header.Set("anthropic-version", anthropicVersion)
	client := c.Client
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("count tokens of %s: %w", model, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return 0, fmt.Errorf("count tokens of %s: %w", model, err)
	}
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("count tokens of %s: the provider answered %s: %.300s", model, res.Status, raw)
	}
	var out struct {
		InputTokens int `json:"input_tokens"`
	}
	if err := json.Unmarshal(raw, &out); err != nil || out.InputTokens <= 0 {
		return 0, fmt.Errorf("count tokens of %s: the answer is not a count: %.300s", model, raw)
	}
	return out.InputTokens, nil
}

// ask has the provider count a recorded plan. The answer anchors the line, so
// that the next plan counts only what is new, and trains the model's calibration.
// It tells whether the prompt turned out too large for the window.
func (k *Kernel) ask(ctx context.Context, s *session.Session, pl *planned) (tooLarge bool) {
	body, _, err := transcript.Render(pl.Format(), &transcript.Request{Model: pl.req.Model, Tools: pl.req.Tools,
		System: pl.req.System, Messages: report.Messages(pl.Result)})
	n := 0
	if err == nil {
		n, err = k.counter.CountPrompt(ctx, pl.req.Model, body)
	}
	if err != nil {
		pl.faults = append(pl.faults, Fault{Code: FaultNotCounted, Detail: err.Error()})
		return false
	}
	total := n + pl.req.FixedTokens
	cal := s.Calibrations.Of(pl.req.Model)
	cal.Observe(budget.Count{Tokens: pl.Proj.Tokens(), Kind: budget.Estimated}, len(pl.Proj.Items), total-pl.Fixed)
	if err := s.Calibrations.Set(pl.req.Model, cal); err != nil {
		pl.faults = append(pl.faults, Fault{Code: FaultNotRecorded, Detail: err.Error()})
	}
	next := *pl.Next
	next.Anchor = branch.Anchor{Total: total, Carry: len(pl.Proj.Carry), Items: len(pl.Proj.Items), Generation: pl.Proj.Generation, Fixed: pl.Fixed}
	pl.Next = &next
	s.Branches.All[branch.Key{Branch: pl.req.Branch, Model: pl.req.Model}] = pl.Next
	return total > pl.Window-pl.Reserve
}
