// Package otlp exports spans and metrics of the OpenTelemetry SDK to a collector, by OTLP over
// HTTP, as the standard environment variables say. The SDK's own exporters do the same and make
// the program a quarter larger, since they carry gRPC and the messages by reflection; here they
// are written field by field, and the way is net/http. It decides nothing about what is measured.
package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Signal is what is exported.
type Signal string

// The signals.
const (
	Traces  Signal = "traces"
	Metrics Signal = "metrics"
)

// protobuf is the protocol that is spoken, the standard's default.
const protobuf = "http/protobuf"

// defaultTimeout is how long an export may take, retries included.
const defaultTimeout = 10 * time.Second

// Target is where a signal goes, and how.
type Target struct {
	Signal  Signal
	url     *url.URL
	header  http.Header
	timeout time.Duration
	gzip    bool
	tls     *tls.Config
}

// Disabled reports whether OTEL_SDK_DISABLED switches everything off.
func Disabled() bool {
	return strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true")
}

// TargetOf reads the environment's word on a signal: nil where it is not to be exported,
// which it is where an exporter or an endpoint is named. An error names the variable.
func TargetOf(s Signal) (*Target, error) {
	if Disabled() {
		return nil, nil
	}
	upper := strings.ToUpper(string(s))
	exporter, set := lookup("OTEL_" + upper + "_EXPORTER")
	kinds := strings.FieldsFunc(exporter, func(r rune) bool { return r == ',' || r == ' ' })
	for _, kind := range kinds {
		if kind != "otlp" && kind != "none" {
			return nil, fmt.Errorf("OTEL_%s_EXPORTER: %q is not exported to: name otlp or none (--metrics is for Prometheus)", upper, kind)
		}
	}
	address, own := of(s, "ENDPOINT")
	if set && !slices.Contains(kinds, "otlp") || !set && address == "" {
		return nil, nil
	}
	if address == "" {
		address = "http://localhost:4318"
	}
	t := &Target{Signal: s, timeout: defaultTimeout}
	var err error
	if t.url, err = endpointOf(s, address, own); err != nil {
		return nil, err
	}
	return t, errors.Join(t.speak(), t.headers(), t.wait(), t.compress(), t.trust())
}

// lookup is a variable that says something: an empty one is as good as none.
func lookup(name string) (string, bool) {
	v := strings.TrimSpace(os.Getenv(name))
	return v, v != ""
}

// of is a variable of the exporter's, by its name for the signal or else for all; own reports
// that it was the signal's.
func of(s Signal, name string) (value string, own bool) {
	if v, ok := lookup("OTEL_EXPORTER_OTLP_" + strings.ToUpper(string(s)) + "_" + name); ok {
		return v, true
	}
	v, _ := lookup("OTEL_EXPORTER_OTLP_" + name)
	return v, false
}

// variable is how of's word is called in an error.
func variable(s Signal, name string) string {
	if _, own := of(s, name); own {
		return "OTEL_EXPORTER_OTLP_" + strings.ToUpper(string(s)) + "_" + name
	}
	return "OTEL_EXPORTER_OTLP_" + name
}

// endpointOf is the address of a signal: one of its own is taken as it is, the one of all
// signals gets the signal's path.
func endpointOf(s Signal, address string, own bool) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: want a URL such as http://localhost:4318", variable(s, "ENDPOINT")) // the text might hold a password
	}
	if !own {
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+"/v1/"+string(s), ""
	}
	return u, nil
}

func (t *Target) speak() error {
	if p, _ := of(t.Signal, "PROTOCOL"); p != "" && p != protobuf {
		return fmt.Errorf("%s: %q is not spoken: name %s, and the collector's port for HTTP, as a rule 4318", variable(t.Signal, "PROTOCOL"), p, protobuf)
	}
	return nil
}

func (t *Target) headers() error {
	t.header = http.Header{}
	list, _ := of(t.Signal, "HEADERS")
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n") {
			return fmt.Errorf("%s: want name=value, and a comma between two", variable(t.Signal, "HEADERS")) // values are keys
		}
		t.header.Set(name, value)
	}
	return nil
}

func (t *Target) wait() error {
	v, _ := of(t.Signal, "TIMEOUT")
	if v == "" {
		return nil
	}
	ms, err := strconv.Atoi(v)
	if err != nil || ms <= 0 {
		return fmt.Errorf("%s: %q: give milliseconds, such as 10000", variable(t.Signal, "TIMEOUT"), v)
	}
	t.timeout = time.Duration(ms) * time.Millisecond
	return nil
}

func (t *Target) compress() error {
	switch v, _ := of(t.Signal, "COMPRESSION"); v {
	case "", "none":
	case "gzip":
		t.gzip = true
	default:
		return fmt.Errorf("%s: %q: name gzip or none", variable(t.Signal, "COMPRESSION"), v)
	}
	return nil
}

// trust reads whose certificates are believed, and the client's own.
func (t *Target) trust() error {
	authority, _ := of(t.Signal, "CERTIFICATE")
	cert, _ := of(t.Signal, "CLIENT_CERTIFICATE")
	key, _ := of(t.Signal, "CLIENT_KEY")
	if authority+cert+key == "" {
		return nil
	}
	t.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			return fmt.Errorf("%s: %w", variable(t.Signal, "CERTIFICATE"), err)
		}
		t.tls.RootCAs = x509.NewCertPool()
		if !t.tls.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: %s holds no certificate in PEM", variable(t.Signal, "CERTIFICATE"), authority)
		}
	}
	if cert+key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("%s and %s: %w", variable(t.Signal, "CLIENT_CERTIFICATE"), variable(t.Signal, "CLIENT_KEY"), err)
		}
		t.tls.Certificates = []tls.Certificate{pair}
	}
	return nil
}
