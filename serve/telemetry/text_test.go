package telemetry

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestWrite: names, units, escapes, cumulative buckets, and an order that stays.
func TestWrite(t *testing.T) {
	c := &Metric{Name: "a.b", Unit: "By", Labels: []string{"the.code"}, Help: "back\\slash\nline"}
	h := &Metric{Name: "h", Unit: "s", Bounds: []float64{.1, 1}}
	g := &Metric{Name: "g", Gauge: true, Help: "now"}
	var sum tally
	sum.measure(c, 2, []string{"b"})
	sum.measure(c, 1.5, []string{"a\"\\\n\xff"})
	for _, v := range []float64{.05, .1, .5, 7} {
		sum.measure(h, v, nil)
	}
	const want = `# HELP a_b_bytes_total back\\slash\nline
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
# HELP g now
# TYPE g gauge
g 0
`
	never := &Metric{Name: "never"}
	for range 3 {
		var b bytes.Buffer
		if sum.write(&b, []*Metric{never, c, h, g}, map[*Metric]float64{g: 0}); b.String() != want {
			t.Fatal(b.String())
		}
	}
	for i := range 3 * mostSeries {
		sum.measure(c, 1, []string{fmt.Sprint(i)})
	}
	var b bytes.Buffer
	sum.write(&b, []*Metric{c}, nil)
	if n := strings.Count(b.String(), "\na_b_bytes_total{"); n != mostSeries || !strings.Contains(b.String(), `{otel_metric_overflow="true"} 2003`) {
		t.Errorf("%d series of many: %.200s", n, b.String())
	}
}
