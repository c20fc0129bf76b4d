package prom

import (
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(0) }

// TestWrite: names, units, escapes, cumulative buckets, and an order that stays.
func TestWrite(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	p := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(resource.NewSchemaless(attribute.String("service.name", "x"))))
	m := p.Meter("test")
	c, err := m.Float64Counter("a.b", metric.WithUnit("By"), metric.WithDescription("back\\slash\nline"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.Float64Histogram("h", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(.1, 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	c.Add(ctx, 2, metric.WithAttributes(attribute.String("the.code", "b")))
	c.Add(ctx, 1.5, metric.WithAttributes(attribute.String("the.code", "a\"\\\n\xff")))
	for _, v := range []float64{.05, .1, .5, 7} {
		h.Record(ctx, v)
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil {
		t.Fatal(err)
	}
	const want = `# HELP target_info What is measured
# TYPE target_info gauge
target_info{service_name="x"} 1
# HELP a_b_bytes_total back\\slash\nline
# TYPE a_b_bytes_total counter
a_b_bytes_total{the_code="a\"\\\n` + "\uFFFD" + `"} 1.5
a_b_bytes_total{the_code="b"} 2
# HELP h_seconds 
# TYPE h_seconds histogram
h_seconds_bucket{le="0.1"} 2
h_seconds_bucket{le="1"} 3
h_seconds_bucket{le="+Inf"} 4
h_seconds_sum 7.65
h_seconds_count 4
`
	for range 3 {
		var b strings.Builder
		if err := Write(&b, &data); err != nil || b.String() != want {
			t.Fatalf("%v\n%s", err, b.String())
		}
	}
}
