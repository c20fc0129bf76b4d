package verbs

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/serve/telemetry"
)

// metricsFlags are the flags of verbs that offer metrics.
type metricsFlags struct {
	listen string
	remote bool
	// export is the program's exporter. It is nil in a program without an exporter.
	export telemetry.Opener
}

func (m *metricsFlags) add(cmd *cobra.Command) {
	if m.export != nil {
		cmd.Long += "\n\nWhere OTEL_EXPORTER_OTLP_ENDPOINT names a collector, it gets traces and metrics\n(doc/metrics.md). Neither holds a word of what is said."
	}
	f := cmd.Flags()
	f.StringVar(&m.listen, "metrics", "", "serve metrics for Prometheus at /metrics of `address`, such as 127.0.0.1:9464; port 0 takes a free one")
	f.BoolVar(&m.remote, "metrics-remote", false, "let --metrics name an address that other machines reach")
}

// check returns an error for a bad address, before the verb begins its work.
func (m *metricsFlags) check() error {
	if m.listen == "" {
		return nil
	}
	return checkListen(m.listen, m.remote, "name an address of this machine such as 127.0.0.1:9464, or add --metrics-remote if others are meant to reach it: /metrics asks for no password",
		"name host and port with --metrics, such as 127.0.0.1:9464")
}

// checkListen returns an error for an address that can't be listened at, with the hint form, or
// that other machines reach unless remote is set, with the hint far.
func checkListen(address string, remote bool, far, form string) error {
	err := proxy.CheckListen(address, remote)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, proxy.ErrRemote):
		return cli.Hint(err, "%s", far)
	}
	return cli.Hint(err, "%s", form)
}

// open begins to measure if the flags or the environment select metrics. hosts is passed to
// [telemetry.Options].
func (m *metricsFlags) open(ctx context.Context, a *cli.App, book *cachelayout.Book, hosts bool) (*telemetry.Telemetry, error) {
	log := logger(a)
	if name := collector(); m.export == nil && name != "" {
		log.Info("nothing is sent to a collector of OpenTelemetry: memkernel-server does that", "variable", name)
	}
	t, err := telemetry.Open(ctx, telemetry.Options{Export: m.export, Listen: m.listen, Remote: m.remote, Version: cli.Build().Version, Prices: book, Hosts: hosts, Logger: log})
	if err != nil {
		return nil, cli.Hint(err, "another program may have the port: name another one with --metrics")
	}
	if url := metricsURL(t); url != "" {
		log.Info("metrics", "url", url)
	}
	return t, nil
}

// collector returns the environment variable that names an OpenTelemetry collector, "" if no
// variable is set.
func collector() string {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"} {
		if os.Getenv(name) != "" && !strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
			return name
		}
	}
	return ""
}

// metricsURL returns the URL of the metrics, "" if they are not served.
func metricsURL(t *telemetry.Telemetry) string {
	if at := t.Addr(); at != nil {
		return "http://" + at.String() + "/metrics"
	}
	return ""
}
