package otlp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
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
	metrics, err := metricsOf(m)
	if err != nil || metrics.DataPointCount() == 0 {
		return err
	}
	var data []byte
	if r.c.t.json {
		data, err = (&pmetric.JSONMarshaler{}).MarshalMetrics(metrics)
	} else {
		data, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(metrics)
	}
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

// metricsOf writes what was measured as OTLP has it.
func metricsOf(m *metricdata.ResourceMetrics) (pmetric.Metrics, error) {
	out := pmetric.NewMetrics()
	of := out.ResourceMetrics().AppendEmpty()
	setResource(of.Resource(), m.Resource)
	of.SetSchemaUrl(m.Resource.SchemaURL())
	for _, scope := range m.ScopeMetrics {
		in := of.ScopeMetrics().AppendEmpty()
		in.Scope().SetName(scope.Scope.Name)
		in.Scope().SetVersion(scope.Scope.Version)
		in.SetSchemaUrl(scope.Scope.SchemaURL)
		for _, one := range scope.Metrics {
			to := in.Metrics().AppendEmpty()
			to.SetName(one.Name)
			to.SetDescription(one.Description)
			to.SetUnit(one.Unit)
			switch data := one.Data.(type) {
			case metricdata.Sum[float64]:
				sum := to.SetEmptySum()
				sum.SetIsMonotonic(data.IsMonotonic)
				sum.SetAggregationTemporality(temporalityOf(data.Temporality))
				setPoints(sum.DataPoints(), data.DataPoints)
			case metricdata.Gauge[float64]:
				setPoints(to.SetEmptyGauge().DataPoints(), data.DataPoints)
			case metricdata.Histogram[float64]:
				h := to.SetEmptyHistogram()
				h.SetAggregationTemporality(temporalityOf(data.Temporality))
				setBuckets(h.DataPoints(), data.DataPoints)
			default:
				return out, fmt.Errorf("export metrics: %s is a %T, which nothing here measures", one.Name, data)
			}
		}
	}
	return out, nil
}

func temporalityOf(t metricdata.Temporality) pmetric.AggregationTemporality {
	if t == metricdata.DeltaTemporality {
		return pmetric.AggregationTemporalityDelta
	}
	return pmetric.AggregationTemporalityCumulative
}

func setPoints(to pmetric.NumberDataPointSlice, points []metricdata.DataPoint[float64]) {
	for _, p := range points {
		at := to.AppendEmpty()
		setAttributes(at.Attributes(), p.Attributes.ToSlice())
		at.SetStartTimestamp(moment(p.StartTime))
		at.SetTimestamp(moment(p.Time))
		at.SetDoubleValue(p.Value)
	}
}

func setBuckets(to pmetric.HistogramDataPointSlice, points []metricdata.HistogramDataPoint[float64]) {
	for _, p := range points {
		at := to.AppendEmpty()
		setAttributes(at.Attributes(), p.Attributes.ToSlice())
		at.SetStartTimestamp(moment(p.StartTime))
		at.SetTimestamp(moment(p.Time))
		at.SetCount(p.Count)
		at.SetSum(p.Sum)
		if v, ok := p.Min.Value(); ok {
			at.SetMin(v)
		}
		if v, ok := p.Max.Value(); ok {
			at.SetMax(v)
		}
		at.ExplicitBounds().FromRaw(p.Bounds)
		at.BucketCounts().FromRaw(p.BucketCounts)
	}
}

// moment is a time that may be unknown.
func moment(t time.Time) pcommon.Timestamp {
	if t.IsZero() {
		return 0
	}
	return pcommon.NewTimestampFromTime(t)
}
