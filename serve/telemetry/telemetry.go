package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/status"
	"github.com/memkernel/memkernel/serve/telemetry/internal/otlp"
)

// Options say what is measured, and for whom.
type Options struct {
	// Listen is the address of /metrics; "" has none. Remote lets it be one that other
	// machines reach.
	Listen string
	Remote bool
	// Version is the program's.
	Version string
	// Prices is the price book; nil is the embedded one.
	Prices *cachelayout.Book
	// Hosts: the hosts report what was billed, as they do to a daemon. Without it the
	// proxy's own meter does, by [Telemetry.Metered].
	Hosts bool
	// Logger is told what can't be exported. Nil discards.
	Logger *slog.Logger
}

// scopeName is what instruments and spans are filed under.
const scopeName = "github.com/memkernel/memkernel"

// mostSeries is how many series a metric may have, whatever happens: the labels' values are
// fewer.
const mostSeries = 1000

// Telemetry measures. A nil one does nothing. Make it with [Open].
type Telemetry struct {
	o        Options
	log      *slog.Logger
	provider *sdkmetric.MeterProvider
	tracer   trace.Tracer
	spans    *sdktrace.TracerProvider // nil where none are exported
	counters map[*Metric]metric.Float64Counter
	times    map[*Metric]metric.Float64Histogram
	page     *page // nil without an address

	mu sync.Mutex
	// faults, alerts and hits are those of all plans so far.
	faults, alerts, hits int
	index                lagReader
}

// Open begins to measure. It returns nil where neither an address is named nor the
// environment asks for an export. What of the environment can't be followed is told to the
// logger, and not exported: a daemon does not fail for a variable that is meant for others.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	if o.Prices == nil {
		o.Prices = cachelayout.DefaultBook()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Telemetry{o: o, log: o.Logger, counters: map[*Metric]metric.Float64Counter{}, times: map[*Metric]metric.Float64Histogram{}}
	spans, readings := t.target(otlp.Traces), t.target(otlp.Metrics)
	if o.Listen == "" && spans == nil && readings == nil {
		return nil, nil
	}
	what, err := resourceOf(ctx, o.Version)
	if err != nil {
		t.log.Warn("telemetry: a part of the environment is left out", "detail", err.Error())
	}
	settings := []sdkmetric.Option{sdkmetric.WithResource(what), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter), sdkmetric.WithCardinalityLimit(mostSeries)}
	if o.Listen != "" {
		if t.page, err = newPage(o.Listen, o.Remote); err != nil {
			return nil, err
		}
		settings = append(settings, sdkmetric.WithReader(t.page.reader))
	}
	if readings != nil {
		e, err := otlp.NewReadings(readings)
		if err != nil {
			t.log.Warn("telemetry: metrics are not exported", "detail", err.Error())
		} else {
			settings = append(settings, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e)))
		}
	}
	otel.SetErrorHandler(&complaints{log: t.log})
	t.provider = sdkmetric.NewMeterProvider(settings...)
	t.tracer = noop.NewTracerProvider().Tracer(scopeName)
	if spans != nil {
		t.spans = sdktrace.NewTracerProvider(sdktrace.WithResource(what), sdktrace.WithBatcher(otlp.NewSpans(spans)))
		t.tracer = t.spans.Tracer(scopeName, trace.WithInstrumentationVersion(o.Version))
	}
	if err := t.instruments(); err != nil {
		return nil, errors.Join(fmt.Errorf("telemetry: %w", err), t.Close(ctx))
	}
	t.page.serve(t.log)
	return t, nil
}

// target is where a signal goes, nil if nowhere.
func (t *Telemetry) target(s otlp.Signal) *otlp.Target {
	to, err := otlp.TargetOf(s)
	if err != nil {
		t.log.Warn("telemetry: "+string(s)+" are not exported", "detail", err.Error())
		return nil
	}
	return to
}

// resourceOf says who measures. The environment's word (OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES) wins. Nothing of the machine, its user or its folders is in it.
func resourceOf(ctx context.Context, version string) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "memkernel"), attribute.String("service.version", cmp.Or(version, "unknown"))),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
}

// instruments makes them all.
func (t *Telemetry) instruments() error {
	m := t.provider.Meter(scopeName, metric.WithInstrumentationVersion(t.o.Version))
	gauges := map[*Metric]metric.Float64ObservableGauge{}
	var watched []metric.Observable
	for _, one := range metrics {
		var err error
		switch one.Kind {
		case Counter:
			t.counters[one], err = m.Float64Counter(one.Name, metric.WithUnit(one.Unit), metric.WithDescription(one.Help))
		case Histogram:
			t.times[one], err = m.Float64Histogram(one.Name, metric.WithUnit(one.Unit), metric.WithDescription(one.Help), metric.WithExplicitBucketBoundaries(one.bounds...))
		case Gauge:
			gauges[one], err = m.Float64ObservableGauge(one.Name, metric.WithUnit(one.Unit), metric.WithDescription(one.Help))
			watched = append(watched, gauges[one])
		}
		if err != nil {
			return err
		}
	}
	_, err := m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		t.gauges(ctx, func(m *Metric, v float64) { o.ObserveFloat64(gauges[m], v) })
		return nil
	}, watched...)
	return err
}

// gauges reads what stands now.
func (t *Telemetry) gauges(ctx context.Context, put func(*Metric, float64)) {
	t.mu.Lock()
	v := float64(t.faults+t.alerts) / float64(t.hits+1)
	t.mu.Unlock()
	put(thrash, v)
	switch x := t.index.read(ctx); x.State {
	case "", status.IndexOff:
	case status.IndexOK:
		put(indexRead, 1)
		put(lagFiles, float64(x.Lag.Files+x.Lag.Removed))
		put(lagBytes, float64(x.Lag.Bytes))
	default:
		put(indexRead, 0)
	}
}

// lagReader reads how far the index is behind, not more often than it is worth: it looks at
// every file's stat.
type lagReader struct {
	mu  sync.Mutex
	ask func(context.Context) status.Index
	at  time.Time
	was status.Index
}

const (
	// lagAge is for how long an answer is good.
	lagAge = 10 * time.Second
	// lagWait is how long a scrape waits for one.
	lagWait = 5 * time.Second
)

func (r *lagReader) read(ctx context.Context) status.Index {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ask == nil {
		return status.Index{}
	}
	if r.at.IsZero() || time.Since(r.at) >= lagAge {
		ctx, cancel := context.WithTimeout(ctx, lagWait)
		defer cancel()
		r.was, r.at = r.ask(ctx), time.Now()
	}
	return r.was
}

// Follow has the gauges of an index read; a kernel's IndexStatus is meant. Nil ends it, which
// is due before the kernel is closed.
func (t *Telemetry) Follow(ask func(context.Context) status.Index) {
	if t == nil {
		return
	}
	t.index.mu.Lock()
	defer t.index.mu.Unlock()
	t.index.ask, t.index.at = ask, time.Time{}
}

// Addr is where /metrics is, nil if nowhere.
func (t *Telemetry) Addr() net.Addr {
	if t == nil || t.page == nil {
		return nil
	}
	return t.page.listener.Addr()
}

// closeWait is how long the end waits for a collector.
const closeWait = 3 * time.Second

// Close sends what was not sent yet, as far as the collector takes it in time, and ends.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.Follow(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	err := t.page.close(ctx)
	if t.spans != nil {
		err = errors.Join(err, t.spans.Shutdown(ctx))
	}
	return errors.Join(err, t.provider.Shutdown(ctx))
}

// add counts.
func (t *Telemetry) add(ctx context.Context, m *Metric, v float64, values ...string) {
	if v > 0 {
		t.counters[m].Add(ctx, v, labelled(m, values))
	}
}

// record puts a value into a histogram.
func (t *Telemetry) record(ctx context.Context, m *Metric, v float64, values ...string) {
	t.times[m].Record(ctx, v, labelled(m, values))
}

// labelled sets the labels of a metric, in its order; empty ones are left out.
func labelled(m *Metric, values []string) metric.MeasurementOption {
	set := make([]attribute.KeyValue, 0, len(values))
	for i, v := range values {
		if v != "" {
			set = append(set, attribute.String(m.Labels[i], v))
		}
	}
	return metric.WithAttributes(set...)
}

// complaints tells the log what the SDK complains of: each once in a while, since a collector
// that is not there is not there for long.
type complaints struct {
	log  *slog.Logger
	mu   sync.Mutex
	told map[string]time.Time
}

const (
	// again is after how long the same complaint is told again.
	again = 10 * time.Minute
	// mostComplaints is how many are told apart.
	mostComplaints = 32
)

// Handle is for [otel.SetErrorHandler]. Complaints are the same that begin alike: what
// follows has numbers of ports that are new each time.
func (c *complaints) Handle(err error) {
	if err == nil || errors.Is(err, context.Canceled) { // the end was not waited for
		return
	}
	what, _, _ := strings.Cut(err.Error(), ": ")
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.told[what]; ok && time.Since(at) < again {
		return
	}
	if c.told == nil || len(c.told) >= mostComplaints {
		c.told = map[string]time.Time{}
	}
	c.told[what] = time.Now()
	c.log.Warn("telemetry", "detail", err.Error())
}
