package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/summary"
)

const testKey = "sk-test-0123456789abcdef"

// asked is a request as a fake server saw it.
type asked struct {
	Path   string
	Header http.Header
	Body   map[string]any
}

// shape is a provider's API: how a text is answered, and what a request is.
type shape struct {
	provider, path string
	answer         func(text, stop string) string
	stopLength     string
	stopDeclined   string
	key            func(http.Header) string
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

var shapes = []shape{
	{providerOpenAI, "/chat/completions", func(text, stop string) string {
		return fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%s}],"usage":{"prompt_tokens":11,"completion_tokens":7}}`, quoted(text), quoted(stop))
	}, "length", "content_filter", func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }},
	{providerAnthropic, "/v1/messages", func(text, stop string) string {
		return fmt.Sprintf(`{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":%s}],"stop_reason":%s,"usage":{"input_tokens":11,"output_tokens":7}}`, quoted(text), quoted(stop))
	}, "max_tokens", "refusal", func(h http.Header) string { return h.Get("X-Api-Key") }},
}

// serve starts a fake server for one shape and a model that asks it.
func serve(t *testing.T, s shape, timeout time.Duration, answer func(w http.ResponseWriter, r *http.Request)) (summary.Model, func() []asked) {
	t.Helper()
	var mu sync.Mutex
	var seen []asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{Path: r.URL.Path, Header: r.Header}
		json.NewDecoder(r.Body).Decode(&a.Body)
		mu.Lock()
		seen = append(seen, a)
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("TEST_KEY", testKey)
	m, err := FromConfig(Config{Provider: s.provider, BaseURL: server.URL, Model: "small", APIKeyEnv: "TEST_KEY", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return m, func() []asked { mu.Lock(); defer mu.Unlock(); return slices.Clone(seen) }
}

var prompt = summary.Prompt{System: "be brief", User: "what was said", MaxTokens: 100, Limit: 4 << 10}

func TestComplete(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.provider, func(t *testing.T) {
			m, seen := serve(t, s, time.Minute, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s.answer(`{"ops":[]}`, "stop")) })
			got, err := m.Complete(t.Context(), prompt)
			if err != nil || got.Text != `{"ops":[]}` || got.InputTokens != 11 || got.OutputTokens != 7 {
				t.Fatalf("got %+v, %v", got, err)
			}
			if len(seen()) != 1 {
				t.Fatalf("%d requests", len(seen()))
			}
			a := seen()[0]
			body, _ := json.Marshal(a.Body)
			if a.Path != s.path || s.key(a.Header) != testKey || a.Body["model"] != "small" || a.Body["max_tokens"] != 100.0 ||
				!strings.Contains(string(body), "be brief") || !strings.Contains(string(body), "what was said") {
				t.Errorf("the request is %s %v %s", a.Path, a.Header, body)
			}
			if printed := fmt.Sprintf("%v %+v %s", m, m, m.Name()); strings.Contains(printed, testKey) || !strings.HasPrefix(m.Name(), "small at http://127.0.0.1") {
				t.Errorf("printed as %s", printed)
			}
		})
	}
}

// TestRudeServers: every way in which a server can be of no use has its reason,
// none makes a second request, and none shows the key.
func TestRudeServers(t *testing.T) {
	status := func(code int, header, value string) func(shape) http.HandlerFunc {
		return func(shape) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(header, value)
				w.WriteHeader(code)
				io.WriteString(w, `{"error":{"message":"no: `+testKey+`\u001b[31m"}}`)
			}
		}
	}
	says := func(answer func(shape) string) func(shape) http.HandlerFunc {
		return func(s shape) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer(s)) }
		}
	}
	for name, c := range map[string]struct {
		server func(shape) http.HandlerFunc
		want   summary.Reason
		after  time.Duration
	}{
		"rate limited":     {status(429, "Retry-After", "90"), summary.ReasonRateLimited, 90 * time.Second},
		"no number":        {status(429, "Retry-After", "soon"), summary.ReasonRateLimited, 0},
		"overloaded":       {status(529, "X", ""), summary.ReasonServer, 0},
		"broken":           {status(500, "X", ""), summary.ReasonServer, 0},
		"unavailable":      {status(503, "Retry-After", "7"), summary.ReasonServer, 7 * time.Second},
		"bad request":      {status(400, "X", ""), summary.ReasonRefused, 0},
		"unauthorized":     {status(401, "X", ""), summary.ReasonRefused, 0},
		"elsewhere":        {status(307, "Location", "http://127.0.0.1:1/v1"), summary.ReasonRefused, 0},
		"request timeout":  {status(408, "X", ""), summary.ReasonTimeout, 0},
		"empty text":       {says(func(s shape) string { return s.answer(" \n", "stop") }), summary.ReasonEmpty, 0},
		"no choices":       {says(func(shape) string { return `{}` }), summary.ReasonEmpty, 0},
		"cut off":          {says(func(s shape) string { return s.answer(`{"ops":[`, s.stopLength) }), summary.ReasonTooLarge, 0},
		"declined":         {says(func(s shape) string { return s.answer("", s.stopDeclined) }), summary.ReasonRefused, 0},
		"over the limit":   {says(func(s shape) string { return s.answer(strings.Repeat("x", 5<<10), "stop") }), summary.ReasonTooLarge, 0},
		"200 KB":           {says(func(s shape) string { return s.answer(strings.Repeat("x", 200<<10), "stop") }), summary.ReasonTooLarge, 0},
		"no JSON":          {says(func(shape) string { return "<html>gateway</html>" }), summary.ReasonInvalid, 0},
		"another type":     {says(func(shape) string { return `{"choices":7,"content":7}` }), summary.ReasonInvalid, 0},
		"nothing":          {says(func(shape) string { return "" }), summary.ReasonInvalid, 0},
		"half JSON":        {says(func(s shape) string { a := s.answer("text", "stop"); return a[:len(a)/2] }), summary.ReasonUnreachable, 0},
		"hangs":            {func(shape) http.HandlerFunc { return hang }, summary.ReasonTimeout, 0},
		"closes":           {func(shape) http.HandlerFunc { return hangUp }, summary.ReasonUnreachable, 0},
		"hangs in between": {func(shape) http.HandlerFunc { return hangInBetween }, summary.ReasonTimeout, 0},
	} {
		for _, s := range shapes {
			t.Run(name+"/"+s.provider, func(t *testing.T) {
				patience := time.Minute
				if c.want == summary.ReasonTimeout {
					patience = 300 * time.Millisecond
				}
				m, seen := serve(t, s, patience, c.server(s))
				got, err := m.Complete(t.Context(), prompt)
				var e *summary.ModelError
				if !errors.As(err, &e) || e.Reason != c.want || e.RetryAfter != c.after || got.Text != "" {
					t.Fatalf("got %q, %v; want %s after %v", got.Text, err, c.want, c.after)
				}
				if len(seen()) != 1 || strings.Contains(err.Error(), testKey) || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 1000 {
					t.Errorf("%d requests, %v", len(seen()), err)
				}
			})
		}
	}
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

func hangInBetween(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, `{"choices":[`)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func TestCancelled(t *testing.T) {
	for _, s := range shapes {
		ctx, cancel := context.WithCancel(t.Context())
		m, _ := serve(t, s, time.Minute, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
		_, err := m.Complete(ctx, prompt)
		if e := summary.Explain(err); e.Reason != "CANCELLED" {
			t.Errorf("%s: got %v", s.provider, err)
		}
	}
}

// TestTheirOwnLimit: reasoning families and the provider's own host take
// max_completion_tokens.
func TestTheirOwnLimit(t *testing.T) {
	m, seen := serve(t, shapes[0], time.Minute, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, shapes[0].answer("x", "stop")) })
	m.(*openAI).model = "gpt-5-nano"
	if _, err := m.Complete(t.Context(), prompt); err != nil || seen()[0].Body["max_completion_tokens"] != 100.0 || seen()[0].Body["max_tokens"] != nil {
		t.Errorf("%v, asked %v", err, seen())
	}
}

func TestFromConfig(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		env    map[string]string
		model  string // its name, "" if there is none
		want   string // in the error
	}{
		"nothing":             {Config{}, map[string]string{"OPENAI_API_KEY": testKey, "ANTHROPIC_API_KEY": testKey}, "", ""},
		"none":                {Config{Provider: "none", BaseURL: "::"}, nil, "", ""},
		"auto is no choice":   {Config{Provider: "auto"}, map[string]string{"OPENAI_API_KEY": testKey}, "", "use openai, anthropic or none"},
		"openai":              {Config{Provider: "openai"}, map[string]string{"OPENAI_API_KEY": " " + testKey + "\n"}, "gpt-5-nano at https://api.openai.com/v1", ""},
		"anthropic":           {Config{Provider: "anthropic"}, map[string]string{"ANTHROPIC_API_KEY": testKey}, "claude-haiku-5-5 at https://api.anthropic.com", ""},
		"no key":              {Config{Provider: "anthropic"}, map[string]string{"OPENAI_API_KEY": testKey}, "", "ANTHROPIC_API_KEY"},
		"another host":        {Config{Provider: "openai", BaseURL: "https://a.example/v1"}, nil, "", "name one that https://a.example/v1 serves"},
		"looks alike":         {Config{Provider: "openai", BaseURL: "https://api.openai.com.example"}, map[string]string{"OPENAI_API_KEY": testKey}, "", "name one that"},
		"this machine":        {Config{Provider: "openai", BaseURL: "http://localhost:11434/v1/", Model: "qwen"}, nil, "qwen at http://localhost:11434/v1", ""},
		"in the clear":        {Config{Provider: "openai", BaseURL: "http://10.0.0.1/v1", Model: "qwen"}, nil, "", "set allow_insecure"},
		"in the clear, said":  {Config{Provider: "openai", BaseURL: "http://10.0.0.1/v1", Model: "qwen", AllowInsecure: true}, nil, "qwen at http://10.0.0.1/v1", ""},
		"a password":          {Config{Provider: "openai", BaseURL: "https://u:sk-secret@a.example", Model: "m"}, nil, "", "api_key_env"},
		"a query":             {Config{Provider: "openai", BaseURL: "https://a.example/?k=1", Model: "m"}, nil, "", "behind ?"},
		"no scheme":           {Config{Provider: "openai", BaseURL: "a.example", Model: "m"}, nil, "", "https://"},
		"a key on two lines":  {Config{Provider: "openai"}, map[string]string{"OPENAI_API_KEY": "sk-secret\nsk-secret"}, "", "OPENAI_API_KEY is no API key"},
		"a model with spaces": {Config{Provider: "openai", BaseURL: "https://a.example", Model: "a b"}, nil, "", "name one"},
		"negative timeout":    {Config{Provider: "openai", BaseURL: "https://a.example", Model: "m", Timeout: -1}, nil, "", "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, env := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
				t.Setenv(env, c.env[env])
			}
			m, err := FromConfig(c.config)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("error %v, want %q in it", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("a secret is in %v", err)
			}
			if m == nil && c.model != "" || m != nil && m.Name() != c.model {
				t.Errorf("got %v, want %q", m, c.model)
			}
		})
	}
}
