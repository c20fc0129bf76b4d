// Package prom writes what the OpenTelemetry SDK measured as Prometheus scrapes it: text, format
// 0.0.4, with the names that OpenTelemetry's translation gives. The SDK's own exporter does the
// same by way of Prometheus' client library, which makes the program a sixth larger.
package prom

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
)

// ContentType is that of what [Write] writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// units are the words that a name ends with, by the unit.
var units = map[string]string{"s": "_seconds", "By": "_bytes", "USD": "_usd"}

// Name is what Prometheus calls a metric.
func Name(name, unit string, counter bool) string {
	out := word(name) + units[unit]
	if counter {
		out += "_total"
	}
	return out
}

// word is a name of letters, digits and underscores.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// Write writes all that was measured.
func Write(w io.Writer, m *metricdata.ResourceMetrics) error {
	p := &printer{w: bufio.NewWriter(w)}
	p.target(m.Resource)
	for _, scope := range m.ScopeMetrics {
		for _, one := range scope.Metrics {
			if err := p.metric(&one); err != nil {
				return err
			}
		}
	}
	return p.w.Flush() // it keeps the first error of all writes
}

type printer struct{ w *bufio.Writer }

// target says what is measured, once for all metrics.
func (p *printer) target(r *resource.Resource) {
	p.head("target_info", "What is measured", "gauge")
	p.line("target_info", r.Attributes(), "", "", 1)
}

func (p *printer) metric(m *metricdata.Metrics) error {
	switch data := m.Data.(type) {
	case metricdata.Sum[float64]:
		p.numbers(Name(m.Name, m.Unit, true), m.Description, "counter", data.DataPoints)
	case metricdata.Gauge[float64]:
		p.numbers(Name(m.Name, m.Unit, false), m.Description, "gauge", data.DataPoints)
	case metricdata.Histogram[float64]:
		name := Name(m.Name, m.Unit, false)
		p.head(name, m.Description, "histogram")
		for _, at := range sorted(data.DataPoints, func(d metricdata.HistogramDataPoint[float64]) attribute.Set { return d.Attributes }) {
			p.histogram(name, &at)
		}
	default:
		return fmt.Errorf("%s is a %T, which nothing here measures", m.Name, data)
	}
	return nil
}

func (p *printer) numbers(name, help, kind string, points []metricdata.DataPoint[float64]) {
	p.head(name, help, kind)
	for _, at := range sorted(points, func(d metricdata.DataPoint[float64]) attribute.Set { return d.Attributes }) {
		p.line(name, at.Attributes.ToSlice(), "", "", at.Value)
	}
}

func (p *printer) histogram(name string, d *metricdata.HistogramDataPoint[float64]) {
	labels := d.Attributes.ToSlice()
	below := uint64(0)
	for i, bound := range d.Bounds {
		below += d.BucketCounts[i]
		p.line(name+"_bucket", labels, "le", number(bound), float64(below))
	}
	p.line(name+"_bucket", labels, "le", "+Inf", float64(d.Count))
	p.line(name+"_sum", labels, "", "", d.Sum)
	p.line(name+"_count", labels, "", "", float64(d.Count))
}

// sorted are points in the order of their labels, so that two scrapes can be compared.
func sorted[P any](points []P, of func(P) attribute.Set) []P {
	text := func(p P) string {
		set := of(p)
		return set.Encoded(attribute.DefaultEncoder())
	}
	out := slices.Clone(points)
	slices.SortFunc(out, func(a, b P) int { return strings.Compare(text(a), text(b)) })
	return out
}

var (
	inHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	inLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func (p *printer) head(name, help, kind string) {
	fmt.Fprintf(p.w, "# HELP %s %s\n# TYPE %s %s\n", name, inHelp.Replace(help), name, kind)
}

// line writes a sample; extra is a label beside the others.
func (p *printer) line(name string, labels []attribute.KeyValue, extra, value string, v float64) {
	p.w.WriteString(name)
	open := "{"
	put := func(key, value string) {
		p.w.WriteString(open + key + `="` + inLabel.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`)
		open = ","
	}
	for _, kv := range labels {
		put(word(string(kv.Key)), kv.Value.Emit())
	}
	if extra != "" {
		put(extra, value)
	}
	if open == "," {
		p.w.WriteString("}")
	}
	p.w.WriteString(" " + number(v) + "\n")
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
