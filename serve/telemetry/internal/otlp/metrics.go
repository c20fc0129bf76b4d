package otlp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Readings exports metrics to a target. Make it with [NewReadings].
type Readings struct {
	c           *client
	temporality sdkmetric.TemporalitySelector
}

// NewReadings makes an exporter of metrics.
func NewReadings(t *Target) (*Readings, error) {
	r := &Readings{c: newClient(t), temporality: sdkmetric.CumulativeTemporalitySelector}
	const preference = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	switch v, _ := lookup(preference); strings.ToLower(v) {
	case "", "cumulative":
	case "delta":
		r.temporality = sdkmetric.DeltaTemporalitySelector
	case "lowmemory":
		r.temporality = sdkmetric.LowMemoryTemporalitySelector
	default:
		return nil, fmt.Errorf("%s: %q: name cumulative, delta or lowmemory", preference, v)
	}
	return r, nil
}

var _ sdkmetric.Exporter = (*Readings)(nil)

// Temporality is what the environment prefers.
func (r *Readings) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return r.temporality(k)
}

// Aggregation is the SDK's own.
func (r *Readings) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// Export sends what was measured.
func (r *Readings) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	data, err := metricsOf(m)
	if err != nil {
		return err
	}
	return r.c.send(ctx, data)
}

// ForceFlush has nothing to do: nothing is held back.
func (r *Readings) ForceFlush(context.Context) error { return nil }

// Shutdown lets go of connections.
func (r *Readings) Shutdown(context.Context) error {
	r.c.http.CloseIdleConnections()
	return nil
}

// metricsOf writes what was measured as an ExportMetricsServiceRequest.
func metricsOf(r *metricdata.ResourceMetrics) (message, error) {
	var out message
	var err error
	out.in(1, func(m *message) { // ResourceMetrics
		m.resource(1, r.Resource)
		for _, scope := range r.ScopeMetrics {
			m.in(2, func(m *message) { // ScopeMetrics
				m.scope(1, scope.Scope)
				for _, one := range scope.Metrics {
					m.in(2, func(m *message) { err = errors.Join(err, m.metric(&one)) })
				}
				m.text(3, scope.Scope.SchemaURL)
			})
		}
		m.text(3, r.Resource.SchemaURL())
	})
	return out, err
}

func (m *message) metric(one *metricdata.Metrics) error {
	m.text(1, one.Name)
	m.text(2, one.Description)
	m.text(3, one.Unit)
	switch data := one.Data.(type) {
	case metricdata.Gauge[float64]:
		m.in(5, func(m *message) { m.points(data.DataPoints) })
	case metricdata.Sum[float64]:
		m.in(7, func(m *message) {
			m.points(data.DataPoints)
			m.varint(2, temporalityOf(data.Temporality))
			m.flag(3, data.IsMonotonic)
		})
	case metricdata.Histogram[float64]:
		m.in(9, func(m *message) {
			for i := range data.DataPoints {
				m.in(1, func(m *message) { m.buckets(&data.DataPoints[i]) })
			}
			m.varint(2, temporalityOf(data.Temporality))
		})
	default:
		return fmt.Errorf("export metrics: %s is a %T, which nothing here measures", one.Name, data)
	}
	return nil
}

// temporalityOf is the protocol's number.
func temporalityOf(t metricdata.Temporality) uint64 {
	if t == metricdata.DeltaTemporality {
		return 1
	}
	return 2
}

func (m *message) points(list []metricdata.DataPoint[float64]) {
	for _, p := range list {
		m.in(1, func(m *message) {
			m.moment(2, p.StartTime)
			m.moment(3, p.Time)
			m.double(4, p.Value)
			m.attributes(7, p.Attributes.ToSlice())
		})
	}
}

func (m *message) buckets(p *metricdata.HistogramDataPoint[float64]) {
	m.moment(2, p.StartTime)
	m.moment(3, p.Time)
	m.fixed64(4, p.Count)
	m.double(5, p.Sum)
	m.counts(6, p.BucketCounts)
	m.doubles(7, p.Bounds)
	m.attributes(9, p.Attributes.ToSlice())
	if v, ok := p.Min.Value(); ok {
		m.double(11, v)
	}
	if v, ok := p.Max.Value(); ok {
		m.double(12, v)
	}
}
