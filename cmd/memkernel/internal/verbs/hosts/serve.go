// Package hosts has the doors through which hosts come in: the daemon, the proxy, the Model
// Context Protocol and hooks.
package hosts

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/pane"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/setup"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	stdio, socket bool
	idle          time.Duration
	ui            string
}

// Serve is the verb serve.
func Serve(a *cli.App) *cobra.Command {
	s := &serveFlags{}
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
workspace.private: false, or --shared, lets none be.`,
		Example: `  memkernel serve --workspace ~/project --idle 15m
  memkernel serve --stdio`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runServe(cmd.Context(), a, s) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.stdio, "stdio", false, "answer on standard input and output as well")
	f.BoolVar(&s.socket, "socket", false, "answer on the socket alone, and print its path (the default)")
	f.DurationVar(&s.idle, "idle", 0, "end when nobody was connected for so long, such as 15m (default never)")
	f.StringVar(&s.ui, "ui", "", "open the window of memkernel ui at this `address` too; its link is told on standard error")
	cmd.MarkFlagsMutuallyExclusive("stdio", "socket")
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
	a.AllowGrace(serve.DefaultDrain)
	closed := func() {}
	d := &serve.Daemon{StateDir: a.StateDir, Idle: s.idle, Open: func(ctx context.Context) (*kernel.Kernel, *serve.Options, error) {
		k, o, err := openServed(ctx, a)
		if err != nil {
			return nil, nil, err
		}
		if closed, err = pane.Beside(ctx, a, k, o.Prices, s.ui); err != nil {
			k.Close()
			return nil, nil, err
		}
		return k, o, nil
	}}
	defer func() { closed() }()
	if s.stdio {
		d.In, d.Out = a.In, display.Bare(a.Out)
	} else {
		d.Listening = func(socket string, joined bool) {
			fmt.Fprintln(a.Out, socket)
			if joined {
				a.Tip("another process serves this state folder already")
			}
		}
	}
	return d.Run(ctx)
}

// openServed opens the kernel with all that the configuration allows: vectors, notes,
// and an index that follows the files.
func openServed(ctx context.Context, a *cli.App) (*kernel.Kernel, *serve.Options, error) {
	book, err := a.Book()
	if err != nil {
		return nil, nil, err
	}
	workspace, err := filepath.Abs(a.Workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("find workspace: %w", err)
	}
	state, err := filepath.Abs(a.StateDir)
	if err != nil {
		return nil, nil, fmt.Errorf("find state folder: %w", err)
	}
	k, err := a.Kernel(ctx, setup.Needs{Prices: book, Vectors: true, Notes: true, Follow: true})
	if err != nil {
		return nil, nil, err
	}
	return k, &serve.Options{Workspace: workspace, StateDir: state, Private: a.Private(), Prices: book, Version: cli.Build().Version, Location: a.Config.Workspace.Timezone.Location(),
		Tools:  toolsOf(k),
		Retain: a.Retention()}, nil
}
