package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/telemetry"
)

// ServeFlags are the flags of serve.
type ServeFlags struct {
	Stdio, Socket bool
	// Idle is the time without a connection after which serve ends. With 0 it never ends by
	// itself.
	Idle time.Duration

	metrics metricsFlags
}

// Door is another way for serve to answer calls, with its own flags. The door of memkernel-server
// is HTTP.
type Door struct {
	Flags func(*pflag.FlagSet)
	// Check returns an error for flags that don't fit together. serve calls it before it begins
	// anything.
	Check func(*ServeFlags) error
	// Help and Example are added to the help of serve.
	Help, Example string
	// Alone serves instead of a daemon until ctx ends. It returns false if the flags don't select
	// this.
	Alone func(context.Context, *cli.App, *ServeFlags) (bool, error)
	// Beside returns a function that opens the door for a daemon's server and returns the door's
	// URL. Beside returns nil if no flag selects the door.
	Beside func(context.Context, *cli.App) func(*serve.Server) (url string, shut func(context.Context) error, err error)
}

// Serve returns the verb serve of memkernel. Its door refuses the flag --listen with an error that
// names memkernel-server, which has HTTP.
func Serve(a *cli.App) *cobra.Command {
	listen := ""
	return ServeBy(a, nil, Door{
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&listen, "listen", "", "")
			cli.Must(f.MarkHidden("listen"))
		},
		Check: func(*ServeFlags) error {
			if listen == "" {
				return nil
			}
			return cli.UsageWith("memkernel serve answers on a socket, and not over HTTP", "'memkernel-server serve --listen "+listen+"' does: see doc/service.md")
		},
	})
}

// ServeBy returns the verb serve of a program with an exporter and a further door.
func ServeBy(a *cli.App, export telemetry.Opener, door Door) *cobra.Command {
	s := &ServeFlags{metrics: metricsFlags{export: export}}
	cmd := &cobra.Command{
		Long: strings.TrimSpace(`serve keeps the kernel of a workspace open and answers the calls of hosts: JSON-RPC
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

` + door.Help),
		Example: `  memkernel serve --workspace ~/project --idle 15m
  memkernel serve --stdio` + door.Example,
		RunE: func(cmd *cobra.Command, args []string) error { return runServe(cmd.Context(), a, s, door) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.Stdio, "stdio", false, "answer on standard input and output as well")
	f.BoolVar(&s.Socket, "socket", false, "answer on the socket alone, and print its path (the default)")
	f.DurationVar(&s.Idle, "idle", 0, "end when nobody was connected for so long, such as 15m (default never)")
	cmd.MarkFlagsMutuallyExclusive("stdio", "socket")
	s.metrics.add(cmd)
	door.Flags(f)
	a.PricesFlag(cmd)
	a.SharedFlag(f)
	return cmd
}

func runServe(ctx context.Context, a *cli.App, s *ServeFlags, door Door) error {
	switch {
	case s.Idle < 0:
		return cli.Usagef("--idle %v: give how long, such as 15m", s.Idle)
	case s.Stdio && s.Idle > 0:
		return cli.Usagef("--idle goes without --stdio: that ends with its input")
	}
	if err := cmp.Or(s.metrics.check(), door.Check(s)); err != nil {
		return err
	}
	a.Serve(serve.DefaultDrain)
	if door.Alone != nil {
		if alone, err := door.Alone(ctx, a, s); alone {
			return err
		}
	}
	var t *telemetry.Telemetry // nil until this process serves
	defer func() { t.Close(ctx) }()
	open := func(ctx context.Context) (k *kernel.Kernel, o *serve.Options, err error) {
		k, o, t, err = openServed(ctx, a, &s.metrics)
		return k, o, err
	}
	d := &serve.Daemon{StateDir: a.StateDir, Open: open, Idle: s.Idle}
	url := ""
	if door.Beside != nil {
		if beside := door.Beside(ctx, a); beside != nil {
			d.Alone, d.Beside = true, func(s *serve.Server) (shut func(context.Context) error, err error) {
				url, shut, err = beside(s)
				return shut, err
			}
		}
	}
	d.Listening = func(socket string, joined bool) {
		if url != "" {
			fmt.Fprintln(a.Out, url)
		}
		if !s.Stdio {
			fmt.Fprintln(a.Out, socket)
		}
		switch {
		case joined && s.metrics.listen != "":
			a.Tip("another process serves this state folder already: its own --metrics tells of it, %s has none", s.metrics.listen)
		case joined && !s.Stdio:
			a.Tip("another process serves this state folder already")
		}
	}
	if s.Stdio {
		d.In, d.Out = a.In, display.Bare(a.Out)
	}
	return ServedElsewhere(d.Run(ctx))
}

// openServed opens the kernel with vectors and notes, if configured, and with an index that
// follows the files. It also opens the telemetry.
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
	k, err := a.Kernel(ctx, cli.Needs{Prices: book, Vectors: true, Notes: true, Follow: true, Watch: t.Kernel()})
	if err != nil {
		return nil, nil, t, err
	}
	t.Follow(k.IndexStatus)
	return k, &serve.Options{Workspace: workspace, StateDir: state, Private: a.Private(), Prices: book, Version: cli.Build().Version, Location: a.Config.Workspace.Timezone.Location(),
		Retain: a.Retention(), Watch: t.Serve()}, t, nil
}

// Watch begins to measure if the flags select metrics.
func (s *ServeFlags) Watch(ctx context.Context, a *cli.App, book *cachelayout.Book) (*telemetry.Telemetry, error) {
	return s.metrics.open(ctx, a, book, true)
}

// ServedElsewhere adds a hint if another process already serves the state folder.
func ServedElsewhere(err error) error {
	if errors.Is(err, serve.ErrServed) {
		return cli.Hint(err, "end that one first: it has no address of its own, or another one")
	}
	return err
}
