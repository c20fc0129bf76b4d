package verbs

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/serve/hook"
	"github.com/memkernel/memkernel/serve/tools"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	private, readOnly, all bool
	session, host          string
}

func mcpVerb(a *cli.App) *cobra.Command {
	o := &mcpFlags{}
	cmd := &cobra.Command{
		Long: `mcp speaks the Model Context Protocol on standard input and output until the
client hangs up: the tools memory_search, which reads a path or an id, too, and
memory_append. With --all-tools memory_get, memory_list, memory_update,
memory_delete and memory_undo are listed, too, with every
argument: definitions are paid for with each call of
the model, so they are for clients that can't edit files. A tool that is not
listed can be called all the same. Standard output has frames only; what else is to be said goes to standard error. A line that is no request gets
the error -32700 or -32600, and the next line is served.

A door that doesn't say is shared: MEMORY.md and USER.md are there with
--private only, for a client that one person alone uses. With --host the tools
answer for the session of that host which its hooks spoke of last; doc/hosts.md
has the set-up of each host.`,
		Example: "  memkernel mcp --private --workspace ~/project",
		RunE:    with(a, o, runMCP),
	}
	f := cmd.Flags()
	f.BoolVar(&o.private, "private", false, "the client is one person's own: MEMORY.md and USER.md are there")
	f.BoolVar(&o.readOnly, "read-only", false, "leave out what writes")
	f.BoolVar(&o.all, "all-tools", false, "list all tools with all arguments")
	f.StringVarP(&o.session, "session", "s", "", "`key` of the session that the tools answer for")
	hostFlag(cmd, &o.host, "answer for the newest session of the host `name`")
	return cmd
}

func runMCP(ctx context.Context, a *cli.App, o *mcpFlags) error {
	opts, err := mcpOptions(a, o)
	if err != nil {
		return err
	}
	k, err := a.Kernel(ctx, cli.Needs{Vectors: true, Notes: true, Follow: true})
	if err != nil {
		return err
	}
	defer k.Close()
	s, err := tools.NewServer(k, *opts)
	if err != nil {
		return err
	}
	a.Serve(0)
	return s.Serve(ctx, a.In, display.Bare(a.Out))
}

// mcpOptions returns the server's options for the flags.
func mcpOptions(a *cli.App, o *mcpFlags) (*tools.ServerOptions, error) {
	if o.session != "" && o.host != "" {
		return nil, cli.Usagef("--session names a session and --host the newest of a host: give one of them")
	}
	opts := &tools.ServerOptions{AllTools: o.all, Version: cli.Build().Version,
		Logger: slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Tools:  tools.Options{SessionKey: o.session, Private: o.private && a.Config.Workspace.Private, ReadOnly: o.readOnly}}
	if o.host != "" {
		h, err := hook.ParseHost(o.host)
		if err != nil {
			return nil, cli.Usagef("%s", err)
		}
		opts.Session = func() string { return hook.Newest(a.StateDir, h) }
	}
	return opts, nil
}
