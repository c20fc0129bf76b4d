// Package telemetry exports the measurements and spans of a daemon or a proxy, by OpenTelemetry's
// own exporters, to the collector that the standard variables name. Package serve/telemetry
// defines the metrics and their values.
//
// Spans hold no text of a conversation or of memory, no path, no key and no name of a session.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/memkernel/memkernel/serve/telemetry"
)

// scope is the name of the instrumentation scope of all instruments and spans.
const scope = "github.com/memkernel/memkernel"

// mostSeries is the largest number of series of a metric.
const mostSeries = 1000

// exporter exports spans, measurements, or both.
type exporter struct {
	hosts    bool
	tracer   trace.Tracer
	spans    *sdktrace.TracerProvider
	readings *sdkmetric.MeterProvider
	counters map[*telemetry.Metric]metric.Float64Counter
	times    map[*telemetry.Metric]metric.Float64Histogram
}

// Open is a [telemetry.Opener]. It logs an invalid variable and does not export the variable's
// signal. It does not fail, because the variable may be meant for other programs.
func Open(ctx context.Context, o *telemetry.Options, gauges func(context.Context, func(*telemetry.Metric, float64))) (telemetry.Exporter, error) {
	log := o.Logger
	x := &exporter{hosts: o.Hosts, tracer: noop.Tracer{}, counters: map[*telemetry.Metric]metric.Float64Counter{}, times: map[*telemetry.Metric]metric.Float64Histogram{}}
	ask := func(s signal, open func() error) {
		ok, err := s.wanted()
		if ok {
			err = open()
		}
		if err != nil {
			log.Warn("telemetry: "+strings.ToLower(string(s))+" are not exported", "detail", err.Error())
		}
	}
	service := sync.OnceValue(func() *resource.Resource { return resourceOf(ctx, log, o.Version) })
	ask(spans, func() (err error) {
		var to sdktrace.SpanExporter
		if spans.grpc() {
			to, err = otlptracegrpc.New(ctx)
		} else {
			to, err = otlptracehttp.New(ctx)
		}
		if err == nil {
			x.spans = sdktrace.NewTracerProvider(sdktrace.WithResource(service()), sdktrace.WithBatcher(to))
			x.tracer = x.spans.Tracer(scope, trace.WithInstrumentationVersion(o.Version))
		}
		return err
	})
	ask(readings, func() (err error) {
		var to sdkmetric.Exporter
		if readings.grpc() {
			to, err = otlpmetricgrpc.New(ctx)
		} else {
			to, err = otlpmetrichttp.New(ctx)
		}
		if err != nil {
			return err
		}
		x.readings = sdkmetric.NewMeterProvider(sdkmetric.WithResource(service()), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(to)),
			sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter), sdkmetric.WithCardinalityLimit(mostSeries))
		return x.instruments(o.Version, gauges)
	})
	if x.spans == nil && x.readings == nil {
		return nil, nil
	}
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(&complaints{log: log})
	return x, nil
}

// resourceOf names the service. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
// The resource has no attributes of the machine, its user or its folders.
func resourceOf(ctx context.Context, log *slog.Logger, version string) *resource.Resource {
	r, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "memkernel"), attribute.String("service.version", cmp.Or(version, "unknown"))),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		log.Warn("telemetry: a part of the environment is left out", "detail", err.Error())
	}
	return r
}

// instruments makes an instrument for each metric.
func (x *exporter) instruments(version string, read func(context.Context, func(*telemetry.Metric, float64))) error {
	m := x.readings.Meter(scope, metric.WithInstrumentationVersion(version))
	gauges := map[*telemetry.Metric]metric.Float64ObservableGauge{}
	var watched []metric.Observable
	for _, one := range telemetry.Metrics() {
		var err error
		switch {
		case one.Bounds != nil:
			x.times[one], err = m.Float64Histogram(one.Name, metric.WithUnit(one.Unit), metric.WithDescription(one.Help), metric.WithExplicitBucketBoundaries(one.Bounds...))
		case one.Gauge:
			gauges[one], err = m.Float64ObservableGauge(one.Name, metric.WithUnit(one.Unit), metric.WithDescription(one.Help))
			watched = append(watched, gauges[one])
		default:
			x.counters[one], err = m.Float64Counter(one.Name, metric.WithUnit(one.Unit), metric.WithDescription(one.Help))
		}
		if err != nil {
			return fmt.Errorf("measure %s: %w", one.Name, err)
		}
	}
	_, err := m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		read(ctx, func(m *telemetry.Metric, v float64) { o.ObserveFloat64(gauges[m], v) })
		return nil
	}, watched...)
	return err
}

// Measured implements [telemetry.Exporter].
func (x *exporter) Measured(m *telemetry.Metric, v float64, values []string) {
	if x.readings == nil {
		return
	}
	set := make([]attribute.KeyValue, 0, len(values))
	for i, value := range values {
		if value != "" {
			set = append(set, attribute.String(m.Labels[i], value))
		}
	}
	ctx, labels := context.Background(), metric.WithAttributes(set...)
	if m.Bounds != nil {
		x.times[m].Record(ctx, v, labels)
	} else {
		x.counters[m].Add(ctx, v, labels)
	}
}

// Close sends all spans and measurements that were not sent yet.
func (x *exporter) Close(ctx context.Context) (err error) {
	if x.spans != nil {
		err = x.spans.Shutdown(ctx)
	}
	if x.readings != nil {
		err = errors.Join(err, x.readings.Shutdown(ctx))
	}
	return err
}

// complaints writes the SDK's errors to the log. It writes the same error at most once in ten
// minutes, because an unreachable collector usually stays unreachable.
type complaints struct {
	log  *slog.Logger
	mu   sync.Mutex
	told map[string]time.Time
}

const (
	// again is how long a complaint is not repeated.
	again = 10 * time.Minute
	// mostComplaints bounds the different complaints that are remembered.
	mostComplaints = 32
)

// Handle is the handler for [otel.SetErrorHandler]. Complaints with the same beginning count as the
// same, because the rest may hold port numbers, which change each time.
func (c *complaints) Handle(err error) {
	if err == nil || errors.Is(err, context.Canceled) { // Close was canceled
		return
	}
	begin, _, _ := strings.Cut(err.Error(), ": ")
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.told[begin]; ok && time.Since(at) < again {
		return
	}
	if c.told == nil || len(c.told) >= mostComplaints {
		c.told = map[string]time.Time{}
	}
	c.told[begin] = time.Now()
	c.log.Warn("telemetry", "detail", err.Error())
}
