package fakemodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// anthropic is the Messages API.
type anthropic struct{}

// lookBack is the number of blocks before a marker at which a cached prefix may end, as Anthropic
// documents. minCached is the length of the shortest cached prefix in tokens, for the models with
// the lowest limit.
const (
	lookBack  = 20
	minCached = 1024
)

func (anthropic) segments(body []byte, messages []json.RawMessage) ([]segment, error) {
	var head struct {
		System json.RawMessage `json:"system"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, err
	}
	var out []segment
	if head.System != nil {
		for i, item := range items(head.System) {
			out = append(out, segmentOf(fmt.Sprintf("system[%d]", i), item))
		}
	}
	for i, raw := range messages {
		blocks, err := anthropicMessages.of(raw)
		if err != nil {
			return nil, fmt.Errorf("messages.%d: %w", i, err)
		}
		for j, s := range blocks {
			s.Where = fmt.Sprintf("messages[%d].content[%d]", i, j)
			out = append(out, s)
		}
	}
	return out, nil
}

// anthropicMessages caches parsed messages, because every request repeats the whole conversation.
var anthropicMessages = memo{most: 4096, read: func(raw []byte) ([]segment, error) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	var out []segment
	for _, item := range items(asBlocks(m.Content)) {
		out = append(out, anthropicBlock("", m.Role, item))
	}
	return out, nil
}}

// memo caches the results of read by text. It drops all results when there are more than most. All
// requests with the same text share one result, so callers must not change the bytes of a segment.
type memo struct {
	most int
	read func(raw []byte) ([]segment, error)

	mu    sync.Mutex
	known map[[sha256.Size]byte][]segment
}

func (m *memo) of(raw []byte) ([]segment, error) {
	key := sha256.Sum256(raw)
	m.mu.Lock()
	out, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return out, nil
	}
	out, err := m.read(raw)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= m.most {
		m.known = map[[sha256.Size]byte][]segment{}
	}
	m.known[key] = out
	return out, nil
}

// asBlocks returns a content as a list. The API takes a string for a list of one text block, and
// caches both forms alike.
func asBlocks(content json.RawMessage) json.RawMessage {
	if !bytes.HasPrefix(content, []byte{'"'}) {
		return content
	}
	return json.RawMessage(`[{"type":"text","text":` + string(content) + `}]`)
}

func anthropicBlock(where, role string, raw json.RawMessage) segment {
	s := segmentOf(where, raw)
	var b struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		ToolUseID string `json:"tool_use_id"`
		Name      string `json:"name"`
	}
	if json.Unmarshal(raw, &b) == nil {
		switch b.Type {
		case "tool_use":
			s.Call = b.ID
		case "tool_result":
			s.Result, s.found = b.ToolUseID, referenced(raw)
		}
	}
	s.role, s.text, s.thought = role, textOf(raw), thoughtIn(raw)
	return s
}

// bill counts as read the tokens of the longest cached prefix that a marker reaches. It counts as
// written the tokens between that prefix and the last marker.
func (anthropic) bill(c *cache, r Request, reply Reply) Usage {
	keys := prefixKeys(r.Model, r.Segments)
	hit, last, long := 0, 0, 0
	for i, s := range r.Segments {
		if !s.Marked {
			continue
		}
		last = i + 1
		if s.Hour {
			long = last
		}
		for j := i; j >= max(0, i-lookBack+1) && j >= hit; j-- {
			if c.holds(keys[j], r.At) {
				hit = j + 1
				break
			}
		}
	}
	for i, s := range r.Segments {
		if s.Marked && tokensOf(r.Segments, i+1) >= minCached {
			ttl := time.Duration(0)
			if s.Hour {
				ttl = time.Hour
			}
			if !c.holds(keys[i], r.At) { // a prefix that is read keeps its lifetime
				c.put(keys[i], r.At, ttl)
			}
		}
	}
	u := Usage{Read: tokensOf(r.Segments, hit), Output: reply.output()}
	if total := tokensOf(r.Segments, last); total >= minCached {
		u.Written = max(0, total-u.Read)
		u.Hour = max(0, tokensOf(r.Segments, long)-u.Read)
	}
	u.Uncached = r.Tokens() - u.Read - u.Written
	return u
}

func (a anthropic) whole(w http.ResponseWriter, r Request, reply Reply) {
	m := a.message(r, a.content(r, reply))
	m["stop_reason"] = a.stop(reply)
	m["usage"] = a.usage(r.Usage, r.Usage.Output)
	writeJSON(w, http.StatusOK, m)
}

func (anthropic) message(r Request, content []map[string]any) map[string]any {
	m := map[string]any{"id": fmt.Sprintf("msg_%d", r.N), "type": "message", "role": "assistant", "model": r.Model,
		"content": content, "stop_reason": nil, "stop_sequence": nil}
	if list := r.transformations(); list != nil {
		m["input_transformations"] = list
	}
	return m
}

func (anthropic) content(r Request, reply Reply) []map[string]any {
	out := []map[string]any{}
	if r.thought != "" {
		out = append(out, map[string]any{"type": "thinking", "thinking": r.thinkingText(), "signature": r.thought})
	}
	if reply.Text != "" || len(reply.Calls) == 0 {
		out = append(out, map[string]any{"type": "text", "text": reply.Text})
	}
	for i, c := range reply.Calls {
		out = append(out, map[string]any{"type": "tool_use", "id": callID("toolu", r, i, c), "name": c.Name, "input": c.input()})
	}
	return out
}

func callID(prefix string, r Request, i int, c Call) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s_%d_%d", prefix, r.N, i)
}

func (anthropic) stop(reply Reply) string {
	if len(reply.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (anthropic) usage(u Usage, output int) map[string]any {
	m := map[string]any{"input_tokens": u.Uncached, "cache_read_input_tokens": u.Read,
		"cache_creation_input_tokens": u.Written, "output_tokens": output}
	if u.Hour > 0 {
		m["cache_creation"] = map[string]int{"ephemeral_5m_input_tokens": u.Written - u.Hour, "ephemeral_1h_input_tokens": u.Hour}
	}
	return m
}

func (a anthropic) stream(w http.ResponseWriter, r Request, reply Reply) {
	e := newEvents(w)
	start := a.message(r, []map[string]any{})
	start["usage"] = a.usage(r.Usage, 1)
	e.send("message_start", map[string]any{"type": "message_start", "message": start})
	for i, block := range a.content(r, reply) {
		a.streamBlock(e, i, block)
	}
	e.send("message_delta", map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": a.stop(reply), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": r.Usage.Output}})
	e.send("message_stop", map[string]any{"type": "message_stop"})
}

func (anthropic) streamBlock(e events, i int, block map[string]any) {
	begin := map[string]any{"type": "text", "text": ""}
	deltas := []map[string]any{{"type": "text_delta", "text": block["text"]}}
	switch block["type"] {
	case "thinking":
		begin = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
		deltas = []map[string]any{{"type": "thinking_delta", "thinking": block["thinking"]}, {"type": "signature_delta", "signature": block["signature"]}}
	case "tool_use":
		begin = map[string]any{"type": block["type"], "id": block["id"], "name": block["name"], "input": map[string]any{}}
		deltas = []map[string]any{{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}}
	}
	e.send("content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": begin})
	for _, d := range deltas {
		e.send("content_block_delta", map[string]any{"type": "content_block_delta", "index": i, "delta": d})
	}
	e.send("content_block_stop", map[string]any{"type": "content_block_stop", "index": i})
}

func (anthropic) fail(w http.ResponseWriter, status int, kind, text string) {
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}})
}

func (anthropic) tooLong(tokens, window int) string {
	return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, window)
}
