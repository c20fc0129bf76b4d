package main

// The HTTP side of the hand-written files; ~ stands for a back quote.

const middlewareFile = `
package httpapi

import (
	"net/http"
	"runtime/debug"
	"time"
)

// recorder remembers the status for the log.
type recorder struct {
	http.ResponseWriter
	code  int
	bytes int
}

func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += n
	return n, err
}

// logged writes one line per request.
func (a *API) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w}
		next.ServeHTTP(rec, r)
		a.log.InfoContext(r.Context(), "request",
			"method", r.Method, "path", r.URL.Path, "code", rec.code,
			"bytes", rec.bytes, "ms", time.Since(start).Milliseconds())
	})
}

// recovered turns a panic into a 500.
func (a *API) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				a.log.ErrorContext(r.Context(), "panic", "value", v, "stack", string(debug.Stack()))
				a.problem(w, r, http.StatusInternalServerError, "something went wrong on our side")
			}
		}()
		next.ServeHTTP(w, r)
	})
}
`

const mainFile = `
// Command harborline serves the booking API and runs its background jobs.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"harborline.example/ferry/internal/config"
	"harborline.example/ferry/internal/wire"
)

func main() {
	path := flag.String("config", "config/development.yaml", "configuration file")
	flag.Parse()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	if err := run(*path, log); err != nil {
		log.Error("stopped", "err", err)
		os.Exit(1)
	}
}

func run(path string, log *slog.Logger) error {
	cfg, err := config.Load(path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app, err := wire.New(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer app.Close()
	srv := &http.Server{Addr: cfg.Listen, Handler: app.API.Routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		srv.Shutdown(grace)
	}()
	log.Info("listening", "addr", cfg.Listen)
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
`
