package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/bench/solve"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// now is the clock: prices have dates.
func now() time.Time { return time.Now() }

// client is a model behind an endpoint.
type client struct {
	url       string
	model     cachelayout.Model
	authorize func(http.Header)
	read      func(body []byte) (*solve.Answer, json.RawMessage, error)
	// left are dollars.
	left float64
}

// tries is how often a call is made that the provider is too busy for.
const tries = 6

// Answer asks the model.
func (c *client) Answer(ctx context.Context, _ transcript.Format, body []byte) (*solve.Answer, error) {
	if c.left <= 0 {
		return nil, errSpent
	}
	for n := 1; ; n++ {
		status, text, wait, err := c.post(ctx, body)
		if err != nil {
			return nil, err
		}
		if status == http.StatusOK {
			return c.answer(text)
		}
		if status != http.StatusTooManyRequests && status < 500 || n == tries {
			return nil, fmt.Errorf("%s answered %d: %.500s", c.url, status, text)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(max(wait, time.Duration(n*n)*time.Second)):
		}
	}
}

func (c *client) post(ctx context.Context, body []byte) (status int, text []byte, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	c.authorize(req.Header)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, 0, err
	}
	defer res.Body.Close()
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
		wait = time.Duration(min(s, 120)) * time.Second
	}
	text, err = io.ReadAll(res.Body)
	return res.StatusCode, text, wait, err
}

// answer reads what came back, with its bill.
func (c *client) answer(text []byte) (*solve.Answer, error) {
	a, raw, err := c.read(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %.200s", err, text)
	}
	u, _ := memkernel.ReadUsage(raw)
	if u == nil || u.InputTotal() == 0 {
		return nil, fmt.Errorf("%s bills nothing: without usage no budget can be held", c.url)
	}
	a.CostUSD = c.model.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, u.OutputTokens)
	if a.CostUSD != nil {
		c.left -= *a.CostUSD
	}
	return a, nil
}

func readAnthropic(body []byte) (*solve.Answer, json.RawMessage, error) {
	var r struct {
		Content []struct {
			Type, Text, ID, Name string
			Input                json.RawMessage
		}
		Usage json.RawMessage
	}
	if err := json.Unmarshal(body, &r); err != nil || r.Content == nil {
		return nil, nil, fmt.Errorf("the model's answer is no message")
	}
	a := &solve.Answer{}
	for _, b := range r.Content {
		switch b.Type {
		case "text":
			a.Text += b.Text
		case "tool_use":
			a.Calls = append(a.Calls, solve.Call{ID: b.ID, Name: b.Name, Input: b.Input})
		}
	}
	return a, r.Usage, nil
}

func readOpenAI(body []byte) (*solve.Answer, json.RawMessage, error) {
	var r struct {
		Choices []struct {
			Message struct {
				Content   string
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		Usage json.RawMessage
	}
	if err := json.Unmarshal(body, &r); err != nil || len(r.Choices) == 0 {
		return nil, nil, fmt.Errorf("the model's answer is no message")
	}
	m := r.Choices[0].Message
	a := &solve.Answer{Text: m.Content}
	for _, c := range m.ToolCalls {
		input := json.RawMessage(c.Function.Arguments)
		if !json.Valid(input) {
			input = json.RawMessage("{}")
		}
		a.Calls = append(a.Calls, solve.Call{ID: c.ID, Name: c.Function.Name, Input: input})
	}
	return a, r.Usage, nil
}
