package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/endpoint"
	"github.com/memkernel/memkernel/internal/rendezvous"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/hook"
)

// hookFlags are the flags of hook.
type hookFlags struct {
	host     string
	deadline time.Duration
	wait     bool
	preview  string
	// extension: see [hook.Options.Extension].
	extension bool
}

func hookVerb(a *cli.App) *cobra.Command {
	o := &hookFlags{}
	cmd := &cobra.Command{
		Long: `hook is what hosts run at moments of a session. It reads one event from
standard input and writes the host's answer to standard output: what memory
holds on the user's words, the text to go on from after a compaction. Before a
compaction, after a turn and at a session's end it commits what is new of the
host's transcript.

A hook never fails its host. Whatever goes wrong, the answer is valid and empty, the
exit code is 0, and a line in <state-dir>/hook.log has the error. The workspace is the
event's folder, or the nearest above it that has a .memkernel. Without one, and after
uninstall, a hook does nothing.

'memkernel init --host NAME' writes the hooks into a host's settings.`,
		Example: "  memkernel hook --host claude < event.json\n  memkernel hook --preview \"When do we deploy?\"",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Hint(fmt.Errorf("hook takes no argument, got %q", args[0]), "run '%s --help' for what it takes", cmd.CommandPath())
			}
			return nil
		},
		// hookSetup reads the configuration later, because the event names the workspace. A
		// mistake in the configuration must not stop the host.
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("preview") {
				return previewHook(a, cmd, o)
			}
			return runHook(a, cmd, o)
		},
	}
	// The exit code of a usage error would tell hosts to block.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Hint(err, "run '%s --help' for what it takes", cmd.CommandPath())
	})
	hostFlag(cmd, &o.host, "`name` of the host")
	cmd.Flags().DurationVar(&o.deadline, "deadline", hook.DefaultDeadline, "most that the host is kept waiting")
	cmd.Flags().StringVar(&o.preview, "preview", "", "show what this `prompt` would be given, and write nothing")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "commit a turn before the answer, and not by a process of its own behind it")
	cmd.Flags().BoolVar(&o.extension, "extension", false, "do nothing in a folder that has the hooks itself: for extensions, which hosts run in all folders")
	return cmd
}

// previewHook prints what a hook would put into a prompt.
func previewHook(a *cli.App, cmd *cobra.Command, o *hookFlags) error {
	h, err := hook.ParseHost(cmp.Or(o.host, hook.HostNames()[0]))
	if err != nil {
		return err
	}
	a.Locate(cmd)
	folder, err := filepath.Abs(a.Workspace)
	if err != nil {
		return err
	}
	s, err := hookSetup(cmd.Context(), a, cmd)
	if err != nil {
		return err
	}
	text, packed, why, err := hook.Preview(cmd.Context(), h, s, folder, o.preview)
	if err != nil {
		return err
	}
	if why != "" {
		a.Tip("nothing would be added: %s", why)
		return nil
	}
	var places []string
	for i := range packed.Items {
		places = append(places, citedAt(packed.Items[i].Citation))
	}
	if _, err := io.WriteString(a.Out, text); err != nil {
		return err
	}
	a.Tip("some %s, of %s", display.Plural(packed.Tokens, "token"), strings.Join(places, ", "))
	return nil
}

// hostFlag adds a flag that names a host.
func hostFlag(cmd *cobra.Command, p *string, usage string) {
	cmd.Flags().StringVar(p, "host", "", usage+": "+strings.Join(hook.HostNames(), ", "))
	cli.CompleteWords(cmd, "host", hook.HostNames())
	cli.Must(cmd.Flags().SetAnnotation("host", cli.OwnFlag, []string{}))
}

func runHook(a *cli.App, cmd *cobra.Command, o *hookFlags) error {
	h, err := hook.ParseHost(o.host)
	if err != nil {
		return err
	}
	if o.deadline <= 0 {
		return cli.Hint(fmt.Errorf("--deadline %v leaves no time", o.deadline), "give how long the host may be kept waiting, such as 2s")
	}
	debug.SetGCPercent(400) // a short process is faster with fewer collections
	opts := hook.Options{Host: h, StateDir: a.StateDir, Extension: o.extension, Deadline: o.deadline, Problems: a.Err,
		Open: func(ctx context.Context, workspace, stateDir string) (*hook.Setup, error) {
			a.Workspace, a.StateDir = workspace, stateDir
			return hookSetup(ctx, a, cmd)
		}}
	if cmd.Flags().Changed("workspace") {
		opts.Workspace = a.Workspace
	}
	if !o.wait {
		opts.Behind = func(event []byte) error { return commitBehind(a, cmd, h, event) }
	}
	return hook.Run(cmd.Context(), opts, a.In, display.Bare(a.Out))
}

// hookSetup opens the event's workspace. It uses vectors only from a provider on this machine, so
// that the host does not wait for a remote server.
func hookSetup(ctx context.Context, a *cli.App, cmd *cobra.Command) (*hook.Setup, error) {
	if err := a.ReadConfig(cmd); err != nil {
		return nil, err
	}
	p, err := a.Embedder()
	if err != nil || !onThisMachine(string(a.Config.Embedding.BaseURL)) {
		p = nil // search by words only; the verb search reports mistakes in the configuration
	}
	ko, err := a.KernelOptions(nil, p)
	if err != nil {
		return nil, err
	}
	if err := cli.Keep(ctx, &a.Settings, ko); err != nil {
		return nil, err
	}
	ko.Memory.NoSpans = true // the host keeps its own history, so no message left a prompt of ours
	k, err := kernel.Open(ctx, a.Workspace, ko)
	if err != nil {
		return nil, err
	}
	c, m := a.Config, ko.Memory
	s := &hook.Setup{Kernel: k, Private: a.Private(), RecallTokens: m.RecallTokens, Window: int(c.Plan.ContextWindow), Thresholds: ko.Life.Thresholds(0, 0)}
	if s.Mask, err = a.Masker(); err == nil {
		s.Prices, err = a.Book()
	}
	if err == nil {
		s.Store, err = a.OpenStore(ctx, s.Private)
	}
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return s, nil
}

// behindTime is the limit for a commit that runs after the answer to the host.
const behindTime = 2 * time.Minute

// behindArgs returns the arguments of the second process, which commits a turn after the first process
// has answered the host. They repeat the user's flags for workspace, state folder and configuration.
func behindArgs(cmd *cobra.Command, h hook.Host) []string {
	args := []string{"hook", "--host", string(h), "--wait", "--deadline", behindTime.String()}
	for _, name := range []string{"workspace", "state-dir", "config"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			args = append(args, "--"+name, f.Value.String())
		}
	}
	return args
}

// maxPipe is the number of bytes that a pipe takes on every system before anybody reads from it.
const maxPipe = 4 << 10 // 4 KiB

// commitBehind starts this program again to process an event, and does not wait for it.
func commitBehind(a *cli.App, cmd *cobra.Command, h hook.Host, event []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := StartBehind(self, behindArgs(cmd, h), event)
	if err != nil {
		return err
	}
	return p.Release()
}

// StartBehind starts a program that reads event from standard input. The program has its own
// session and none of our streams, so that the host does not wait for it. The event must not be
// longer than maxPipe.
func StartBehind(program string, args []string, event []byte) (*os.Process, error) {
	if len(event) > maxPipe {
		return nil, errors.New("the event is too large to be handed over")
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	_, err = w.Write(event)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	c := exec.Command(program, args...)
	c.Stdin, c.SysProcAttr = r, rendezvous.OwnSession()
	if err := c.Start(); err != nil {
		return nil, err
	}
	return c.Process, nil
}

// onThisMachine reports whether the spelling of an address names this machine. It looks up no names
// other than localhost. It returns false for "", which stands for the provider's own address.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && endpoint.Loopback(u)
}
