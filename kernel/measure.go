package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// PromptCounter requests the number of tokens of a request body from a provider.
type PromptCounter interface {
	CountPrompt(ctx context.Context, model string, body []byte) (int, error)
}

// AnthropicCounter counts with Anthropic's count_tokens endpoint, which is free and has its own
// rate limits. The count is the provider's estimate.
type AnthropicCounter struct {
	// BaseURL is the API's address, such as https://api.anthropic.com.
	BaseURL string
	// Key is the API key.
	Key string
	// Client is used for the requests; nil is http.DefaultClient.
	Client *http.Client
}

var _ PromptCounter = (*AnthropicCounter)(nil)

// anthropicVersion is the API version of the request, as the API's documentation gives it.
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
