package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/memkernel/memkernel/serve/telemetry"
)

// collector takes what is exported, and reads it by the protocol's own messages.
type collector struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	n      int
	header http.Header
	raw    bytes.Buffer
	spans  []*traces.Span
	of     []*traces.ResourceSpans
	points map[string]*metrics.Metric
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, points: map[string]*metrics.Metric{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Server.Close)
	return c
}

func (c *collector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.header = r.Header.Clone()
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Error(err)
			return
		}
		in = z
	}
	data, err := io.ReadAll(in)
	if err != nil {
		c.t.Error(err)
	}
	c.raw.Write(data)
	switch r.URL.Path {
	case "/v1/traces":
		var m traces.TracesData
		if err := proto.Unmarshal(data, &m); err != nil {
			c.t.Errorf("traces: %v", err)
		}
		understood(c.t, m.ProtoReflect())
		for _, rs := range m.ResourceSpans {
			c.of = append(c.of, rs)
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	case "/v1/metrics":
		var m metrics.MetricsData
		if err := proto.Unmarshal(data, &m); err != nil {
			c.t.Errorf("metrics: %v", err)
		}
		understood(c.t, m.ProtoReflect())
		for _, rm := range m.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, one := range sm.Metrics {
					c.points[one.Name] = one
				}
			}
		}
	default:
		c.t.Errorf("asked for %s", r.URL.Path)
	}
}

// understood refuses fields that the protocol does not have, or has otherwise.
func understood(t *testing.T, m protoreflect.Message) {
	if raw := m.GetUnknown(); len(raw) > 0 {
		t.Errorf("%s has %d bytes that nobody understands", m.Descriptor().FullName(), len(raw))
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for i := range v.List().Len() {
				understood(t, v.List().Get(i).Message())
			}
		default:
			understood(t, v.Message())
		}
		return true
	})
}

// attrs are attributes by name; numbers are numbers.
func attrs(kvs []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range kvs {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[kv.Key] = v.IntValue
		case *common.AnyValue_BoolValue:
			out[kv.Key] = v.BoolValue
		case *common.AnyValue_DoubleValue:
			out[kv.Key] = v.DoubleValue
		}
	}
	return out
}

// TestExport: a collector that the environment names gets a span for every call, by the
// conventions, with what the model billed and the kernel's work below it, and all metrics.
func TestExport(t *testing.T) {
	clean(t)
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-team = blue")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "my-agents")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	s := newStage(t, answers, "")
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	s.post("/v1/messages", request(known, true, []string{`{"role":"user","content":"hello"}`}), "X-Memkernel-Session", "first", "Traceparent", "00-"+trace+"-"+parent+"-01")
	s.work()
	if err := s.telemetry.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.header.Get("Authorization") != "Bearer abc" || c.header.Get("X-Team") != "blue" {
		t.Errorf("headers %v", c.header)
	}
	if len(c.of) == 0 {
		t.Fatal("no spans came")
	}
	if got := attrs(c.of[0].Resource.Attributes); got["service.name"] != "my-agents" || got["deployment.environment.name"] != "test" || got["service.version"] != "1.2.3" {
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
	if got := attrs(first.Attributes); hex(first.TraceId) != trace || hex(first.ParentSpanId) != parent || got["server.address"] != "127.0.0.1" || got["gen_ai.response.time_to_first_chunk"] == nil {
		t.Errorf("trace %s, parent %s, %v", hex(first.TraceId), hex(first.ParentSpanId), got)
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

func hex(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

// TestDaemonSpans: a daemon's calls are spans with the kernel's work below them, and hold no
// word of it.
func TestDaemonSpans(t *testing.T) {
	clean(t)
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.URL+"/v1/traces")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	d := newDaemon(t, "")
	d.work()
	if err := d.telemetry.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
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

// TestUnheardEnvironment: variables that can't be followed are told to the log, and keep
// nothing from running.
func TestUnheardEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL":    "grpc",
		"OTEL_EXPORTER_OTLP_ENDPOINT":    "ftp://user:geheim@nowhere",
		"OTEL_EXPORTER_OTLP_TIMEOUT":     "soon",
		"OTEL_EXPORTER_OTLP_HEADERS":     "geheim",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "zip",
		"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere/ca.pem",
		"OTEL_TRACES_EXPORTER":           "jaeger",
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			c := newCollector(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
			t.Setenv("OTEL_METRICS_EXPORTER", "none")
			t.Setenv(name, value)
			s := newStage(t, answers, "")
			if s.telemetry != nil {
				t.Error("it is exported all the same")
			}
			if log := s.log.String(); !strings.Contains(log, name) || strings.Contains(log, "geheim") {
				t.Errorf("the log says %s", log)
			}
			if status, text := s.post("/v1/messages", request(known, false, []string{`{"role":"user","content":"hello"}`})); status != http.StatusOK {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}

// TestDeadCollector: one that is not there costs calls nothing, and the log one line.
func TestDeadCollector(t *testing.T) {
	clean(t)
	c := newCollector(t)
	c.Server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL+"/?token=geheim")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "50")
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "20")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	s := newStage(t, answers, "")
	s.work()
	if err := s.telemetry.Close(t.Context()); err == nil {
		t.Error("what could not be sent is said to be sent")
	} else if strings.Contains(err.Error(), "geheim") {
		t.Error(err)
	}
	if log := s.log.String(); strings.Contains(log, "geheim") || strings.Count(log, "msg=telemetry ") > 2 {
		t.Errorf("the log says %s", log)
	}
	var none *telemetry.Telemetry
	none.Follow(nil)
}
