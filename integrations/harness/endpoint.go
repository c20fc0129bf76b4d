package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// endpoint is a model that speaks one of the two APIs.
type endpoint struct {
	api             transcript.Format
	url, model, key string
	window, answer  int
}

// reply is the API's answer: the message as the API wrote it, and the bill.
type reply struct {
	message json.RawMessage
	usage   memkernel.Usage
}

// refused is an answer of the API that is not a message.
type refused struct {
	status int
	body   string
}

func (r *refused) Error() string {
	return fmt.Sprintf("the model's API answered %d: %s", r.status, r.body)
}

// ask sends a plan's messages, byte for byte.
func (e *endpoint) ask(ctx context.Context, plan *api.ContextPlan) (*reply, error) {
	return e.send(ctx, &transcript.Request{Model: plan.Model, Tools: plan.Tools, System: plan.System,
		Messages: plan.Messages, Markers: plan.Markers, MaxTokens: e.answer})
}

// complete asks a question of its own, without tools.
func (e *endpoint) complete(ctx context.Context, turn *api.FlushTurn) (*reply, error) {
	return e.send(ctx, &transcript.Request{Model: e.model, System: memkernel.Text(turn.System), MaxTokens: turn.MaxTokens,
		Messages: []memkernel.Message{{Role: memkernel.RoleUser, Parts: memkernel.Text(turn.Prompt)}}})
}

func (e *endpoint) send(ctx context.Context, r *transcript.Request) (*reply, error) {
	body, _, err := transcript.Render(e.api, r)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.api == transcript.FormatAnthropic {
		req.Header.Set("X-Api-Key", e.key)
		req.Header.Set("Anthropic-Version", "2023-06-01")
	} else {
		req.Header.Set("Authorization", "Bearer "+e.key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, &refused{res.StatusCode, string(text)}
	}
	return e.read(text)
}

func (e *endpoint) read(text []byte) (*reply, error) {
	if e.api == transcript.FormatAnthropic {
		return readAnthropic(text)
	}
	return readOpenAI(text)
}

func readAnthropic(text []byte) (*reply, error) {
	var a struct {
		Content json.RawMessage `json:"content"`
		Usage   memkernel.Usage `json:"usage"`
	}
	if err := json.Unmarshal(text, &a); err != nil || a.Content == nil {
		return nil, fmt.Errorf("the model's answer is no message: %.200s", text)
	}
	message, err := json.Marshal(map[string]any{"role": "assistant", "content": a.Content})
	return &reply{message, a.Usage}, err
}

func readOpenAI(text []byte) (*reply, error) {
	var a struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
		Usage memkernel.Usage `json:"usage"`
	}
	if err := json.Unmarshal(text, &a); err != nil || len(a.Choices) == 0 {
		return nil, fmt.Errorf("the model's answer is no message: %.200s", text)
	}
	return &reply{a.Choices[0].Message, a.Usage}, nil
}
