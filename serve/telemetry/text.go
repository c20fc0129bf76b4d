package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/serve/proxy"
)

// textType is the content type of the text that [tally.write] writes.
const textType = "text/plain; version=0.0.4; charset=utf-8"

// mostSeries bounds the series of a metric, in case a label gets more values than it should have.
const mostSeries = 1000

// tally adds up counters and histograms since the start. The zero tally is empty.
type tally struct {
	mu sync.Mutex
	of map[*Metric]map[string]*series // by the labels' text
}

// series is a metric with one value for each label.
type series struct {
	sum     float64
	count   uint64
	buckets []uint64 // how many values are in each bucket of a histogram alone
}

// measure adds v to the series of m that values name.
func (t *tally) measure(m *Metric, v float64, values []string) {
	labels := labelled(m, values)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[*Metric]map[string]*series{}
	}
	if t.of[m] == nil {
		t.of[m] = map[string]*series{}
	}
	if t.of[m][labels] == nil && len(t.of[m]) >= mostSeries-1 {
		labels = `otel_metric_overflow="true"`
	}
	s := t.of[m][labels]
	if s == nil {
		s = &series{buckets: make([]uint64, len(m.Bounds)+1)}
		t.of[m][labels] = s
	}
	s.sum += v
	s.count++
	s.buckets[sort.SearchFloat64s(m.Bounds, v)]++
}

// write writes all series in Prometheus' text format 0.0.4, in the order of list and of their
// labels, so that two scrapes can be compared. Gauges has the value of each gauge that has one.
func (t *tally) write(b *bytes.Buffer, list []*Metric, gauges map[*Metric]float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range list {
		name := m.Prometheus()
		if v, ok := gauges[m]; ok {
			head(b, name, m.Help, m.Kind())
			line(b, name, "", v)
		}
		of := t.of[m]
		if len(of) > 0 {
			head(b, name, m.Help, m.Kind())
		}
		for _, labels := range slices.Sorted(maps.Keys(of)) {
			if m.Bounds != nil {
				of[labels].write(b, m, name, labels)
			} else {
				line(b, name, labels, of[labels].sum)
			}
		}
	}
}

// write writes a series of a histogram.
func (s *series) write(b *bytes.Buffer, m *Metric, name, labels string) {
	below := uint64(0)
	for i, n := range s.buckets {
		below += n
		bound := "+Inf"
		if i < len(m.Bounds) {
			bound = number(m.Bounds[i])
		}
		line(b, name+"_bucket", strings.TrimPrefix(labels+`,le="`+bound+`"`, ","), float64(below))
	}
	line(b, name+"_sum", labels, s.sum)
	line(b, name+"_count", labels, float64(s.count))
}

var (
	inHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	inLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// labelled returns the labels of a series as its lines have them, ordered by name. Labels
// without a value are left out.
func labelled(m *Metric, values []string) string {
	var list []string
	for i, v := range values {
		if v != "" {
			list = append(list, label(m.Labels[i], v))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

func label(name, value string) string {
	return underscores(name) + `="` + inLabel.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

func head(b *bytes.Buffer, name, help, kind string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, inHelp.Replace(help), name, kind)
}

// line writes a sample.
func line(b *bytes.Buffer, name, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(b, "%s%s %s\n", name, labels, number(v))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// page is the page that Prometheus scrapes.
type page struct {
	listener net.Listener
	server   *http.Server
}

// newPage listens, and answers until close. Write writes the text of a scrape.
func newPage(address string, remote bool, write func(context.Context, *bytes.Buffer), log *slog.Logger) (*page, error) {
	if err := proxy.CheckListen(address, remote); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: listen on %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		// This refuses a browser that a hostile page's name server sent to this address.
		if !remote && !proxy.OwnHost(r.Host) {
			http.Error(w, "the Host header names no address of this machine", http.StatusForbidden)
			return
		}
		var b bytes.Buffer
		write(r.Context(), &b)
		w.Header().Set("Content-Type", textType)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(b.Bytes()) // the client has gone
	})
	p := &page{l, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}}
	go func() {
		if err := p.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are not served any more", "detail", err.Error())
		}
	}()
	return p, nil
}

func (p *page) close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	if err := p.server.Shutdown(ctx); err != nil {
		return errors.Join(err, p.server.Close())
	}
	_ = p.listener.Close() // the server has, if it ran
	return nil
}
