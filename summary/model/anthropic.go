package model

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/summary"
)

// anthropic is a model that is reached through the Anthropic Messages API,
// platform.claude.com/docs/en/api/messages.
type anthropic struct{ *server }

// anthropicVersion is the API version that the request is written for.
const anthropicVersion = "2023-06-01"

type messagesAnswer struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

// Complete implements [summary.Model].
func (a *anthropic) Complete(parent context.Context, p summary.Prompt) (summary.Completion, error) {
	ctx, cancel := context.WithTimeout(parent, a.timeout)
	defer cancel()
	answer, err := a.ask(ctx, p)
	if err != nil {
		return summary.Completion{}, a.explain(parent, ctx, err)
	}
	var out summary.Completion
	if u, _ := memkernel.ReadUsage(answer.Usage); u != nil { // unreadable usage is no reason to lose the notes
		out.InputTokens, out.OutputTokens = u.InputTotal(), u.OutputTokens
	}
	var text strings.Builder
	for _, c := range answer.Content {
		if c.Type == "text" {
			text.WriteString(c.Text)
		}
	}
	out.Text, err = a.text(text.String(), answer.StopReason == "max_tokens", answer.StopReason == "refusal", p)
	return out, err
}

func (a *anthropic) ask(ctx context.Context, p summary.Prompt) (*messagesAnswer, error) {
	body, err := json.Marshal(map[string]any{"model": a.model, "max_tokens": p.MaxTokens, "system": p.System,
		"messages": []map[string]string{{"role": "user", "content": p.User}}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", anthropicVersion)
	if a.key != "" {
		req.Header.Set("X-Api-Key", a.key)
	}
	resp, err := a.do(req, p.Limit)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer messagesAnswer
	return &answer, json.NewDecoder(resp.Body).Decode(&answer)
}
