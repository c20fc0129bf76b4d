package telemetry

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// signal is the name of a kind of export in the standard variables: TRACES for spans or METRICS for
// measurements.
type signal string

const (
	spans    signal = "TRACES"
	readings signal = "METRICS"
)

// lookup returns the trimmed value of a variable, "" if the variable is not set.
func lookup(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// exporter returns the variable of an exporter that applies to the signal, and its value. The
// signal's own variable takes precedence over the variable for all signals.
func (s signal) exporter(name string) (variable, value string) {
	variable = "OTEL_EXPORTER_OTLP_" + string(s) + "_" + name
	if value = lookup(variable); value == "" {
		variable = "OTEL_EXPORTER_OTLP_" + name
		value = lookup(variable)
	}
	return variable, value
}

// rules holds variables and the forms that their values must have. OpenTelemetry's exporters
// would replace other values by a default, or quote them in an error message.
var rules = []struct {
	name, want string
	ok         func(string) bool
}{
	{"ENDPOINT", "a URL such as http://localhost:4318", func(v string) bool {
		u, err := url.Parse(v)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	}},
	{"PROTOCOL", "http/protobuf or grpc", func(v string) bool { return v == "http/protobuf" || v == "grpc" }},
	{"HEADERS", "name=value, and a comma between two", func(v string) bool {
		return !slices.ContainsFunc(strings.Split(v, ","), func(pair string) bool {
			name, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(value)
			return strings.TrimSpace(pair) != "" && (!ok || err != nil || strings.TrimSpace(name) == "" || strings.ContainsAny(name+value, "\r\n"))
		})
	}},
	{"TIMEOUT", "milliseconds, such as 10000", func(v string) bool {
		ms, err := strconv.Atoi(v)
		return err == nil && ms > 0
	}},
	{"COMPRESSION", "gzip or none", func(v string) bool { return v == "gzip" || v == "none" }},
	{"CERTIFICATE", "a file of certificates in PEM", func(v string) bool {
		pem, err := os.ReadFile(v)
		return err == nil && x509.NewCertPool().AppendCertsFromPEM(pem)
	}},
	{"CLIENT_CERTIFICATE", "a file that can be read", readable},
	{"CLIENT_KEY", "a file that can be read", readable},
	{"TEMPORALITY_PREFERENCE", "cumulative, delta or lowmemory", func(v string) bool {
		return slices.Contains([]string{"cumulative", "delta", "lowmemory"}, strings.ToLower(v))
	}},
}

func readable(file string) bool {
	_, err := os.ReadFile(file)
	return err == nil
}

// wanted reports whether the environment requests an export of the signal by naming an exporter
// or an endpoint. An error names the invalid variable, but not its value, which may hold a key.
func (s signal) wanted() (bool, error) {
	if strings.EqualFold(lookup("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	variable := "OTEL_" + string(s) + "_EXPORTER"
	kinds := strings.FieldsFunc(lookup(variable), func(r rune) bool { return r == ',' || r == ' ' })
	for _, kind := range kinds {
		if kind != "otlp" && kind != "none" {
			return false, fmt.Errorf("%s: %q is not exported to: name otlp or none (--metrics is for Prometheus)", variable, kind)
		}
	}
	_, endpoint := s.exporter("ENDPOINT")
	if len(kinds) > 0 && !slices.Contains(kinds, "otlp") || len(kinds) == 0 && endpoint == "" {
		return false, nil
	}
	for _, rule := range rules {
		if name, v := s.exporter(rule.name); v != "" && !rule.ok(v) {
			return false, fmt.Errorf("%s: want %s", name, rule.want)
		}
	}
	return true, nil
}

// grpc reports whether the signal is sent by gRPC rather than by HTTP.
func (s signal) grpc() bool {
	_, protocol := s.exporter("PROTOCOL")
	return protocol == "grpc"
}
