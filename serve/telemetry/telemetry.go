package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Options say which measurements are made, and who receives them.
type Options struct {
	// Listen is the address of /metrics. If it is "", there is no such page. Remote allows an
	// address that other machines can reach.
	Listen string
	Remote bool
	// Version is the program's.
	Version string
	// Prices is the price book. If it is nil, the embedded price book is used.
	Prices *cachelayout.Book
	// Hosts means that the hosts report the bills, as for a daemon. Without Hosts the proxy's own
	// meter reports them through [Telemetry.Metered].
	Hosts bool
	// Export opens the program's exporter. It is nil for a program without an exporter.
	Export Opener
	// Logger logs errors of the export. A nil Logger discards them.
	Logger *slog.Logger
}

// Opener opens an exporter. It returns nil if the environment requests no export. The function
// gauges calls put with the value of each gauge that has a value. An exporter must not call
// gauges before its Opener has returned.
type Opener func(ctx context.Context, o *Options, gauges func(ctx context.Context, put func(*Metric, float64))) (Exporter, error)

// Exporter sends measurements and spans to another program. Its methods may be called at the same
// time. End gets the context that Begin returned.
type Exporter interface {
	// Measured adds v to a series of a counter or a histogram. The values are the values of the
	// metric's labels, in their order. An empty value means that the series lacks the label.
	Measured(m *Metric, v float64, values []string)
	BeginProxied(r *http.Request) context.Context
	EndProxied(ctx context.Context, c *proxy.Call)
	BeginServed(ctx context.Context, method string) context.Context
	EndServed(ctx context.Context, code string)
	// Done takes the kernel's work as it ends.
	Done(ctx context.Context, d *api.Done)
	// Close sends all remaining measurements that the receiver takes before ctx ends.
	Close(ctx context.Context) error
}

// Telemetry measures. A nil Telemetry does nothing. Make it with [Open].
type Telemetry struct {
	o      Options
	tally  tally
	page   *page    // nil without an address
	export Exporter // nil without one

	mu sync.Mutex
	// faults, alerts and hits are sums over all plans so far.
	faults, alerts, hits int
	index                lagReader
}

// Open begins to measure. It returns nil if there is no address and the program's exporter has no
// receiver.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	if o.Prices == nil {
		o.Prices = cachelayout.DefaultBook()
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	t := &Telemetry{o: o}
	var err error
	if o.Export != nil {
		if t.export, err = o.Export(ctx, &o, t.gauges); err != nil {
			return nil, err
		}
	}
	if o.Listen == "" && t.export == nil {
		return nil, nil
	}
	if o.Listen != "" {
		if t.page, err = newPage(o.Listen, o.Remote, t.write, o.Logger); err != nil {
			return nil, errors.Join(err, t.Close(ctx))
		}
	}
	return t, nil
}

// write writes everything measured so far for a scrape. The sample target_info names the service.
func (t *Telemetry) write(ctx context.Context, b *bytes.Buffer) {
	head(b, "target_info", "What is measured", "gauge")
	line(b, "target_info", label("service.name", cmp.Or(os.Getenv("OTEL_SERVICE_NAME"), "memkernel"))+","+label("service.version", cmp.Or(t.o.Version, "unknown")), 1)
	gauges := map[*Metric]float64{}
	t.gauges(ctx, func(m *Metric, v float64) { gauges[m] = v })
	t.tally.write(b, metrics, gauges)
}

// gauges calls put with the present value of each gauge that has a value.
func (t *Telemetry) gauges(ctx context.Context, put func(*Metric, float64)) {
	t.mu.Lock()
	v := float64(t.faults+t.alerts) / float64(t.hits+1)
	t.mu.Unlock()
	put(thrash, v)
	switch x := t.index.read(ctx); x.State {
	case "", api.IndexOff:
	case api.IndexOK:
		put(indexRead, 1)
		put(lagFiles, float64(x.Lag.Files+x.Lag.Removed))
		put(lagBytes, float64(x.Lag.Bytes))
	default:
		put(indexRead, 0)
	}
}

// lagReader reads the index's lag. It limits the rate of readings, because each reading must stat
// every file.
type lagReader struct {
	mu  sync.Mutex
	ask func(context.Context) api.IndexStatus
	at  time.Time
	was api.IndexStatus
}

const (
	// lagAge is how long a reading stays valid.
	lagAge = 10 * time.Second
	// lagWait is how long a scrape waits for a reading.
	lagWait = 5 * time.Second
)

func (r *lagReader) read(ctx context.Context) api.IndexStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ask == nil {
		return api.IndexStatus{}
	}
	if r.at.IsZero() || time.Since(r.at) >= lagAge {
		ctx, cancel := context.WithTimeout(ctx, lagWait)
		defer cancel()
		r.was, r.at = r.ask(ctx), time.Now()
	}
	return r.was
}

// Follow makes the gauges of an index use ask, which should be a kernel's IndexStatus. Callers
// must call Follow with nil before they close the kernel.
func (t *Telemetry) Follow(ask func(context.Context) api.IndexStatus) {
	if t == nil {
		return
	}
	t.index.mu.Lock()
	defer t.index.mu.Unlock()
	t.index.ask, t.index.at = ask, time.Time{}
}

// Addr returns the address of /metrics, nil if there is no such page.
func (t *Telemetry) Addr() net.Addr {
	if t == nil || t.page == nil {
		return nil
	}
	return t.page.listener.Addr()
}

// closeWait is how long Close waits for scrapes and for the exporter.
const closeWait = 3 * time.Second

// Close ends the page. It ends the exporter after the exporter has sent all remaining
// measurements, or after [closeWait].
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.Follow(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	err := t.page.close(ctx)
	if t.export != nil {
		err = errors.Join(err, t.export.Close(ctx))
	}
	return err
}

// add adds v to a series of m, if v is positive. The values name the series, in the order of m's
// labels.
func (t *Telemetry) add(m *Metric, v float64, values ...string) {
	if v > 0 {
		t.record(m, v, values...)
	}
}

// record adds a value to a series of m. The values name the series, in the order of m's labels.
func (t *Telemetry) record(m *Metric, v float64, values ...string) {
	t.tally.measure(m, v, values)
	if t.export != nil {
		t.export.Measured(m, v, values)
	}
}
