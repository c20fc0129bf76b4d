package fakemodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// api is the wire format of one provider.
type api interface {
	// segments returns the segments of the system prompt and the messages of a body.
	segments(body []byte, messages []json.RawMessage) ([]segment, error)
	bill(c *cache, r Request, reply Reply) Usage
	whole(w http.ResponseWriter, r Request, reply Reply)
	stream(w http.ResponseWriter, r Request, reply Reply)
	fail(w http.ResponseWriter, status int, kind, text string)
	tooLong(tokens, window int) string
}

func apiOf(r *http.Request) api {
	path := r.URL.Path
	if g, ok := geminiOf(r); ok {
		return g
	}
	switch {
	case strings.HasSuffix(path, "/v1/messages"), countPath(path):
		return anthropic{}
	case strings.HasSuffix(path, "/chat/completions"):
		return openai{}
	case strings.HasSuffix(path, "/v1/responses"):
		return responses{}
	}
	return nil
}

func countPath(path string) bool { return strings.HasSuffix(path, "/v1/messages/count_tokens") }

// items returns the elements of a content: the elements of an array, or a single text.
func items(content json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(content, &list) == nil {
		return list
	}
	return []json.RawMessage{content}
}

// textOf returns the text of a content item, or of a content as a whole.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var b strings.Builder
		for _, item := range list {
			b.WriteString(textOf(item))
		}
		return b.String()
	}
	var block struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &block) != nil {
		return ""
	}
	if block.Content != nil {
		return textOf(block.Content)
	}
	return block.Text
}

// output counts the tokens of an answer without its reasoning.
func (r Reply) output() int {
	n := len(r.Text)
	for _, c := range r.Calls {
		n += len(c.Name) + len(c.input())
	}
	return n/4 + 1
}

// events writes server-sent events and flushes each event.
type events struct{ w http.ResponseWriter }

func newEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return events{w}
}

func (e events) send(name string, v any) {
	var b strings.Builder
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own maps of strings and numbers
	}
	b.WriteString("data: " + string(data) + "\n\n")
	e.raw(b.String())
}

func (e events) raw(s string) {
	e.w.Write([]byte(s))
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}
