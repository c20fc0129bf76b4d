package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// openai is the API of chat completions.
type openai struct{}

// cacheStep is the granularity of OpenAI's documented automatic caching, in tokens. cacheFrom is
// the shortest prefix that it caches.
const (
	cacheStep = 128
	cacheFrom = 1024
)

func (openai) segments(_ []byte, messages []json.RawMessage) ([]segment, error) {
	var out []segment
	for i, raw := range messages {
		var m struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		s := openaiMessage(fmt.Sprintf("messages[%d]", i), raw, m.Content)
		s.role, s.text, s.Result = m.Role, textOf(m.Content), m.ToolCallID
		out = append(out, s)
		for j, c := range m.ToolCalls { // their bytes are in the message
			out = append(out, segment{Where: fmt.Sprintf("messages[%d].tool_calls[%d]", i, j), Call: c.ID, role: m.Role})
		}
	}
	return out, nil
}

// openaiMessage returns a message with its content as one list of items. The same text may be a
// string in one request, and a list of one item with a breakpoint in the next. To a model both
// forms are the same.
func openaiMessage(where string, raw, content json.RawMessage) segment {
	s := segment{Where: where, Bytes: without(raw, "content")}
	if string(content) == "null" {
		return s
	}
	for _, item := range items(content) {
		if len(item) > 0 && item[0] == '"' {
			item = json.RawMessage(`{"type":"text","text":` + string(item) + `}`)
		}
		s.Marked = s.Marked || bytes.Contains(item, []byte(`"prompt_cache_breakpoint"`))
		s.Bytes = append(s.Bytes, without(item, "prompt_cache_breakpoint")...)
	}
	return s
}

// bill counts as read the longest prefix that an earlier request to the model had.
func (openai) bill(c *cache, r Request, reply Reply) Usage {
	read := c.longest(r) / cacheStep * cacheStep
	if read < cacheFrom {
		read = 0
	}
	u := Usage{Read: read, Output: reply.output()}
	if all := r.Tokens(); paidWrites.MatchString(r.Model) && all >= cacheFrom {
		u.Written = all/cacheStep*cacheStep - read
	}
	u.Uncached = r.Tokens() - u.Read - u.Written
	return u
}

// paidWrites are the models for which OpenAI bills cache writes separately, since GPT-5.6.
var paidWrites = regexp.MustCompile(`^gpt-(5\.[6-9]|[6-9])`)

// details returns the parts of an answer's bill.
func (openai) details(u Usage) map[string]any {
	return map[string]any{"cached_tokens": u.Read, "cache_write_tokens": u.Written}
}

func (o openai) whole(w http.ResponseWriter, r Request, reply Reply) {
	m := map[string]any{"role": "assistant", "content": reply.Text}
	if calls := o.calls(r, reply); len(calls) > 0 {
		m["tool_calls"] = calls
	}
	body := o.frame(r, "chat.completion", map[string]any{"index": 0, "message": m, "finish_reason": o.stop(reply)})
	body["usage"] = o.usage(r.Usage)
	writeJSON(w, http.StatusOK, body)
}

func (openai) frame(r Request, object string, choice map[string]any) map[string]any {
	return map[string]any{"id": fmt.Sprintf("chatcmpl-%d", r.N), "object": object, "created": r.At.Unix(), "model": r.Model,
		"choices": []any{choice}}
}

func (openai) calls(r Request, reply Reply) []map[string]any {
	var out []map[string]any
	for i, c := range reply.Calls {
		out = append(out, map[string]any{"index": i, "id": callID("call", r, i, c), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": string(c.input())}})
	}
	return out
}

func (openai) stop(reply Reply) string {
	if len(reply.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (openai) usage(u Usage) map[string]any {
	return map[string]any{"prompt_tokens": u.Input(), "completion_tokens": u.Output, "total_tokens": u.Input() + u.Output,
		"prompt_tokens_details": openai{}.details(u)}
}

// stream writes an answer as events. The last event has the bill, even if the client did not
// request it, because such clients skip that event.
func (o openai) stream(w http.ResponseWriter, r Request, reply Reply) {
	e := newEvents(w)
	chunk := func(delta map[string]any, stop any) {
		e.send("", o.frame(r, "chat.completion.chunk", map[string]any{"index": 0, "delta": delta, "finish_reason": stop}))
	}
	chunk(map[string]any{"role": "assistant", "content": reply.Text}, nil)
	if calls := o.calls(r, reply); len(calls) > 0 {
		chunk(map[string]any{"tool_calls": calls}, nil)
	}
	chunk(map[string]any{}, o.stop(reply))
	last := o.frame(r, "chat.completion.chunk", nil)
	last["choices"], last["usage"] = []any{}, o.usage(r.Usage)
	e.send("", last)
	e.raw("data: [DONE]\n\n")
}

func (openai) fail(w http.ResponseWriter, status int, kind, text string) {
	var code any
	if strings.Contains(text, "maximum context length") {
		code = "context_length_exceeded"
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": text, "type": kind, "param": "messages", "code": code}})
}

func (openai) tooLong(tokens, window int) string {
	return fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", window, tokens)
}
