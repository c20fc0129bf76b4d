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

	"github.com/memkernel/memkernel/serve/proxy"
)

// page is the page that Prometheus scrapes.
type page struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{}
}

// newPage listens. Clients that connect before serve is called wait. Write writes the text of a
// scrape.
func newPage(address string, remote bool, write func(context.Context, *bytes.Buffer)) (*page, error) {
	if err := proxy.CheckListen(address, remote); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: listen on %s: %w", address, err)
	}
	p := &page{listener: l, done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		// A browser that a page's own name server sent here is refused.
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
