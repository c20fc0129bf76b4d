package otlp

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(0) }

func clean(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

// TestTargetOf: the environment's words, one signal's before all's.
func TestTargetOf(t *testing.T) {
	for _, c := range []struct {
		env             string
		traces, metrics string // where they go, "" for nowhere
	}{
		{"", "", ""},
		{"OTEL_SERVICE_NAME=x", "", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "http://c:4318/v1/traces", "http://c:4318/v1/metrics"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=https://c/otlp/", "https://c/otlp/v1/traces", "https://c/otlp/v1/metrics"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://d/x", "http://d/x", "http://c:4318/v1/metrics"},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://d/x", "", "http://d/x"},
		{"OTEL_TRACES_EXPORTER=otlp", "http://localhost:4318/v1/traces", ""},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "", "http://c:4318/v1/metrics"},
		{"OTEL_SDK_DISABLED=TRUE OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "", ""},
		{"OTEL_SDK_DISABLED=false OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "http://c:4318/v1/traces", "http://c:4318/v1/metrics"},
	} {
		t.Run(c.env, func(t *testing.T) {
			clean(t)
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			for signal, want := range map[Signal]string{Traces: c.traces, Metrics: c.metrics} {
				at, err := TargetOf(signal)
				got := ""
				if at != nil {
					got = at.url.String()
				}
				if err != nil || got != want {
					t.Errorf("%s go to %q, %v; want %q", signal, got, err, want)
				}
			}
		})
	}
}

// sent sends a message to a collector, and returns how often it came.
func sent(t *testing.T, answer http.HandlerFunc, timeout string) (int, error) {
	t.Helper()
	var n atomic.Int64
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice who has gone
		answer(w, r)
	}))
	defer h.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", h.URL+"?token=geheim")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=geheim")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", timeout)
	at, err := TargetOf(Traces)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(at)
	c.first = time.Millisecond
	err = c.send(context.Background(), []byte("x"))
	if err != nil && strings.Contains(err.Error(), "geheim") {
		t.Errorf("the error quotes a key: %v", err)
	}
	return int(n.Load()), err
}

// TestSend: a collector that is busy is asked again, one that refuses is not, one that
// never answers is given up, and keys follow no redirect.
func TestSend(t *testing.T) {
	clean(t)
	var busy atomic.Int64
	n, err := sent(t, func(w http.ResponseWriter, _ *http.Request) {
		if busy.Add(1) < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}, "60000")
	if n != 4 || err != nil {
		t.Errorf("busy: %d times, %v", n, err)
	}
	if n, err = sent(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, "60000"); n != 1 || err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("refused: %d times, %v", n, err)
	}
	if n, err = sent(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}, "60000"); n != 1 || err == nil {
		t.Errorf("redirected: %d times, %v", n, err)
	}
	if _, err = sent(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "1000"); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("always busy: %v", err)
	}
	if _, err = sent(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "20"); err == nil {
		t.Error("silent: it is said to be sent")
	}
}

// TestTrust: a certificate of one's own authority is believed where it is named.
func TestTrust(t *testing.T) {
	clean(t)
	h := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer h.Close()
	h.Config.ErrorLog = nil
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", h.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
	ask := func() error {
		at, err := TargetOf(Traces)
		if err != nil {
			t.Fatal(err)
		}
		return newClient(at).send(context.Background(), nil)
	}
	if err := ask(); err == nil {
		t.Error("a stranger's certificate is believed")
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "60000")
	if err := ask(); err != nil {
		t.Error(err)
	}
}
