package picoclaw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/integrations/picoclaw"
	"github.com/memkernel/memkernel/internal/fakemodel"
)

// message has the shape of PicoClaw's: chat completions, members beside, and some
// that its JSON leaves out.
type message struct {
	Role             string   `json:"role"`
	Content          string   `json:"content"`
	Media            []string `json:"media,omitempty"`
	ReasoningContent string   `json:"reasoning_content,omitempty"`
	ToolCalls        []call   `json:"tool_calls,omitempty"`
	ToolCallID       string   `json:"tool_call_id,omitempty"`
	Sender           string   `json:"sender,omitempty"`
	Shown            string   `json:"-"`
}

type call struct {
	ID       string         `json:"id"`
	Type     string         `json:"type,omitempty"`
	Function *function      `json:"function,omitempty"`
	Args     map[string]any `json:"-"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// host does what PicoClaw's pipeline does with its context manager.
type host struct {
	t      *testing.T
	url    string
	window int
	mgr    *picoclaw.Manager[message]
	// record is the host's own, as its session file holds it.
	record map[string][]message
	tool   func(name, args string) string
	// retries counts the calls that were refused as too long.
	retries int
}

func newHost(t *testing.T, window int, model fakemodel.Options) (*host, *fakemodel.Server) {
	t.Helper()
	srv := fakemodel.New(model)
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	return &host{t: t, url: web.URL + "/v1/chat/completions", window: window, record: map[string][]message{}}, srv
}

const answerTokens = 1_000

func (h *host) history(key string) []message {
	// What a file gives back has no more than its JSON has.
	raw, err := json.Marshal(h.record[key])
	if err != nil {
		h.t.Fatal(err)
	}
	var out []message
	if err := json.Unmarshal(raw, &out); err != nil {
		h.t.Fatal(err)
	}
	return out
}

func (h *host) assemble(key string) []message {
	h.t.Helper()
	resp, err := h.mgr.Assemble(context.Background(), picoclaw.AssembleRequest{SessionKey: key, Budget: h.window, MaxTokens: answerTokens})
	if err != nil {
		h.t.Fatalf("assemble: %v", err)
	}
	if resp.Summary != "" {
		h.t.Fatalf("summary %q goes into the system prompt and breaks the cache", resp.Summary)
	}
	return resp.History
}

func (h *host) keep(key string, m message) {
	h.t.Helper()
	h.record[key] = append(h.record[key], m)
	if err := h.mgr.Ingest(context.Background(), picoclaw.IngestRequest[message]{SessionKey: key, Message: m}); err != nil {
		h.t.Fatalf("ingest: %v", err)
	}
}

func (h *host) prompt(history []message, user string) []message {
	out := append([]message{{Role: "system", Content: "You are PicoClaw, an assistant of few words."}}, history...)
	if user != "" {
		out = append(out, message{Role: "user", Content: user})
	}
	return out
}

// turn runs a user's turn to its end.
func (h *host) turn(key, user string) string {
	h.t.Helper()
	prompt := h.prompt(h.assemble(key), user)
	h.keep(key, message{Role: "user", Content: user})
	for range 20 {
		answer, refused := h.ask(prompt)
		if refused {
			h.retries++
			h.t.Logf("refused: %d messages", len(prompt))
			if err := h.mgr.Compact(context.Background(), picoclaw.CompactRequest{SessionKey: key, Reason: picoclaw.Retry, Budget: h.window}); err != nil {
				h.t.Logf("compact: %v", err)
			}
			prompt = h.prompt(h.assemble(key), "")
			continue
		}
		answer.Shown = "kept in memory"
		h.keep(key, answer)
		if len(answer.ToolCalls) == 0 {
			if err := h.mgr.Compact(context.Background(), picoclaw.CompactRequest{SessionKey: key, Reason: picoclaw.Summarize, Budget: h.window}); err != nil {
				h.t.Fatalf("compact at a turn's end: %v", err)
			}
			return answer.Content
		}
		prompt = append(prompt, answer)
		for _, c := range answer.ToolCalls {
			result := message{Role: "tool", ToolCallID: c.ID, Content: h.tool(c.Function.Name, c.Function.Arguments), Sender: c.Function.Name}
			prompt = append(prompt, result)
			h.keep(key, result)
		}
	}
	h.t.Fatalf("turn %q has no end", user)
	return ""
}

// ask calls the model. refused reports whether the request was too long.
func (h *host) ask(prompt []message) (answer message, refused bool) {
	h.t.Helper()
	body, err := json.Marshal(map[string]any{"model": "fake", "messages": prompt, "max_tokens": answerTokens,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "read_file", "parameters": map[string]any{"type": "object"}}}}})
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := http.Post(h.url, "application/json", bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		if !strings.Contains(string(got), "context") {
			h.t.Fatalf("model: %s: %s", resp.Status, got)
		}
		return message{}, true
	}
	var out struct {
		Choices []struct{ Message message }
	}
	if err := json.Unmarshal(got, &out); err != nil || len(out.Choices) != 1 {
		h.t.Fatalf("model: %v: %s", err, got)
	}
	return out.Choices[0].Message, false
}

// reads has the model read two files a turn, one after the other, and then answer.
func reads(t fakemodel.Turn) fakemodel.Reply {
	if len(t.Results) == 0 {
		return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "read_file", Input: json.RawMessage(fmt.Sprintf(`{"path":"a%d.txt"}`, t.N))}}}
	}
	if !strings.Contains(t.Results[len(t.Results)-1], "second") {
		return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "read_file", Input: json.RawMessage(fmt.Sprintf(`{"path":"b%d.txt"}`, t.N))}}}
	}
	return fakemodel.Reply{Text: fmt.Sprintf("Both files are read, answer %d.", t.N)}
}

// files answers reads with texts that differ by a number.
func files(lines int) func(name, args string) string {
	n := 0
	return func(string, string) string {
		n++
		which := "first"
		if n%2 == 0 {
			which = "second"
		}
		var b strings.Builder
		fmt.Fprintf(&b, "the %s file of serial-%04d\n", which, n)
		for i := range lines {
			fmt.Fprintf(&b, "line %d of serial-%04d says that gauge %d stood at %d\n", i, n, i*7%13, n*i%97)
		}
		return b.String()
	}
}
