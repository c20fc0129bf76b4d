package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// shelf is a model server that also describes its models, as the servers of the table do.
type shelf struct {
	model *fakemodel.Server
	lists map[string]string // by method and path

	mu    sync.Mutex
	asked []string // with the client's headers
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/chat/completions") || strings.HasSuffix(r.URL.Path, "/responses") || strings.HasSuffix(r.URL.Path, "/messages") || strings.HasSuffix(r.URL.Path, ":generateContent") {
		s.model.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s%s %s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Secret"), body)))
	s.mu.Unlock()
	answer, ok := s.lists[r.Method+" "+r.URL.Path]
	switch {
	case !ok:
		http.NotFound(w, r)
	default:
		io.WriteString(w, answer)
	}
}

// ask sends requests for a model and returns the window that each was planned with.
func (s *shelf) ask(t *testing.T, path, model string, opt proxy.Options, calls int) (windows []int, from api.WindowFrom) {
	t.Helper()
	s.model = fakemodel.New(fakemodel.Options{})
	var mu sync.Mutex
	opt.Billed = func(b proxy.Billed) {
		mu.Lock()
		defer mu.Unlock()
		windows, from = append(windows, b.Plan.Budgets.ContextWindow), b.Plan.Budgets.WindowFrom
	}
	st := newStage(t, fakemodel.Options{}, opt, s)
	list := "messages"
	if strings.HasSuffix(path, "/responses") {
		list = "input"
	}
	for i := range calls {
		body := fmt.Sprintf(`{"model":%q,"max_tokens":64,"tools":[{"type":"function","name":"Look","input_schema":{"type":"object"},"function":{"name":"Look","parameters":{"type":"object"}}}],%q:[{"role":"user","content":"what is on shelf %d?"}]}`, model, list, i)
		st.post(path, body, "Authorization", "Bearer k", "X-Secret", "of the client").planned(t)
	}
	st.settle()
	return windows, from
}

func TestServerWindow(t *testing.T) {
	const chat = "/v1/chat/completions"
	show := `{"parameters":"stop \"<|end|>\"\nnum_ctx                        16384","model_info":{"general.architecture":"barge","barge.context_length":131072,"barge.rope.original_context_length":2048}}`
	for _, c := range []struct {
		name, path, model string
		lists             map[string]string
		want              int
	}{
		{"OpenRouter", "/api" + chat, "harbour/barge-2", map[string]string{"GET /api/v1/models": `{"data":[{"id":"harbour/barge-1","context_length":9000},{"id":"harbour/barge-2","name":"Harbour: Barge 2","context_length":262144,"top_provider":{"context_length":131072}}]}`}, 131_072},
		{"vLLM", chat, "barge-2-awq", map[string]string{"GET /v1/models": `{"object":"list","data":[{"id":"barge-2-awq","max_model_len":40960}]}`}, 40_960},
		{"a hosted list", chat, "barge-2", map[string]string{"GET /v1/models": `{"data":[{"id":"barge-2","context_window":65536}]}`}, 65_536},
		{"messages", "/v1/messages", "barge-2", map[string]string{"GET /v1/models": `{"data":[{"id":"barge-2","max_input_tokens":50000}]}`}, 50_000},
		{"llama.cpp", chat, "whatever", map[string]string{"GET /v1/models": `{"data":[{"id":"/m/barge.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`, "GET /props": `{"default_generation_settings":{"n_ctx":24576}}`}, 24_576},
		{"llama.cpp without props", chat, "whatever", map[string]string{"GET /v1/models": `{"data":[{"id":"/m/barge.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`}, 131_072},
		{"Ollama", chat, "barge:8b", map[string]string{"GET /v1/models": `{"data":[{"id":"barge:8b"}]}`, "POST /api/show": show}, 16_384},
		{"Ollama without num_ctx", chat, "barge:8b", map[string]string{"POST /api/show": strings.Replace(show, "num_ctx", "top_k", 1)}, 131_072},
		{"Ollama with num_ctx over the model's", chat, "barge", map[string]string{"POST /api/show": `{"parameters":"num_ctx 65536","model_info":{"general.architecture":"barge","barge.context_length":32768}}`}, 65_536},
		{"Responses", "/openai/v1/responses", "barge-2", map[string]string{"GET /openai/v1/models": `{"data":[{"id":"barge-2","context_length":70000}]}`}, 70_000},
		{"LM Studio", chat, "barge-2", map[string]string{"GET /api/v0/models": `{"data":[{"id":"raft","max_context_length":4096},{"id":"barge-2","max_context_length":131072,"loaded_context_length":12288}]}`}, 12_288},
		{"LiteLLM", chat, "barge", map[string]string{"GET /v1/models": `{"data":[{"id":"barge"}]}`, "GET /model/info": `{"data":[{"model_name":"barge","model_info":{"max_tokens":4096,"max_input_tokens":98304}}]}`}, 98_304},
		{"of another model", chat, "barge-2", map[string]string{"GET /v1/models": `{"data":[{"id":"barge-20","context_length":9000}]}`}, 0},
		{"zero", chat, "barge-2", map[string]string{"GET /v1/models": `{"data":[{"id":"barge-2","context_length":0}]}`}, 0},
		{"negative", chat, "barge-2", map[string]string{"GET /v1/models": `{"data":[{"id":"barge-2","context_length":-8192}]}`}, 0},
		{"huge", chat, "barge-2", map[string]string{"GET /v1/models": `{"data":[{"id":"barge-2","context_length":1e18}]}`}, 0},
		{"HTML", chat, "barge-2", map[string]string{"GET /v1/models": `<html>context_length 8192</html>`, "GET /props": `[[[[`}, 0},
		{"null and text", chat, "barge-2", map[string]string{"GET /v1/models": `{"data":[null,7,{"id":"barge-2","context_length":"many"}]}`}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shelf{lists: c.lists}
			got, from := s.ask(t, c.path, c.model, proxy.Options{ContextWindow: -1}, 2)
			want := api.WindowServer
			if c.want == 0 {
				want = api.WindowUnknown
			}
			if len(got) != 2 || got[0] != c.want || got[1] != c.want || from != want {
				t.Errorf("planned with %d from %s, want %d; asked %q", got, from, c.want, s.asked)
			}
			seen := map[string]bool{}
			for _, a := range s.asked {
				if seen[a] || !strings.Contains(a, " Bearer k") || strings.Contains(a, "of the client") {
					t.Errorf("asked again, without the key or with more: %s", a)
				}
				seen[a] = true
			}
		})
	}
}

// A window that is known is not asked for.
func TestServerWindowKnown(t *testing.T) {
	for _, c := range []struct {
		model  string
		window int
	}{{"gpt-5", -1}, {"barge-2", 48_000}} {
		s := &shelf{}
		if got, _ := s.ask(t, "/v1/chat/completions", c.model, proxy.Options{ContextWindow: c.window}, 1); len(s.asked) > 0 || got[0] == 0 {
			t.Errorf("%s: planned with %d; asked %q", c.model, got, s.asked)
		}
	}
}

// Gemini's API describes the model of a path at the path without the method.
func TestServerWindowGemini(t *testing.T) {
	s := &shelf{model: fakemodel.New(fakemodel.Options{}), lists: map[string]string{"GET /v1beta/models/barge-2": `{"name":"models/barge-2","inputTokenLimit":32768,"outputTokenLimit":8192}`}}
	windows := make(chan int, 1)
	st := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: -1, Billed: func(b proxy.Billed) { windows <- b.Plan.Budgets.ContextWindow }}, s)
	st.post("/v1beta/models/barge-2:generateContent?key=k&alt=json", gemini.body([]string{gemini.user("what came in?")}, false)).planned(t)
	st.settle()
	if got := <-windows; got != 32_768 || !slices.Equal(s.asked, []string{"GET /v1beta/models/barge-2?key=k"}) {
		t.Errorf("planned with %d, asked %q", got, s.asked)
	}
}

// hasty is a transport whose questions fail at their deadline at once.
type hasty struct{ deadlines *[]bool }

func (h hasty) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		_, bounded := r.Context().Deadline()
		*h.deadlines = append(*h.deadlines, bounded)
		return nil, context.DeadlineExceeded
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A server that does not answer costs one bounded wait, and the request goes out.
func TestServerWindowHangs(t *testing.T) {
	s, deadlines := &shelf{}, []bool{}
	got, from := s.ask(t, "/v1/chat/completions", "barge-2", proxy.Options{ContextWindow: -1, Transport: hasty{&deadlines}}, 2)
	if len(got) != 2 || got[1] != 0 || from != api.WindowUnknown || len(deadlines) == 0 {
		t.Errorf("planned with %d from %s; %v", got, from, deadlines)
	}
	for _, bounded := range deadlines {
		if !bounded {
			t.Error("a question is not bounded in time")
		}
	}
}

// A request whose system prompt and tools alone don't fit passes, and the status says so.
func TestFixedPartTooLarge(t *testing.T) {
	st := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 16_000}, nil)
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-6","max_tokens":64,"system":"You keep the harbour's book.","tools":[{"name":"Look","description":%q,"input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"what came in?"}]}`, strings.Repeat("looks at the quay ", 5000))
	r := st.post("/v1/messages", body)
	if got := r.outcome(); got != "passed; reason=fixed_part" || r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, got)
	}
	if s := st.proxy.Status(); !strings.Contains(s.Unfit, "tools of ") || !strings.Contains(s.Unfit, "16000") || !strings.Contains(st.log.String(), "level=WARN msg=passed") {
		t.Errorf("status %q, log %s", s.Unfit, st.log)
	}
}

// Plans expect tools and system to be written for as long as the client's own markers there
// say, which stay in the request.
func TestFixedLifetime(t *testing.T) {
	for _, c := range []struct {
		name, fixed, last string // markers
		pause             time.Duration
		want              time.Duration
	}{
		{"short markers and long pauses", `{"type":"ephemeral"}`, `{"type":"ephemeral"}`, 25 * time.Minute, 5 * time.Minute},
		{"long fixed markers", `{"type":"ephemeral","ttl":"1h"}`, `{"type":"ephemeral"}`, time.Minute, time.Hour},
		{"long markers", `{"type":"ephemeral","ttl":"1h"}`, `{"type":"ephemeral","ttl":"1h"}`, time.Minute, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
			clock := func() time.Time { return now }
			var mu sync.Mutex
			var calls []proxy.Billed
			st := newStage(t, fakemodel.Options{Now: clock}, proxy.Options{Now: clock, ContextWindow: 100_000, Billed: func(b proxy.Billed) {
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, b)
			}}, nil)
			var before []string
			for i := range 6 {
				user := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q,"cache_control":%%s}]}`, big(fmt.Sprint("quay", i), 300))
				body := fmt.Sprintf(`{"model":"claude-sonnet-4-6","max_tokens":64,"system":[{"type":"text","text":%q,"cache_control":%s}],"tools":[{"name":"Look","input_schema":{"type":"object"}}],"messages":[%s]}`,
					big("rules", 3000), c.fixed, strings.Join(append(slices.Clone(before), fmt.Sprintf(user, c.last)), ","))
				st.post("/v1/messages", body, "X-Memkernel-Session", "one").planned(t)
				st.settle()
				before = append(before, strings.Replace(fmt.Sprintf(user, "null"), `,"cache_control":null`, "", 1), `{"role":"assistant","content":"ok"}`)
				now = now.Add(c.pause)
			}
			if len(calls) != 6 {
				t.Fatalf("%d calls", len(calls))
			}
			for i, b := range calls {
				e := b.Row.Planned
				if got := b.Plan.Layout.Lifetimes; got.FixedSeconds != int(c.want/time.Second) || (e.CacheWrite1hTokens > 0) != (b.Usage.CacheWrite1hTokens > 0) || (e.CacheWrite5mTokens > 0) != (b.Usage.CacheWrite5mTokens > 0) {
					t.Errorf("call %d: %d s for the fixed part (%s), planned %+v, billed %+v", i, got.FixedSeconds, got.FixedWhy, *e, b.Usage)
				}
			}
		})
	}
}
