package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// stage is a model server, a proxy in front of it and the kernel behind that.
type stage struct {
	t     *testing.T
	model *fakemodel.Server
	up    *httptest.Server
	front *httptest.Server
	proxy *proxy.Proxy
	k     *kernel.Kernel
	dir   string
	log   *syncBuffer
}

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newStage starts all three. A handler in place of the model may be given.
func newStage(t *testing.T, fake fakemodel.Options, opt proxy.Options, upstream http.Handler) *stage {
	t.Helper()
	s := &stage{t: t, model: fakemodel.New(fake), dir: t.TempDir(), log: &syncBuffer{}}
	if upstream == nil {
		upstream = s.model
	}
	s.up = httptest.NewServer(upstream)
	t.Cleanup(s.up.Close)
	var err error
	if s.k, err = kernel.Open(context.Background(), s.dir, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.k.Close() })
	s.start(s.k, opt)
	return s
}

func (s *stage) start(p proxy.Planner, opt proxy.Options) {
	s.t.Helper()
	opt.Upstream, opt.Private = s.up.URL, true
	opt.Logger = slog.New(slog.NewTextHandler(s.log, nil))
	if opt.Deadline == 0 {
		opt.Deadline = 5 * time.Minute // the machine may be busy
	}
	switch opt.ContextWindow {
	case 0:
		opt.ContextWindow = 32_000
	case -1:
		opt.ContextWindow = 0 // the price book's
	}
	var err error
	if s.proxy, err = proxy.New(p, opt); err != nil {
		s.t.Fatal(err)
	}
	s.front = httptest.NewServer(s.proxy)
	s.t.Cleanup(s.front.Close)
	s.t.Cleanup(s.settle)
}

// settle waits until all is observed.
func (s *stage) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := s.proxy.Close(ctx); err != nil {
		s.t.Error(err)
	}
}

// reply is an answer as a client gets it.
type reply struct {
	status int
	header http.Header
	body   string
}

func (s *stage) post(path, body string, header ...string) reply {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.front.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

// outcome is the header by which the proxy reports what it did.
func (r reply) outcome() string { return r.header.Get("X-Memkernel") }

func (r reply) planned(t *testing.T) {
	t.Helper()
	if r.status != http.StatusOK || !strings.HasPrefix(r.outcome(), "planned;") {
		t.Fatalf("status %d, outcome %q: %s", r.status, r.outcome(), r.body)
	}
}

// clientAPI is what a client needs of a protocol.
type clientAPI struct {
	path string
	head string // members before the messages
	// user, call, result and said are messages in the client's own bytes.
	user, said   func(text string) string
	call, result func(id, text string) string
	// list is the member that holds them, "" for messages.
	list string
	// streams is the path of streamed calls, "" where a member asks for them.
	streams string
}

var anthropic = clientAPI{
	path: "/v1/messages",
	head: `"model":"claude-sonnet-4-6", "max_tokens":4096,"unknown_member":{"z":1,"a":2},"system":"You are a tester.","tools":[{"name":"Bash","description":"run","input_schema":{"type":"object"}}],`,
	user: func(t string) string { return fmt.Sprintf(`{ "role":"user","content":%q }`, t) },
	said: func(t string) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q}]}`, t)
	},
	call: func(id, t string) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}`, id, t)
	},
	result: func(id, t string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, t)
	},
}

var openai = clientAPI{
	path: "/v1/chat/completions",
	head: `"model":"gpt-5", "unknown_member":{"z":1,"a":2},"tools":[{"type":"function","function":{"name":"Bash","parameters":{"type":"object"}}}],`,
	user: func(t string) string { return fmt.Sprintf(`{ "role":"user","content":%q }`, t) },
	said: func(t string) string { return fmt.Sprintf(`{"role":"assistant","content":%q}`, t) },
	call: func(id, t string) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"Bash","arguments":%q}}]}`, id, fmt.Sprintf(`{"command":%q}`, t))
	},
	result: func(id, t string) string { return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, t) },
}

var responses = clientAPI{
	path: "/v1/responses",
	list: "input",
	head: `"model":"gpt-5", "store":false,"unknown_member":{"z":1,"a":2},"instructions":"You are a tester.","tools":[{"type":"function","name":"Bash","parameters":{"type":"object"}}],`,
	user: func(t string) string { return fmt.Sprintf(`{ "role":"user","content":%q }`, t) },
	said: func(t string) string {
		return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q,"annotations":[]}]}`, t)
	},
	call: func(id, t string) string {
		return fmt.Sprintf(`{"type":"reasoning","id":"rs_%s","summary":[],"encrypted_content":"eeee"},  {"type":"function_call","call_id":%q,"name":"Bash","arguments":%q}`, id, id, fmt.Sprintf(`{"command":%q}`, t))
	},
	result: func(id, t string) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, t)
	},
}

var gemini = clientAPI{
	path:    "/v1beta/models/gemini-3-flash:generateContent",
	streams: "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
	list:    "contents",
	head:    `"unknownMember":{"z":1,"a":2},"system_instruction":{"parts":[{"text":"You are a tester."}]},"tools":[{"functionDeclarations":[{"name":"Bash","description":"run","parameters":{"type":"OBJECT"}}]}],"generationConfig":{ "temperature":1 },`,
	user:    func(t string) string { return fmt.Sprintf(`{ "role":"user","parts":[ {"text":%q} ]}`, t) },
	said: func(t string) string {
		return fmt.Sprintf(`{"role":"model","parts":[{"text":%q},{"text":"","thoughtSignature":"ZW5k"}]}`, t)
	},
	call: func(id, t string) string {
		return fmt.Sprintf(`{"parts":[{"functionCall":{"args":{"command":%q},"name":"Bash"}, "thoughtSignature":"c2ln%s"}],"role":"model"}`, t, id)
	},
	result: func(_, t string) string {
		return fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"name":"Bash","response":{"output":%q}}}]}`, t)
	},
}

// at is the path of a call.
func (a clientAPI) at(stream bool) string {
	if stream && a.streams != "" {
		return a.streams
	}
	return a.path
}

func (a clientAPI) body(messages []string, stream bool) string {
	list := "messages"
	if a.list != "" {
		list = a.list
	}
	if a.streams != "" {
		return fmt.Sprintf("{%s\n %q:[%s]}", a.head, list, strings.Join(messages, ", "))
	}
	return fmt.Sprintf("{%s\"stream\":%v,\n %q:[%s]}", a.head, stream, list, strings.Join(messages, ", "))
}

// big is a tool's output of about n tokens, unlike any other.
func big(seed string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n*4; i++ {
		fmt.Fprintf(&b, "%s/file%03d.go:%d: func work%s%d() error\n", seed, i, i*7, seed, i)
	}
	return b.String()
}

// turns runs n turns of one tool call and one answer each, and returns the
// conversation.
func (s *stage) turns(a clientAPI, n int, header ...string) []string {
	s.t.Helper()
	var msgs []string
	for i := range n {
		msgs = append(msgs, a.user(fmt.Sprintf("please do step %d of the plan", i)))
		s.post(a.at(true), a.body(msgs, true), header...).planned(s.t)
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, a.call(id, fmt.Sprintf("cat part%d", i)), a.result(id, big(fmt.Sprintf("p%d", i), 900)))
		s.post(a.at(i%2 == 0), a.body(msgs, i%2 == 0), header...).planned(s.t)
		msgs = append(msgs, a.said(fmt.Sprintf("step %d is done", i)))
	}
	s.settle()
	return msgs
}

// script calls the tool for a user's words and answers its result, in the words of
// [stage.turns].
func script(turn fakemodel.Turn) fakemodel.Reply {
	if len(turn.Results) > 0 {
		return fakemodel.Reply{Text: stepOf(turn)}
	}
	return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "call_x", Name: "Bash", Input: json.RawMessage(`{"command":"cat part"}`)}}}
}

func stepOf(turn fakemodel.Turn) string {
	var n int
	fmt.Sscanf(turn.Results[0], "p%d/", &n)
	return fmt.Sprintf("step %d is done", n)
}
