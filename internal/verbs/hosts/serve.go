// Package hosts has the doors through which hosts come in: the daemon, the proxy, the Model
// Context Protocol and hooks.
package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/pane"
	"github.com/memkernel/memkernel/internal/setup"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/telemetry"
	"github.com/memkernel/memkernel/serve/tools"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	stdio, socket bool
	idle          time.Duration
	ui            string
	metrics       metricsFlags
	listen        listenFlags
}

// Serve is the verb serve.
func Serve(a *cli.App) *cobra.Command { return ServeTo(a, nil) }

// ServeTo is the verb serve of a program that has an exporter.
func ServeTo(a *cli.App, export telemetry.Opener) *cobra.Command {
	s := &serveFlags{metrics: metricsFlags{export: export}}
	cmd := &cobra.Command{
		Long: `serve keeps the kernel of a workspace open and answers the calls of hosts: JSON-RPC
2.0, one message per line, as doc/rpc.md describes it. One daemon serves a state
folder, on a unix socket in it that only you can open. The path of the socket is
printed once it can be connected to.

With --stdio it answers on standard input and output as well, and ends when the input
ends and nobody is connected to the socket any more. If a daemon already serves the
state folder, serve --stdio hands its input and output on to that, and serve alone
prints the socket and ends.

SIGTERM or the call shutdown end it: calls that were taken are carried out, further
ones refused. A session is shared unless a call says that it is private; the setting
workspace.private: false, or --shared, lets none be.

With --listen the same methods are answered over HTTP, at POST /rpc, for bearers of
tokens that 'memkernel token create' made (doc/service.md). The URL is the first line that
is printed then, and the socket's path the second. --tenants keeps a workspace for each
tenant that a token names, in tenants/ of the state folder, and has no socket.

With --metrics an operator's Prometheus is told how long plans take, what goes wrong
and what hosts report as billed (doc/metrics.md).`,
		Example: `  memkernel serve --workspace ~/project --idle 15m
  memkernel serve --stdio
  memkernel serve --listen 0.0.0.0:8731 --tls-cert cert.pem --tls-key key.pem`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runServe(cmd.Context(), a, s) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.stdio, "stdio", false, "answer on standard input and output as well")
	f.BoolVar(&s.socket, "socket", false, "answer on the socket alone, and print its path (the default)")
	f.DurationVar(&s.idle, "idle", 0, "end when nobody was connected for so long, such as 15m (default never)")
	f.StringVar(&s.ui, "ui", "", "open the window of memkernel ui at this `address` too; its link is told on standard error")
	cmd.MarkFlagsMutuallyExclusive("stdio", "socket")
	s.metrics.add(cmd)
	s.listen.add(f)
	a.PricesFlag(cmd)
	a.SharedFlag(f)
	return cmd
}

func runServe(ctx context.Context, a *cli.App, s *serveFlags) error {
	switch {
	case s.idle < 0:
		return fail.Usagef("--idle %v: give how long, such as 15m", s.idle)
	case s.stdio && s.idle > 0:
		return fail.Usagef("--idle goes without --stdio: that ends with its input")
	}
	if err := cmp.Or(s.metrics.check(), s.listen.check(s)); err != nil {
		return err
	}
	a.Serve(serve.DefaultDrain)
	if s.listen.tenants {
		return serveTenants(ctx, a, s)
	}
	var t *telemetry.Telemetry // nil until this process serves
	closed := func() {}
	defer func() { closed(); t.Close(ctx) }()
	open := func(ctx context.Context) (k *kernel.Kernel, o *serve.Options, err error) {
		if k, o, t, err = openServed(ctx, a, &s.metrics); err != nil {
			return k, o, err
		}
		shut, err := pane.Beside(ctx, a, k, o.Prices, s.ui)
		if err != nil {
			return nil, nil, errors.Join(err, k.Close())
		}
		closed = shut
		return k, o, nil
	}
	d := &serve.Daemon{StateDir: a.StateDir, Open: open, Idle: s.idle}
	url := ""
	if s.listen.address != "" {
		d.Alone, d.Beside = true, s.listen.beside(ctx, a, &url)
	}
	d.Listening = func(socket string, joined bool) {
		if url != "" {
			fmt.Fprintln(a.Out, url)
		}
		if !s.stdio {
			fmt.Fprintln(a.Out, socket)
		}
		switch {
		case joined && s.metrics.listen != "":
			a.Tip("another process serves this state folder already: its own --metrics tells of it, %s has none", s.metrics.listen)
		case joined && !s.stdio:
			a.Tip("another process serves this state folder already")
		}
	}
	if s.stdio {
		d.In, d.Out = a.In, display.Bare(a.Out)
	}
	return servedElsewhere(d.Run(ctx))
}

// openServed opens the kernel with all that the configuration allows: vectors, notes,
// and an index that follows the files; and what watches it.
func openServed(ctx context.Context, a *cli.App, m *metricsFlags) (*kernel.Kernel, *serve.Options, *telemetry.Telemetry, error) {
	book, err := a.Book()
	if err != nil {
		return nil, nil, nil, err
	}
	workspace, err := filepath.Abs(a.Workspace)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("find workspace: %w", err)
	}
	state, err := filepath.Abs(a.StateDir)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("find state folder: %w", err)
	}
	t, err := m.open(ctx, a, book, true)
	if err != nil {
		return nil, nil, nil, err
	}
	k, err := a.Kernel(ctx, setup.Needs{Prices: book, Vectors: true, Notes: true, Follow: true, Watch: t.Kernel()})
	if err != nil {
		return nil, nil, t, err
	}
	t.Follow(k.IndexStatus)
	return k, &serve.Options{Workspace: workspace, StateDir: state, Private: a.Private(), Prices: book, Version: cli.Build().Version, Location: a.Config.Workspace.Timezone.Location(),
		Tools: toolsOf(k), ToolWrites: tools.Writes,
		Retain: a.Retention(), Watch: t.Serve()}, t, nil
}
