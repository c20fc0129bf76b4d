package telemetry_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/verbs"
	server "github.com/memkernel/memkernel/service/internal/verbs"
	"github.com/memkernel/memkernel/service/telemetry"
)

// command is a program with the verbs that export.
var command = &cli.Program{Name: "memkernel-server", Opening: func(*cobra.Command) string { return "" }, Groups: []cli.Group{{ID: "hosts", Verbs: []cli.Verb{
	cli.NewVerb("serve", "serve", func(a *cli.App) *cobra.Command { return server.Serve(a) }, ""),
	cli.NewVerb("proxy", "proxy", verbs.Proxy(telemetry.Open), ""),
}}}}

// canary is in everything that is said, and in the names of session, folder and key.
const canary = "kanarienvogel"

// running is a verb that runs.
type running struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	log    bytes.Buffer // to be read once it has ended
	cancel context.CancelFunc
	ended  chan int
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, send := io.Pipe()
	out, print := io.Pipe()
	r := &running{t: t, in: send, out: bufio.NewReader(out), cancel: cancel, ended: make(chan int, 1)}
	args = append(args, "--workspace", workspace(t))
	go func() {
		r.ended <- command.Run(ctx, &cli.UI{In: in, Out: print, Err: &r.log}, args)
		print.Close()
	}()
	return r
}

// end ends the verb as a signal does, and waits until it has sent everything.
func (r *running) end() {
	r.t.Helper()
	r.cancel()
	r.in.Close()
	_, _ = io.Copy(io.Discard, r.out)
	if code := <-r.ended; code != 0 {
		r.t.Errorf("exit %d: %s", code, r.log.String())
	}
}

// workspace has memory that a question finds.
func workspace(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), canary)
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "# Harbour\n\nThe " + canary + " lighthouse of Pellworm was built in 1907 by engineer Ohlsen.\n"
	if err := os.WriteFile(filepath.Join(dir, "memory", "harbour.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// stage is a model and a proxy in front of it.
type stage struct {
	*running
	model *fakemodel.Server
	url   string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{model: fakemodel.New(fakemodel.Options{Script: answers})}
	up := httptest.NewServer(s.model)
	t.Cleanup(up.Close)
	s.running = start(t, "proxy", "--upstream", up.URL, "--listen", "127.0.0.1:0", "--context-window", "12k", "--json")
	var doc struct{ URL string }
	if err := json.NewDecoder(s.out).Decode(&doc); err != nil {
		t.Fatalf("%v: %s", err, s.log.String())
	}
	s.url = doc.URL
	return s
}

func (s *stage) post(path, body string, headers ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("X-Memkernel-Session", canary)
	r.Header.Set("X-Api-Key", canary+"-key")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func request(model string, stream bool, messages []string) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":500,"stream":%v,"system":[{"type":"text","text":"You are a tester.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"Read","description":"read","input_schema":{"type":"object"}}],"messages":[%s]}`,
		model, stream, strings.Join(messages, ","))
}

const known = "claude-sonnet-4-6"

// work holds a conversation that is cut and recalls, with a call in it that is made twice, a
// refusal, a count, a request that can't be read and a model that nobody knows.
func (s *stage) work() {
	s.t.Helper()
	var msgs []string
	for i := range 8 {
		words := fmt.Sprintf("step %d, please", i)
		if i == 1 {
			words = "Who built the lighthouse of Pellworm, the " + canary + "?"
		}
		msgs = append(msgs, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q}]}`, words))
		if status, text := s.post("/v1/messages", request(known, i%2 == 0, msgs)); status != http.StatusOK {
			s.t.Fatalf("turn %d: %d %s", i, status, text)
		}
		file := i % 4 // the same is read again when it has left
		msgs = append(msgs, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"Read","input":{"file_path":"/%s/part%d.go"}}]}`, i, canary, file),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":%q}]}`, i, big(file)))
		if status, text := s.post("/v1/messages", request(known, true, msgs)); status != http.StatusOK {
			s.t.Fatalf("turn %d: %d %s", i, status, text)
		}
		msgs = append(msgs, `{"role":"assistant","content":[{"type":"text","text":"ok"}]}`)
	}
	s.post("/v1/messages", request(known, false, append(slices.Clone(msgs), `{"role":"user","content":"overload"}`)))
	s.post("/v1/messages/count_tokens", request(known, false, append(slices.Clone(msgs), `{"role":"user","content":"how large?"}`)))
	s.post("/v1/messages", `{"model":`) // the model refuses it
	s.post("/v1/messages", request("model-of-"+canary, false, []string{`{"role":"user","content":"hello"}`}), "X-Memkernel-Session", canary+"2")
}

func big(seed int) string {
	var b strings.Builder
	for i := 0; b.Len() < 4_000; i++ {
		fmt.Fprintf(&b, "part%d/%s%03d.go:%d: func work%d_%d() error\n", seed, canary, i, i*7, seed, i)
	}
	return b.String()
}

// answers is the model's script.
func answers(turn fakemodel.Turn) fakemodel.Reply {
	switch {
	case strings.Contains(turn.User, "overload"):
		return fakemodel.Reply{Status: 529, Kind: "overloaded_error", Error: "too much " + canary}
	case len(turn.Results) == 0 && strings.Contains(turn.User, "please"):
		return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "call_x", Name: "Read"}}}
	}
	return fakemodel.Reply{Text: "ok"}
}

// TestHelp: the help of verbs that export says how, and that of memkernel's does not.
func TestHelp(t *testing.T) {
	for verb, long := range map[string][2]string{
		"serve": {server.Serve(&cli.App{}).Long, verbs.Serve(&cli.App{}).Long},
		"proxy": {verbs.Proxy(telemetry.Open)(&cli.App{}).Long, verbs.Proxy(nil)(&cli.App{}).Long},
	} {
		const variable = "OTEL_EXPORTER_OTLP_ENDPOINT"
		if !strings.Contains(long[0], variable) || strings.Contains(long[1], variable) {
			t.Errorf("%s: %q, without an exporter %q", verb, long[0], long[1])
		}
	}
}

// TestExport: a collector that the environment names gets a span for every call, by the
// conventions, with what the model billed and the kernel's work below it, and all metrics.
func TestExport(t *testing.T) {
	clean(t)
	c, at := newCollector(t, httptest.NewServer)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-team = blue")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "my-agents")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	s := newStage(t)
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	s.post("/v1/messages", request(known, true, []string{`{"role":"user","content":"hello"}`}), "X-Memkernel-Session", "first", "Traceparent", "00-"+trace+"-"+parent+"-01")
	s.work()
	s.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.header.Get("Authorization") != "Bearer abc" || c.header.Get("X-Team") != "blue" {
		t.Errorf("headers %v", c.header)
	}
	if len(c.of) == 0 {
		t.Fatal("no spans came")
	}
	if got := attrs(c.of[0].Resource.Attributes); got["service.name"] != "my-agents" || got["deployment.environment.name"] != "test" || got["service.version"] != cli.Build().Version {
		t.Errorf("resource %v", got)
	}
	if strings.Contains(strings.ToLower(c.raw.String()), canary+"-key") || strings.Contains(c.raw.String(), "lighthouse") {
		t.Error("a span quotes what was said")
	}

	// Calls, by their spans.
	var calls, memory, plans []*traces.Span
	ids := map[string]*traces.Span{}
	for _, span := range c.spans {
		ids[string(span.SpanId)] = span
		switch {
		case span.Kind == traces.Span_SPAN_KIND_CLIENT:
			calls = append(calls, span)
		case span.Name == "search_memory":
			memory = append(memory, span)
		case span.Name == "memkernel.plan":
			plans = append(plans, span)
		}
	}
	slices.SortFunc(calls, func(a, b *traces.Span) int {
		return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano))
	})
	var billed []int // requests that were answered, in order
	requests := s.model.Requests()
	for i := range requests {
		if !requests[i].Refused {
			billed = append(billed, i)
		}
	}
	for _, span := range calls {
		a := attrs(span.Attributes)
		if a["gen_ai.operation.name"] == "count_tokens" || a["error.type"] != nil {
			continue
		}
		if len(billed) == 0 {
			t.Fatal("more spans than calls")
		}
		r := requests[billed[0]]
		billed = billed[1:]
		if span.Name != "chat "+r.Model || a["gen_ai.request.model"] != r.Model || a["gen_ai.provider.name"] != "anthropic" || a["gen_ai.request.stream"] != r.Stream {
			t.Errorf("%s %v", span.Name, a)
		}
		u := r.Usage
		if a["gen_ai.usage.input_tokens"] != int64(u.Input()) || a["gen_ai.usage.cache_read.input_tokens"] != int64(u.Read) ||
			a["gen_ai.usage.cache_creation.input_tokens"] != int64(u.Written) || a["gen_ai.usage.output_tokens"] != int64(u.Output) {
			t.Errorf("billed %+v, the span has %v", u, a)
		}
		if span.EndTimeUnixNano < span.StartTimeUnixNano {
			t.Error("a span ends before it begins")
		}
	}
	if len(billed) > 0 {
		t.Errorf("%d calls have no span", len(billed))
	}
	first := calls[0]
	if got := attrs(first.Attributes); hex.EncodeToString(first.TraceId) != trace || hex.EncodeToString(first.ParentSpanId) != parent || got["server.address"] != "127.0.0.1" || got["gen_ai.response.time_to_first_chunk"] == nil {
		t.Errorf("trace %s, parent %s, %v", hex.EncodeToString(first.TraceId), hex.EncodeToString(first.ParentSpanId), got)
	}
	refused := false
	for _, span := range calls {
		a := attrs(span.Attributes)
		if a["error.type"] == "529" {
			refused = true
			if span.Status.GetCode() != traces.Status_STATUS_CODE_ERROR || strings.Contains(span.Status.GetMessage(), canary) || a["http.response.status_code"] != int64(529) {
				t.Errorf("%v %v", span.Status, a)
			}
		}
	}
	if !refused {
		t.Error("the refused call has no span with its error")
	}
	// The kernel's work is below calls.
	if len(plans) == 0 || len(memory) == 0 {
		t.Fatalf("%d plans and %d searches have spans", len(plans), len(memory))
	}
	for _, span := range append(plans, memory...) {
		if p := ids[string(span.ParentSpanId)]; p == nil || p.Kind != traces.Span_SPAN_KIND_CLIENT || string(p.TraceId) != string(span.TraceId) {
			t.Errorf("%s is below %v", span.Name, p)
		}
	}
	found := false
	for _, span := range memory {
		a := attrs(span.Attributes)
		n, _ := a["gen_ai.memory.record.count"].(int64)
		found = found || n > 0
		if a["gen_ai.operation.name"] != "search_memory" || a["gen_ai.memory.query.text"] != nil {
			t.Errorf("%v", a)
		}
	}
	if !found {
		t.Error("no search found anything, by its span")
	}

	// Metrics.
	var sum float64
	for _, p := range c.points["memkernel.tokens"].GetSum().GetDataPoints() {
		if attrs(p.Attributes)["kind"] == "cache_read" {
			sum += p.GetAsDouble()
		}
	}
	var read float64
	for _, r := range requests {
		read += float64(r.Usage.Read)
	}
	if sum != read {
		t.Errorf("%v tokens were read from the cache, want %v", sum, read)
	}
	h := c.points["memkernel.plan.duration"].GetHistogram().GetDataPoints()
	if len(h) == 0 || h[0].Count == 0 || len(h[0].BucketCounts) != len(h[0].ExplicitBounds)+1 || c.points["memkernel.plan.duration"].Unit != "s" {
		t.Errorf("plans: %v", h)
	}
	if c.points["memkernel.thrash.index"].GetGauge() == nil {
		t.Error("no gauge came")
	}
}

// TestDaemonSpans: a daemon's calls are spans with the kernel's work below them, and hold no
// word of it; sent by gRPC as well as by HTTP.
func TestDaemonSpans(t *testing.T) {
	clean(t)
	c, at := newCollector(t, httptest.NewServer)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", at.URL+"/v1/traces")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	daemon(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.points) > 0 {
		t.Error("metrics were exported to where spans go")
	}
	names := map[string]int{}
	ids := map[string]*traces.Span{}
	for _, span := range c.spans {
		names[span.Name]++
		ids[string(span.SpanId)] = span
	}
	for name, n := range map[string]int{"plan": 7, "observe_turn": 12, "search": 2, "search_memory": 1, "create_memory": 1, "memkernel.plan": 7, "memkernel.observe_turn": 12, "memkernel.compact": 1} {
		if names[name] < n || name != "search_memory" && names[name] > n {
			t.Errorf("%d spans of %s, want %d (%v)", names[name], name, n, names)
		}
	}
	usage := 0
	for _, span := range c.spans {
		a := attrs(span.Attributes)
		if span.Name == "memkernel.observe_turn" {
			if p := ids[string(span.ParentSpanId)]; p == nil || p.Name != "observe_turn" {
				t.Errorf("below %v", p)
			}
			if a["gen_ai.usage.input_tokens"] == int64(160) && a["gen_ai.usage.cache_read.input_tokens"] == int64(40) {
				usage++
			}
		}
	}
	if usage != 6 {
		t.Errorf("%d spans have usage", usage)
	}
	// The name of a model is not content, and the only thing that a host writes here.
	if raw := strings.ReplaceAll(c.raw.String(), "model-of-"+canary, ""); strings.Contains(strings.ToLower(raw), canary) {
		t.Error("a span quotes what was said or named")
	}
}

// daemon runs a daemon that plans, observes bills, searches, remembers, compacts and fails.
func daemon(t *testing.T) {
	t.Helper()
	r := start(t, "serve", "--stdio")
	d := &client{t, json.NewEncoder(r.in), json.NewDecoder(r.out), 0}
	d.work()
	r.end()
}

// client calls a daemon.
type client struct {
	t   *testing.T
	in  *json.Encoder
	out *json.Decoder
	n   int
}

// call makes a call and returns the code of its error, "" if it has none.
func (d *client) call(method string, params any) string {
	d.t.Helper()
	d.n++
	if err := d.in.Encode(map[string]any{"jsonrpc": "2.0", "id": d.n, "method": method, "params": params}); err != nil {
		d.t.Fatal(err)
	}
	for {
		var r struct {
			ID    any
			Error *struct{ Data struct{ Code string } }
		}
		if err := d.out.Decode(&r); err != nil {
			d.t.Fatal(err)
		}
		switch {
		case r.ID == nil:
		case r.Error != nil:
			return r.Error.Data.Code
		default:
			return ""
		}
	}
}

func (d *client) work() {
	d.t.Helper()
	var msgs []any
	for i := range 6 {
		msgs = append(msgs, map[string]any{"role": "user", "content": fmt.Sprintf("step %d of the %s: %s", i, canary, big(i))})
		conversation := map[string]any{"dialect": "anthropic", "messages": msgs}
		if code := d.call("plan", map[string]any{"session_key": canary, "model": known, "context_window": 64_000, "private": true, "conversation": conversation}); code != "" {
			d.t.Fatal(code)
		}
		msgs = append(msgs, map[string]any{"role": "assistant", "content": "ok"})
		conversation["messages"] = msgs
		turn := map[string]any{"session_key": canary, "model": known, "private": true, "conversation": conversation,
			"usage": map[string]any{"input_tokens": 100, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 20, "output_tokens": 7}}
		for range 2 { // what is delivered again is billed once
			if code := d.call("observe_turn", turn); code != "" {
				d.t.Fatal(code)
			}
		}
	}
	for _, c := range []struct {
		method string
		params map[string]any
		code   string
	}{
		{"search", map[string]any{"query": "who built the lighthouse of Pellworm", "private": true}, ""},
		{"compact", map[string]any{"session_key": canary, "private": true}, ""},
		{"remember", map[string]any{"session_key": canary, "private": true, "text": "The " + canary + " sings."}, ""},
		{"get", map[string]any{"session_key": canary, "id": "pg_" + canary}, ""},
		{"no_" + canary, nil, "UNKNOWN_METHOD"},
		{"search", map[string]any{"query": ""}, "INVALID_PARAMS"},
		{"plan", map[string]any{"session_key": "x", "model": "model-of-" + canary, "prompt": "hello", "context_window": 4, "reserve": 3}, "BUDGET_INSUFFICIENT"},
	} {
		if code := d.call(c.method, c.params); code != c.code {
			d.t.Fatalf("%s: %q, want %q", c.method, code, c.code)
		}
	}
}
