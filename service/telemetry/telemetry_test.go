package telemetry_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/memkernel/memkernel/kernel/api"
	base "github.com/memkernel/memkernel/serve/telemetry"
	"github.com/memkernel/memkernel/service/telemetry"
)

// open measures for the collector that the environment names; the log is returned.
func open(t *testing.T, listen string) (*base.Telemetry, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	tel, err := base.Open(t.Context(), base.Options{Listen: listen, Export: telemetry.Open, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return tel, &log
}

// searched lets the kernel tell of a search.
func searched(t *testing.T, tel *base.Telemetry) {
	t.Helper()
	tel.Kernel()(t.Context(), &api.Done{Op: api.OpSearch, Began: time.Now(), Took: time.Millisecond})
}

// TestWhere: variables of one signal win over those of all, and nothing is sent where the
// environment asks for nothing.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		env             string // %U is the collector
		traces, metrics bool
	}{
		{"", false, false},
		{"OTEL_SERVICE_NAME=x", false, false},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=%U", true, true},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=%U/", true, true},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=%U/v1/traces OTEL_METRICS_EXPORTER=none", true, false},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=%U/v1/metrics", false, true},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=%U", false, true},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_METRICS_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=%U", true, false},
		{"OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=%U", false, false},
		{"OTEL_SDK_DISABLED=TRUE OTEL_EXPORTER_OTLP_ENDPOINT=%U", false, false},
		{"OTEL_SDK_DISABLED=false OTEL_EXPORTER_OTLP_ENDPOINT=%U", true, true},
	} {
		t.Run(c.env, func(t *testing.T) {
			clean(t)
			to, at := newCollector(t, httptest.NewServer)
			for pair := range strings.FieldsSeq(strings.ReplaceAll(c.env, "%U", at.URL)) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			tel, log := open(t, "")
			if (tel != nil) != (c.traces || c.metrics) || log.Len() > 0 {
				t.Fatalf("exported: %v: %s", tel != nil, log)
			}
			if tel == nil {
				return
			}
			searched(t, tel)
			if err := tel.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if got := len(to.spans) == 1; got != c.traces {
				t.Errorf("%d spans came", len(to.spans))
			}
			if got := to.points["memkernel.search.duration"] != nil; got != c.metrics {
				t.Errorf("metrics %v", to.points)
			}
		})
	}
}

// TestGRPC: a collector is reached by gRPC where the environment says so.
func TestGRPC(t *testing.T) {
	clean(t)
	to, at := overGRPC(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	tel, _ := open(t, "")
	searched(t, tel)
	if err := tel.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(to.spans) != 1 || to.spans[0].Name != "search_memory" || to.points["memkernel.search.duration"].GetHistogram() == nil {
		t.Errorf("%v, %v", to.spans, to.points)
	}
}

// TestUnheardEnvironment: variables that can't be followed are told to the log, and keep
// nothing from running.
func TestUnheardEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL":          "http/json",
		"OTEL_EXPORTER_OTLP_ENDPOINT":          "ftp://user:geheim@nowhere",
		"OTEL_EXPORTER_OTLP_TIMEOUT":           "soon",
		"OTEL_EXPORTER_OTLP_HEADERS":           "geheim",
		"OTEL_EXPORTER_OTLP_COMPRESSION":       "zip",
		"OTEL_EXPORTER_OTLP_CERTIFICATE":       "/nowhere/ca.pem",
		"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": "/nowhere/key.pem",
		"OTEL_TRACES_EXPORTER":                 "jaeger",
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			_, at := newCollector(t, httptest.NewServer)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at.URL)
			t.Setenv("OTEL_METRICS_EXPORTER", "none")
			t.Setenv(name, value)
			tel, log := open(t, "")
			if tel != nil {
				t.Error("it is exported all the same")
			}
			if text := log.String(); !strings.Contains(text, name) || strings.Contains(text, "geheim") {
				t.Errorf("the log says %s", text)
			}
		})
	}
}

// TestDeadCollector: Close says that not everything was sent, without the keys of the address.
func TestDeadCollector(t *testing.T) {
	clean(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9/?token=geheim")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "50")
	tel, log := open(t, "")
	searched(t, tel)
	if err := tel.Close(t.Context()); err == nil {
		t.Error("nothing was sent, and Close succeeds")
	} else if strings.Contains(err.Error()+log.String(), "geheim") {
		t.Error(err, log)
	}
}

// TestTrust: a certificate of one's own authority is believed where it is named.
func TestTrust(t *testing.T) {
	clean(t)
	to, at := newCollector(t, httptest.NewTLSServer)
	at.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at.URL)
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	send := func() error {
		tel, _ := open(t, "")
		searched(t, tel)
		return tel.Close(t.Context())
	}
	if err := send(); err == nil || len(to.points) > 0 {
		t.Error("a stranger's certificate is believed")
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: at.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	if err := send(); err != nil || len(to.points) == 0 {
		t.Errorf("%v, %d metrics", err, len(to.points))
	}
}

// TestPrometheusReads: Prometheus' own parser reads a scrape of the root's package.
func TestPrometheusReads(t *testing.T) {
	clean(t)
	tel, _ := open(t, "127.0.0.1:0")
	defer tel.Close(t.Context())
	searched(t, tel)
	res, err := http.Get("http://" + tel.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	h := got["memkernel_search_duration_seconds"]
	if h == nil || h.Metric[0].GetHistogram().GetSampleCount() != 1 || len(h.Metric[0].GetHistogram().Bucket) != 14 || got["target_info"] == nil {
		t.Errorf("%v", got)
	}
}
