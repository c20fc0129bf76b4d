package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	intoMetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	intoTraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
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

// collector keeps exported spans and metrics.
type collector struct {
	intoTraces.UnimplementedTraceServiceServer
	t      *testing.T
	mu     sync.Mutex
	n      int
	header http.Header
	raw    bytes.Buffer
	spans  []*traces.Span
	of     []*traces.ResourceSpans
	points map[string]*metrics.Metric
}

// newCollector starts one that is reached by HTTP.
func newCollector(t *testing.T, start func(http.Handler) *httptest.Server) (*collector, *httptest.Server) {
	t.Helper()
	c := &collector{t: t, points: map[string]*metrics.Metric{}}
	s := start(c)
	t.Cleanup(s.Close)
	return c, s
}

// overGRPC starts one that is reached by gRPC, and returns its URL.
func overGRPC(t *testing.T) (*collector, string) {
	t.Helper()
	c := &collector{t: t, points: map[string]*metrics.Metric{}}
	s := grpc.NewServer()
	intoTraces.RegisterTraceServiceServer(s, c)
	intoMetrics.RegisterMetricsServiceServer(s, readings{c: c})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return c, "http://" + l.Addr().String()
}

// readings is a collector's service for metrics, whose method has the name of that for spans.
type readings struct {
	intoMetrics.UnimplementedMetricsServiceServer
	c *collector
}

func (r readings) Export(_ context.Context, m *intoMetrics.ExportMetricsServiceRequest) (*intoMetrics.ExportMetricsServiceResponse, error) {
	r.c.take(nil, m.ResourceMetrics)
	return &intoMetrics.ExportMetricsServiceResponse{}, nil
}

func (c *collector) Export(_ context.Context, m *intoTraces.ExportTraceServiceRequest) (*intoTraces.ExportTraceServiceResponse, error) {
	c.take(m.ResourceSpans, nil)
	return &intoTraces.ExportTraceServiceResponse{}, nil
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	var spans traces.TracesData
	var points metrics.MetricsData
	switch r.URL.Path {
	case "/v1/traces":
		err = proto.Unmarshal(data, &spans)
	case "/v1/metrics":
		err = proto.Unmarshal(data, &points)
	default:
		c.t.Errorf("asked for %s", r.URL.Path)
	}
	if err != nil {
		c.t.Errorf("%s: %v", r.URL.Path, err)
	}
	c.take(spans.ResourceSpans, points.ResourceMetrics)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header.Clone()
	c.raw.Write(data)
}

func (c *collector) take(spans []*traces.ResourceSpans, points []*metrics.ResourceMetrics) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	for _, rs := range spans {
		c.of = append(c.of, rs)
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
	for _, rm := range points {
		for _, sm := range rm.ScopeMetrics {
			for _, one := range sm.Metrics {
				c.points[one.Name] = one
			}
		}
	}
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
