package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/serve/telemetry/internal/prom"
)

// page is what Prometheus scrapes.
type page struct {
	listener net.Listener
	reader   *sdkmetric.ManualReader
	server   *http.Server
	remote   bool
	done     chan struct{}
}

// newPage listens. Until serve is called who connects waits.
func newPage(address string, remote bool) (*page, error) {
	if err := proxy.CheckListen(address, remote); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: listen on %s: %w", address, err)
	}
	p := &page{listener: l, reader: sdkmetric.NewManualReader(), remote: remote, done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", p.scrape)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	return p, nil
}

// serve answers until close.
func (p *page) serve(log *slog.Logger) {
	if p == nil {
		return
	}
	p.server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	go func() {
		defer close(p.done)
		if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are not served any more", "detail", err.Error())
		}
	}()
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

// scrape writes all that was measured so far. A browser that a page's own name server sent
// here is refused.
func (p *page) scrape(w http.ResponseWriter, r *http.Request) {
	if !p.remote && !proxy.OwnHost(r.Host) {
		http.Error(w, "the Host header names no address of this machine", http.StatusForbidden)
		return
	}
	var data metricdata.ResourceMetrics
	var b bytes.Buffer
	err := p.reader.Collect(r.Context(), &data)
	if err == nil {
		err = prom.Write(&b, &data)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", prom.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes()) // who asked has gone
}
