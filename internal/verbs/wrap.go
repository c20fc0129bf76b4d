package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/meter"
	"github.com/memkernel/memkernel/serve/proxy"
)

// provider is an API that a command may call, with the variables that tell the command its
// address. Without variables the address is told by the host's [lead].
type provider struct {
	name string
	// variables tell clients the address, the usual one first.
	variables []variable
	url       string
	// version is the part of the path that the usual variable includes and the proxy's upstream
	// does not.
	version string
}

// variable is an environment variable that tells a client the address of an API, with the part of
// the path that the variable includes and the proxy's upstream does not.
type variable struct{ name, version string }

// providers are the APIs with clients that read a variable: the SDKs of Anthropic, OpenAI and
// Google, and Claude Code and Gemini CLI, which use these SDKs. goose reads the _HOST variables.
// Aider and its libraries read the _API_BASE variables.
var providers = []provider{
	{name: "anthropic", variables: []variable{{"ANTHROPIC_BASE_URL", ""}, {"ANTHROPIC_HOST", ""}, {"ANTHROPIC_API_BASE", ""}}, url: "https://api.anthropic.com"},
	{name: "openai", variables: []variable{{"OPENAI_BASE_URL", "/v1"}, {"OPENAI_HOST", ""}, {"OPENAI_API_BASE", "/v1"}}, url: "https://api.openai.com/v1", version: "/v1"},
	{name: "gemini", variables: []variable{{"GOOGLE_GEMINI_BASE_URL", ""}}, url: "https://generativelanguage.googleapis.com"},
}

// set returns the name of the provider's first variable that has a value, or of the usual variable
// if no variable has a value.
func (p *provider) set() string {
	for _, v := range p.variables {
		if os.Getenv(v.name) != "" {
			return v.name
		}
	}
	return cmp.Or(p.variables...).name
}

// wrapFlags are the flags of wrap.
type wrapFlags struct {
	proxyFlags
	log string
}

func wrapVerb(a *cli.App) *cobra.Command {
	w := &wrapFlags{}
	cmd := &cobra.Command{
		Long: `wrap runs a command, such as claude, with a proxy in front of the APIs that it calls:
it listens on free ports of this machine, and the command alone is told of them, by
ANTHROPIC_BASE_URL, OPENAI_BASE_URL and GOOGLE_GEMINI_BASE_URL, and by what goose and Aider
read in their place, such as OPENAI_HOST and OPENAI_API_BASE. A URL that such a variable has
already is where the proxy sends. Codex is told by -c, in front of its own arguments, Pi by
an extension, OpenCode and Cline by settings for the run, and Copilot CLI by
COPILOT_PROVIDER_BASE_URL if that is set; no file of theirs is changed. Requests are planned as "memkernel proxy" does. Where
hooks are installed, too, what they recalled is not recalled again.

When the command ends one line says what was called and billed, about what the same calls
would have cost without, and how many requests were planned and passed, with the reasons.
If no request came, it says so and names the way. The command's exit code is this one's.

The model is told that a shell tool, where it has one, follows pointers by running
memkernel get; the command finds memkernel on its PATH. --log FILE keeps the proxy's log.`,
		Example: `  memkernel wrap -- claude
  memkernel wrap --workspace ~/project -- codex exec "fix the tests"
  memkernel wrap --log proxy.log -- my-agent --port 9000`,
		Args: takes(1, many, "wrap needs a command behind --, such as memkernel wrap -- claude"),
		RunE: func(cmd *cobra.Command, args []string) error { return runWrap(cmd.Context(), a, w, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // flags after the command's name belong to the command
	f.StringVar(&w.log, "log", "", "append the proxy's log to `FILE`")
	f.BoolVar(&w.allowInsecure, "allow-insecure", false, "let plain http go to an API on another machine")
	w.windowFlags.add(f, "the price book's, else the API's", "a fifth, 8k to 40k", proxy.MemkernelGet, "the tool, or memkernel-get,")
	economyFlag(cmd)
	a.PricesFlag(cmd)
	return cmd
}

func runWrap(ctx context.Context, a *cli.App, w *wrapFlags, args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return cli.Hint(fmt.Errorf("%s: %w", args[0], err), "install it, or give its path")
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	k, err := a.Kernel(ctx, cli.Needs{Prices: book, Vectors: true, Notes: true, Follow: true})
	if err != nil {
		return err
	}
	defer k.Close()
	m := meter.New(book)
	logger, done, err := w.logger()
	if err != nil {
		return err
	}
	defer done()
	front, err := listen(a, w, args, k, m, book, logger)
	if err != nil {
		return err
	}
	more, env, clean, err := settled(front, args)
	if err != nil {
		return err
	}
	defer clean()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, len(front))
	for _, f := range front {
		go func() { ended <- f.proxy.Serve(serving, f.listener, proxyGrace) }()
	}
	code, childErr := runChild(ctx, a, path, more, env)
	a.AllowGrace(childGrace + proxyGrace)
	stop()
	for range front {
		if err := <-ended; err != nil {
			logger.Warn("the proxy ended", "detail", err.Error())
		}
	}
	if err := tell(a, m, args[0], front); err != nil {
		return err
	}
	if childErr != nil {
		return childErr
	}
	if code != 0 {
		return cli.Exit(code)
	}
	return nil
}

// logger returns a log to --log. Without that flag it writes nothing, because the terminal
// belongs to the command.
func (w *wrapFlags) logger() (*slog.Logger, func(), error) {
	if w.log == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	f, err := os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, cli.Hint(err, "give --log a file that can be written")
	}
	return slog.New(slog.NewTextHandler(f, nil)), func() { f.Close() }, nil
}

// served is the running proxy of a provider, with its listener.
type served struct {
	provider
	proxy    *proxy.Proxy
	listener net.Listener
}

// at returns the address of a provider's proxy.
func (s *served) at() string { return "http://" + s.listener.Addr().String() }

// listen makes a proxy for each provider, on a free port.
func listen(a *cli.App, w *wrapFlags, args []string, k *kernel.Kernel, m *meter.Meter, book *cachelayout.Book, logger *slog.Logger) (out []served, err error) {
	defer func() {
		if err != nil {
			for _, s := range out {
				s.listener.Close()
			}
		}
	}()
	for _, p := range ways(args) {
		flags := w.proxyFlags
		set := p.set()
		o, err := proxyOptions(a, &flags, book)
		if err != nil {
			return out, err
		}
		o.Upstream = p.upstream(os.Getenv(set))
		o.Billed, o.Bill, o.Logger = m.Take, m.Bill, logger.With("api", p.name)
		x, err := proxy.New(k, o)
		if err != nil {
			return out, cli.Hint(fmt.Errorf("%s: %w", cmp.Or(set, p.name), err), "the URL is scheme, host and path; plain http beyond this machine needs --allow-insecure")
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return out, fmt.Errorf("listen on this machine: %w", err)
		}
		out = append(out, served{p, x, l})
	}
	return out, nil
}

// upstream returns the address to which a provider's requests would go without the proxy.
func (p *provider) upstream(set string) string {
	return strings.TrimSuffix(strings.TrimSuffix(cmp.Or(set, p.url), "/"), p.version)
}

// toolSearch is the variable by which Claude Code searches for tools. If it is unset, Claude Code
// sends the definitions of all tools with every request to an address that is not Anthropic's.
const toolSearch = "ENABLE_TOOL_SEARCH"

// environment returns this process's environment with the variables of the proxies and with this
// program on the PATH. It leaves a variable unchanged if its address differs from that of the
// first variable that is set.
func environment(front []served) []string {
	env := os.Environ()
	for _, s := range front {
		to := s.upstream(os.Getenv(s.set()))
		for _, v := range s.variables {
			if had := os.Getenv(v.name); had == "" || s.upstream(had) == to {
				env = append(env, v.name+"="+s.at()+v.version)
			}
		}
		if s.name == "anthropic" && to == s.url && os.Getenv(toolSearch) == "" {
			env = append(env, toolSearch+"=true")
		}
	}
	if self, err := os.Executable(); err == nil {
		env = append(env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(self))
	}
	return env
}

// settled returns the command's arguments and environment, extended by the settings that make the
// command call the proxies. Callers must call clean after the run, which removes the files that were
// made for the run.
func settled(front []served, args []string) (more, env []string, clean func(), err error) {
	env, clean = environment(front), func() {}
	to := map[string]string{}
	for _, s := range front {
		if s.variables == nil {
			to[s.name] = s.at() + s.version
		}
	}
	l := leads[host(args[0])]
	if len(to) == 0 || len(args) > 1 && slices.Contains(l.verbs, args[1]) {
		return args, env, clean, nil
	}
	var own, vars []string
	dir, err := os.MkdirTemp("", "memkernel-wrap-")
	if err == nil {
		clean = func() { os.RemoveAll(dir) }
		own, vars, err = l.tell(to, dir)
	}
	if err != nil {
		clean()
		return nil, nil, nil, fmt.Errorf("settings for the run of %s: %w", args[0], err)
	}
	return slices.Concat(args[:1], own, args[1:]), append(env, vars...), clean, nil
}

// childGrace is the time that a command may take to end after it was asked to.
const childGrace = 10 * time.Second

// runChild runs the command on this terminal until it ends. The terminal sends an interrupt to
// both processes, and only the command reacts to it. If ctx ends, runChild asks the command to
// end.
func runChild(ctx context.Context, a *cli.App, path string, args, env []string) (int, error) {
	c := exec.CommandContext(ctx, path, args[1:]...)
	c.Cancel = func() error {
		end(c.Process)
		return os.ErrProcessDone // so that Wait returns how the command ended
	}
	c.WaitDelay = childGrace // after this time it is killed
	c.Args[0] = args[0]
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, a.In, display.Bare(a.Out), display.Bare(a.Err)
	a.LeaveInterrupts()
	a.AllowGrace(childGrace)
	if err := c.Start(); err != nil {
		return 0, cli.Hint(fmt.Errorf("%s: %w", args[0], err), "the command could not be started")
	}
	err := c.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		if code := exit.ExitCode(); code > 0 {
			return code, nil
		}
		return killed(exit), nil
	}
	return 0, fmt.Errorf("%s: %w", args[0], err)
}

// tell prints a line with the result of the run.
func tell(a *cli.App, m *meter.Meter, command string, front []served) error {
	sum := m.Sum()
	if a.Quiet {
		return nil
	}
	line := gained(&sum) + course(front)
	asked := slices.IndexFunc(front, func(f served) bool { s := f.proxy.Status(); return s.Planned+s.Extended+len(s.Passed) > 0 })
	switch {
	case sum.Calls == 0 && asked >= 0:
		line = fmt.Sprintf("no call was answered: see whether %s can be reached, and whether it takes the key; --log FILE keeps what it said", front[asked].proxy.Status().Upstreams[0].URL)
	case sum.Calls == 0:
		line = unasked(command)
	}
	lines := append([]string{line}, unknownModels(m.Unknown())...)
	for _, f := range front {
		if unfit := f.proxy.Status().Unfit; unfit != "" {
			lines = append(lines, unfit)
		}
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(a.Err, "memkernel: "+l); err != nil {
			return err
		}
	}
	return nil
}
