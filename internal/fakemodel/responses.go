package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responses is the part of OpenAI's Responses API that a client with its own history uses. It has
// the same bills as chat completions.
type responses struct{ openai }

func (responses) segments(body []byte, input []json.RawMessage) ([]segment, error) {
	var head struct {
		Instructions json.RawMessage `json:"instructions"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, err
	}
	var out []segment
	if head.Instructions != nil {
		out = append(out, segmentOf("instructions", head.Instructions))
	}
	for i, raw := range input {
		var item struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Output  json.RawMessage `json:"output"`
			CallID  string          `json:"call_id"`
			Tools   []responsesTool `json:"tools"`
		}
		if err := json.Unmarshal(raw, &item); err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
		s := segmentOf(fmt.Sprintf("input[%d]", i), raw)
		s.role, s.text, s.thought = item.Role, textOf(item.Content), thoughtIn(raw)
		switch item.Type {
		case "function_call", "custom_tool_call":
			s.Call = item.CallID
		case "function_call_output", "custom_tool_call_output":
			s.Result, s.text = item.CallID, textOf(item.Output)
		case "tool_search_call":
			s.Call = item.CallID
		case "tool_search_output":
			s.Result = item.CallID
		}
		// Definitions are in the answer to a search. For models since GPT-6 they are also in an
		// item "additional_tools" of the role developer.
		for _, t := range item.Tools {
			s.offers = append(s.offers, t.names()...)
		}
		out = append(out, s)
	}
	return out, nil
}

// responsesTool is the definition of a function, or of several functions in a namespace.
type responsesTool struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

// clientSearch is the type and the name of a search for tools that the client makes.
const clientSearch = "tool_search"

// names returns the names that a script uses in calls. A function in a namespace has the name
// NAMESPACE.FUNCTION.
func (t responsesTool) names() (out []string) {
	switch {
	case t.Type == clientSearch:
		return []string{clientSearch}
	case t.Type != "namespace":
		return []string{t.Name}
	}
	for _, f := range t.Tools {
		out = append(out, t.Name+"."+f.Name)
	}
	return out
}

func responsesToolNames(raw json.RawMessage) []string {
	var t responsesTool
	if json.Unmarshal(raw, &t) != nil {
		return []string{""}
	}
	return t.names()
}

// output returns the items of an answer.
func (responses) output(r Request, reply Reply) []map[string]any {
	out := []map[string]any{}
	if r.thought != "" {
		out = append(out, map[string]any{"type": "reasoning", "id": fmt.Sprintf("rs_%d", r.N), "encrypted_content": r.thought,
			"summary": []any{map[string]any{"type": "summary_text", "text": r.thinkingText()}}})
	}
	if reply.Text != "" || len(reply.Calls) == 0 {
		out = append(out, map[string]any{"type": "message", "id": fmt.Sprintf("msg_%d", r.N), "status": "completed", "role": "assistant",
			"content": []any{map[string]any{"type": "output_text", "text": reply.Text, "annotations": []any{}}}})
	}
	for i, c := range reply.Calls {
		item := map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", r.N, i), "status": "completed",
			"call_id": callID("call", r, i, c), "name": c.Name, "arguments": string(c.input())}
		if c.Text != "" {
			item["type"], item["input"] = "custom_tool_call", c.Text
			delete(item, "arguments")
		}
		if space, name, ok := strings.Cut(c.Name, "."); ok {
			item["namespace"], item["name"] = space, name
		}
		if c.Name == clientSearch {
			item = map[string]any{"type": "tool_search_call", "id": item["id"], "status": "completed", "call_id": item["call_id"], "execution": "client", "arguments": c.input()}
		}
		out = append(out, item)
	}
	return out
}

func (responses) response(r Request, status string, output []map[string]any) map[string]any {
	return map[string]any{"id": fmt.Sprintf("resp_%d", r.N), "object": "response", "created_at": r.At.Unix(), "model": r.Model,
		"status": status, "output": output}
}

func (o responses) finished(r Request, reply Reply) map[string]any {
	m := o.response(r, "completed", o.output(r, reply))
	if list := r.transformations(); list != nil {
		m["input_transformations"] = list
	}
	u := r.Usage
	m["usage"] = map[string]any{"input_tokens": u.Input(), "output_tokens": u.Output, "total_tokens": u.Input() + u.Output,
		"input_tokens_details": openai{}.details(u)}
	return m
}

func (o responses) whole(w http.ResponseWriter, r Request, reply Reply) {
	writeJSON(w, http.StatusOK, o.finished(r, reply))
}

func (o responses) stream(w http.ResponseWriter, r Request, reply Reply) {
	e := newEvents(w)
	n := 0
	send := func(name string, m map[string]any) {
		m["type"], m["sequence_number"] = name, n
		n++
		e.send(name, m)
	}
	send("response.created", map[string]any{"response": o.response(r, "in_progress", []map[string]any{})})
	for i, item := range o.output(r, reply) {
		send("response.output_item.added", map[string]any{"output_index": i, "item": item})
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	send("response.completed", map[string]any{"response": o.finished(r, reply)})
}
