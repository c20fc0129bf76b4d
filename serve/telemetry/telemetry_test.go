package telemetry_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/meter"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/serve/telemetry"
)

// clean takes the machine's own variables away.
func clean(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

// canary is in all that is said, and in the names of session, folder and key.
const canary = "kanarienvogel"

// stage is a model, a proxy in front of it, and what watches both.
type stage struct {
	t         *testing.T
	model     *fakemodel.Server
	front     *httptest.Server
	proxy     *proxy.Proxy
	meter     *meter.Meter
	telemetry *telemetry.Telemetry
	log       *lockedBuffer

	mu   sync.Mutex
	done []api.Done
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// workspace is one with memory that a question finds.
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

func newStage(t *testing.T, script fakemodel.Script, listen string) *stage {
	t.Helper()
	s := &stage{t: t, model: fakemodel.New(fakemodel.Options{Script: script}), log: &lockedBuffer{}}
	up := httptest.NewServer(s.model)
	t.Cleanup(up.Close)
	log := slog.New(slog.NewTextHandler(s.log, nil))
	var err error
	if s.telemetry, err = telemetry.Open(t.Context(), telemetry.Options{Listen: listen, Version: "1.2.3", Logger: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.telemetry.Close(context.Background()) })
	watch := s.telemetry.Kernel()
	k, err := kernel.Open(t.Context(), workspace(t), &kernel.Options{Watch: func(ctx context.Context, d *api.Done) {
		if watch != nil {
			watch(ctx, d)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done = append(s.done, *d)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	if _, err := k.Reindex(t.Context(), &api.ReindexOptions{}); err != nil {
		t.Fatal(err)
	}
	s.telemetry.Follow(k.IndexStatus)
	s.meter = meter.New(cachelayout.DefaultBook())
	s.meter.Each = s.telemetry.Metered
	s.proxy, err = proxy.New(k, proxy.Options{Upstream: up.URL, Private: true, ContextWindow: 12_000, Reserve: 4_000, Deadline: 5 * time.Minute, Billed: s.meter.Take, Watch: s.telemetry.Proxy(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	s.front = httptest.NewServer(s.proxy)
	t.Cleanup(s.front.Close)
	t.Cleanup(s.settle)
	return s
}

func (s *stage) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := s.proxy.Close(ctx); err != nil {
		s.t.Error(err)
	}
}

func (s *stage) post(path, body string, headers ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.front.URL+path, strings.NewReader(body))
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
	s.settle()
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

// samples are the families of a scrape, by name.
type samples map[string]*family

type family struct {
	kind   string
	series []sample
}

// sample is a line of a scrape, without the buckets and the sum of a histogram.
type sample struct {
	labels map[string]string
	value  float64
}

func scrape(t *testing.T, tel *telemetry.Telemetry) (samples, string) {
	t.Helper()
	res, err := http.Get("http://" + tel.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", res.Status, err, text)
	}
	if at := res.Header.Get("Content-Type"); !strings.HasPrefix(at, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", at)
	}
	return parse(t, string(text)), string(text)
}

var (
	aSample = regexp.MustCompile(`^([a-z_]+)(?:\{((?:[a-z_]+="[^"\\]*",?)+)\})? ([0-9.e+-]+)$`)
	aLabel  = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

// parse reads a scrape: every sample must be below the head of its family, and every family must
// come once.
func parse(t *testing.T, text string) samples {
	t.Helper()
	out := samples{}
	name := ""
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if f := strings.Fields(l); f[0] == "#" {
			if f[1] == "TYPE" && (f[2] != name || out[name] != nil) {
				t.Fatalf("not the head of one family: %s", l)
			} else if f[1] == "TYPE" {
				out[name] = &family{kind: f[3]}
			}
			name = f[2]
			continue
		}
		m := aSample.FindStringSubmatch(l)
		if m == nil || out[name] == nil {
			t.Fatalf("not a sample of %s: %s", name, l)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatalf("%v: %s", err, l)
		}
		labels := map[string]string{}
		for _, pair := range aLabel.FindAllStringSubmatch(m[2], -1) {
			labels[pair[1]] = pair[2]
		}
		switch histogram := out[name].kind == "histogram"; {
		case !histogram && m[1] == name, histogram && m[1] == name+"_count":
			out[name].series = append(out[name].series, sample{labels, v})
		case !histogram || m[1] != name+"_sum" && (m[1] != name+"_bucket" || labels["le"] == ""):
			t.Fatalf("not a sample of %s: %s", name, l)
		}
	}
	return out
}

// value is a counter's or gauge's sum, or a histogram's count, over all series with labels.
func (s samples) value(name string, labels ...string) float64 {
	var sum float64
	f := s[name]
	if f == nil {
		return math.NaN()
	}
	for _, m := range f.series {
		match := true
		for i := 0; i+1 < len(labels); i += 2 {
			match = match && m.labels[labels[i]] == labels[i+1]
		}
		if match {
			sum += m.value
		}
	}
	return sum
}

func (s samples) want(t *testing.T, want float64, name string, labels ...string) {
	t.Helper()
	if got := s.value(name, labels...); math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) && !(math.IsNaN(got) && want == 0) {
		t.Errorf("%s%v is %v, want %v", name, labels, got, want)
	}
}

// TestProxyIsScraped: what a scrape says of a proxy is what the model billed and the kernel
// told.
func TestProxyIsScraped(t *testing.T) {
	clean(t)
	s := newStage(t, answers, "127.0.0.1:0")
	s.work()
	got, text := scrape(t, s.telemetry)

	var read, written, input, output, usd float64
	answered := map[string]float64{}
	for _, r := range s.model.Requests() {
		if r.Refused {
			continue
		}
		u := r.Usage
		answered[r.Model]++
		read, written, input, output = read+float64(u.Read), written+float64(u.Written), input+float64(u.Uncached), output+float64(u.Output)
		price, _ := cachelayout.DefaultBook().Lookup(r.Model, time.Now())
		if c := price.Cost(u.Read, u.Written, 0, u.Uncached, u.Output); c != nil {
			usd += *c
		}
	}
	if read == 0 || written == 0 || input == 0 {
		t.Fatalf("the story bills nothing of some kind: %v %v %v", read, written, input)
	}
	got.want(t, answered[known], "memkernel_calls_total", "model", known)
	got.want(t, 1, "memkernel_calls_total", "model", "other")
	got.want(t, 1, "memkernel_calls_unpriced_total")
	got.want(t, read, "memkernel_tokens_total", "kind", "cache_read")
	got.want(t, written, "memkernel_tokens_total", "kind", "cache_write")
	got.want(t, input, "memkernel_tokens_total", "kind", "input")
	got.want(t, output, "memkernel_tokens_total", "kind", "output")
	got.want(t, usd, "memkernel_cost_billed_usd_total")
	sum := s.meter.Sum()
	got.want(t, sum.WithoutUSD, "memkernel_cost_without_usd_total")
	got.want(t, answered[known]+1, "gen_ai_client_token_usage", "gen_ai_token_type", "input", "gen_ai_provider_name", "anthropic")

	got.want(t, 18, "memkernel_proxy_requests_total", "outcome", "planned", "api", "anthropic")
	got.want(t, 1, "memkernel_proxy_requests_total", "outcome", "passed", "reason", "unreadable")
	got.want(t, 1, "memkernel_errors_total", "where", "upstream", "code", "529")
	got.want(t, 1, "memkernel_errors_total", "where", "upstream", "code", "400")
	got.want(t, 2, "memkernel_errors_total")
	if n := got.value("memkernel_proxy_time_to_first_byte_seconds", "outcome", "planned"); n != 18 {
		t.Errorf("%v first bytes", n)
	}

	told := s.told()
	if told.cuts == 0 || told.recalls == 0 || told.faults == 0 || told.hits+told.paging == 0 {
		t.Fatalf("the story lacks something: %+v", told)
	}
	got.want(t, told.plans, "memkernel_plan_duration_seconds", "op", "plan")
	got.want(t, told.peeks, "memkernel_plan_duration_seconds", "op", "peek")
	got.want(t, told.cuts, "memkernel_cuts_total")
	got.want(t, told.cuts, "memkernel_cut_duration_seconds", "by", "plan")
	got.want(t, told.recalls, "memkernel_recalls_total")
	got.want(t, told.recalled, "memkernel_recalled_tokens_total")
	got.want(t, told.faults, "memkernel_faults_total")
	got.want(t, told.alerts, "memkernel_alerts_total")
	got.want(t, told.hits, "memkernel_page_hits_total")
	got.want(t, told.paging/(told.hits+1), "memkernel_thrash_index")
	got.want(t, told.turns, "memkernel_turns_total", "outcome", "committed")
	got.want(t, told.syncs, "memkernel_journal_append_duration_seconds")
	got.want(t, told.journal, "memkernel_journal_written_bytes_total")
	got.want(t, told.searches, "memkernel_search_duration_seconds", "op", "recall")
	got.want(t, 1, "memkernel_index_readable")
	got.want(t, 0, "memkernel_index_lag_files")
	got.want(t, 1, "target_info", "service_name", "memkernel", "service_version", "1.2.3")
	if strings.Contains(strings.ToLower(text), canary) {
		t.Errorf("the metrics quote what was said or named:\n%s", text)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// told is what the kernel told of, added up.
type told struct {
	plans, peeks, cuts, recalls, recalled, faults, alerts, hits, paging, turns, syncs, journal, searches float64
}

func (s *stage) told() (sum told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wrote := func(st *api.Stats) {
		if st.Syncs > 0 {
			sum.syncs++
		}
		sum.journal += float64(st.JournalBytes)
	}
	for i := range s.done {
		d := &s.done[i]
		switch {
		case d.Op == api.OpPeek:
			sum.peeks++
		case d.Op == api.OpRecall:
			sum.searches++
		case d.Op == api.OpPlan:
			sum.plans++
			if d.Plan.Layout.Made != nil {
				sum.cuts++
			}
			if d.Recalled {
				sum.recalls, sum.recalled = sum.recalls+1, sum.recalled+float64(d.Plan.Retrieval.Tokens)
			}
			sum.faults, sum.alerts = sum.faults+float64(len(d.Plan.Faults)), sum.alerts+float64(len(d.Plan.Alerts))
			sum.hits, sum.paging = sum.hits+float64(d.Hits), sum.paging+float64(d.Faults+d.Alerts)
			wrote(&d.Plan.Stats)
		case d.Observation != nil:
			sum.faults += float64(len(d.Observation.Faults))
			if d.Op == api.OpTurn && d.Observation.Outcome == api.Committed {
				sum.turns++
			}
			wrote(&d.Observation.Stats)
		}
	}
	return sum
}

// daemon is a server of a kernel with a client of its own, and what watches it.
type daemon struct {
	t         *testing.T
	telemetry *telemetry.Telemetry
	in        *json.Encoder
	out       *json.Decoder
	n         int
}

func newDaemon(t *testing.T, listen string) *daemon {
	t.Helper()
	tel, err := telemetry.Open(t.Context(), telemetry.Options{Listen: listen, Hosts: true})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(t.Context(), workspace(t), &kernel.Options{Watch: tel.Kernel()})
	if err != nil {
		t.Fatal(err)
	}
	tel.Follow(k.IndexStatus)
	s := serve.New(k, &serve.Options{Private: true, Watch: tel.Serve()})
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.ServeStream(theirs, theirs)
	}()
	t.Cleanup(func() {
		ours.Close()
		_ = s.Stop(context.Background())
		<-done
		_ = tel.Close(context.Background())
		_ = k.Close()
	})
	return &daemon{t: t, telemetry: tel, in: json.NewEncoder(ours), out: json.NewDecoder(ours)}
}

// call makes a call and returns the code of its error, "" if it has none.
func (d *daemon) call(method string, params any) string {
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

// work plans, observes bills, searches, remembers, compacts and fails.
func (d *daemon) work() {
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

// TestDaemonIsScraped: bills that hosts report are counted once, errors by their codes.
func TestDaemonIsScraped(t *testing.T) {
	clean(t)
	d := newDaemon(t, "127.0.0.1:0")
	d.work()
	got, text := scrape(t, d.telemetry)
	got.want(t, 6, "memkernel_calls_total", "model", known)
	got.want(t, 600, "memkernel_tokens_total", "kind", "input")
	got.want(t, 240, "memkernel_tokens_total", "kind", "cache_read")
	got.want(t, 120, "memkernel_tokens_total", "kind", "cache_write")
	got.want(t, 42, "memkernel_tokens_total", "kind", "output")
	price, _ := cachelayout.DefaultBook().Lookup(known, time.Now())
	got.want(t, 6**price.Cost(40, 20, 0, 100, 7), "memkernel_cost_billed_usd_total")
	got.want(t, 6, "gen_ai_client_token_usage", "gen_ai_token_type", "output", "gen_ai_provider_name", "anthropic")
	got.want(t, 7, "memkernel_rpc_duration_seconds", "method", "plan")
	got.want(t, 12, "memkernel_rpc_duration_seconds", "method", "observe_turn")
	got.want(t, 7, "memkernel_plan_duration_seconds", "op", "plan")
	got.want(t, 6, "memkernel_turns_total", "outcome", "committed")
	got.want(t, 6, "memkernel_turns_total", "outcome", "duplicate")
	got.want(t, 1, "memkernel_search_duration_seconds", "op", "search")
	got.want(t, 1, "memkernel_cut_duration_seconds", "by", "compact")
	got.want(t, 1, "memkernel_errors_total", "where", "rpc", "code", "UNKNOWN_METHOD")
	got.want(t, 1, "memkernel_errors_total", "where", "rpc", "code", "INVALID_PARAMS")
	got.want(t, 1, "memkernel_errors_total", "where", "rpc", "code", "BUDGET_INSUFFICIENT")
	got.want(t, 3, "memkernel_errors_total")
	if strings.Contains(strings.ToLower(text), canary) {
		t.Errorf("the metrics quote what was said or named:\n%s", text)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestEveryMetricIsDocumented: doc/metrics.md, the table of the source and what scrapes of a
// proxy and of a daemon have are the same metrics, of the same kinds and labels.
func TestEveryMetricIsDocumented(t *testing.T) {
	clean(t)
	s := newStage(t, answers, "127.0.0.1:0")
	s.work()
	d := newDaemon(t, "127.0.0.1:0")
	d.work()
	seen := map[string]string{}
	for _, tel := range []*telemetry.Telemetry{s.telemetry, d.telemetry} {
		got, _ := scrape(t, tel)
		for name, f := range got {
			labels := map[string]bool{}
			for _, m := range f.series {
				for l := range m.labels {
					labels[l] = true
				}
			}
			for _, l := range strings.Split(seen[name], " ")[min(1, strings.Count(seen[name], " ")):] {
				labels[l] = true
			}
			var names []string
			for l := range labels {
				if l != "" {
					names = append(names, l)
				}
			}
			slices.Sort(names)
			seen[name] = f.kind + " " + strings.Join(names, " ")
		}
	}
	if _, ok := seen["target_info"]; !ok {
		t.Error("nothing says what is measured")
	}
	delete(seen, "target_info")

	inSource := map[string]string{}
	for _, m := range telemetry.Metrics() {
		labels := slices.Clone(m.Labels)
		for i, l := range labels {
			labels[i] = strings.ReplaceAll(l, ".", "_")
		}
		slices.Sort(labels)
		inSource[m.Prometheus()] = m.Kind() + " " + strings.Join(labels, " ")
	}
	compare(t, "a scrape", seen, "the source", inSource)

	page, err := os.ReadFile("../../doc/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	inDoc := map[string]string{}
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		var labels []string
		for _, l := range strings.Fields(strings.NewReplacer("`", "", ",", " ").Replace(cells[3])) {
			labels = append(labels, strings.ReplaceAll(l, ".", "_"))
		}
		slices.Sort(labels)
		name := strings.Trim(strings.TrimSpace(cells[1]), "`")
		inDoc[name] = strings.TrimSpace(cells[2]) + " " + strings.Join(labels, " ")
	}
	compare(t, "doc/metrics.md", inDoc, "the source", inSource)
}

func compare(t *testing.T, what string, has map[string]string, other string, wants map[string]string) {
	t.Helper()
	for name, want := range wants {
		if got, ok := has[name]; !ok {
			t.Errorf("%s has no %s, which %s has", what, name, other)
		} else if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s has %s as %q, %s as %q", what, name, got, other, want)
		}
	}
	for name := range has {
		if _, ok := wants[name]; !ok {
			t.Errorf("%s has %s, which %s has not", what, name, other)
		}
	}
}

// TestNothingUnlessAsked: without an address and an exporter nothing is measured, whatever the
// environment says.
func TestNothingUnlessAsked(t *testing.T) {
	clean(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
	none := func(context.Context, *telemetry.Options, func(context.Context, func(*telemetry.Metric, float64))) (telemetry.Exporter, error) {
		return nil, nil
	}
	for _, o := range []telemetry.Options{{}, {Export: none}} {
		tel, err := telemetry.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if tel != nil || tel.Kernel() != nil || tel.Proxy() != nil || tel.Serve() != nil || tel.Addr() != nil || tel.Close(t.Context()) != nil {
			t.Error("something is measured that nobody asked for")
		}
		tel.Follow(nil)
	}
}

// TestAddress: an address that others reach is refused unless it is meant, one that is taken
// says so, and a page's name that leads here is no way in.
func TestAddress(t *testing.T) {
	clean(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:9464"} {
		if tel, err := telemetry.Open(t.Context(), telemetry.Options{Listen: address}); err == nil || !strings.Contains(err.Error(), address) {
			tel.Close(t.Context())
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := telemetry.Open(t.Context(), telemetry.Options{Listen: "9464"}); err == nil {
		t.Error("a port alone is taken for an address")
	}
	first, err := telemetry.Open(t.Context(), telemetry.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close(t.Context())
	if _, err := telemetry.Open(t.Context(), telemetry.Options{Listen: first.Addr().String()}); err == nil || !strings.Contains(err.Error(), "listen on "+first.Addr().String()) {
		t.Errorf("taken: %v", err)
	}
	remote, err := telemetry.Open(t.Context(), telemetry.Options{Listen: "0.0.0.0:0", Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close(t.Context())
	_, port, _ := net.SplitHostPort(remote.Addr().String())
	for _, c := range []struct {
		address, host, method, path string
		status                      int
	}{
		{first.Addr().String(), "", "GET", "/metrics", 200},
		{first.Addr().String(), "evil.example:9464", "GET", "/metrics", 403},
		{first.Addr().String(), "localhost", "HEAD", "/metrics", 200},
		{first.Addr().String(), "", "POST", "/metrics", 405},
		{first.Addr().String(), "", "GET", "/", 404},
		{"127.0.0.1:" + port, "prometheus.example", "GET", "/metrics", 200},
	} {
		r, err := http.NewRequest(c.method, "http://"+c.address+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = cmp.Or(c.host, c.address)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s %s of %s: %s, want %d", c.method, c.path, r.Host, res.Status, c.status)
		}
	}
	if err := first.Close(t.Context()); err != nil {
		t.Error(err)
	}
	again, err := telemetry.Open(t.Context(), telemetry.Options{Listen: first.Addr().String()})
	if err != nil {
		t.Errorf("the port is not free again: %v", err)
	}
	again.Close(t.Context())
}

// TestScrapeWhileBusy: scrapes and calls do not wait for each other, and no count goes down.
func TestScrapeWhileBusy(t *testing.T) {
	clean(t)
	s := newStage(t, answers, "127.0.0.1:0")
	var wg sync.WaitGroup
	const clients, each = 4, 5
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				body := request(known, i%2 == 0, []string{fmt.Sprintf(`{"role":"user","content":"client %d asks %d"}`, c, i)})
				r, _ := http.NewRequest(http.MethodPost, s.front.URL+"/v1/messages", strings.NewReader(body))
				r.Header.Set("X-Memkernel-Session", fmt.Sprint("s", c, i))
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	busy := make(chan struct{})
	go func() { wg.Wait(); close(busy) }()
	last := 0.0
	for done := false; !done; {
		select {
		case <-busy:
			done = true
		default:
		}
		got, _ := scrape(t, s.telemetry)
		if n := got.value("memkernel_proxy_requests_total"); n < last {
			t.Fatalf("%v requests after %v", n, last)
		} else if !math.IsNaN(n) {
			last = n
		}
	}
	s.settle()
	got, _ := scrape(t, s.telemetry)
	got.want(t, clients*each, "memkernel_proxy_requests_total", "outcome", "planned")
	got.want(t, clients*each, "memkernel_calls_total")
}
