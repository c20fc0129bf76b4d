package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/serve/meter"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/serve/telemetry"
)

// proxyFlags are the flags of proxy.
type proxyFlags struct {
	listen                     string
	upstreams                  []string
	allowRemote, allowInsecure bool
	origins                    []string
	compaction                 bool
	windowFlags
	metrics metricsFlags
}

// Proxy returns the function that makes the verb proxy. The parameter export opens the program's
// exporter of telemetry. It is nil in a program without one.
func Proxy(export telemetry.Opener) func(*cli.App) *cobra.Command {
	return func(a *cli.App) *cobra.Command { return proxyVerb(a, export) }
}

func proxyVerb(a *cli.App, export telemetry.Opener) *cobra.Command {
	p := &proxyFlags{metrics: metricsFlags{export: export}}
	cmd := &cobra.Command{
		Long: `proxy is for clients that can be given another base URL and nothing else. It
plans each request of the Anthropic Messages API, of OpenAI's chat completions
and responses, and of Gemini's generateContent on its way to --upstream, and
streams the answer back as it comes. Other paths pass as they are. --upstream may
be repeated, for what is below a path; a client's key goes to the one of its
path alone.

Where no plan is ready within three seconds, what the newest one sent goes out with
the new messages behind it. In doubt a request goes out with the bytes that the
client wrote; the header X-Memkernel of the answer and the log say why. The session is the header
X-Memkernel-Session, else what the request says of it (metadata.user_id,
prompt_cache_key), else a hash of its beginning.

It listens on this machine alone, unless --listen names another address and
--allow-remote says that it is meant. Requests of web pages are refused, but for
those of an --allow-origin. Keys pass through and are kept nowhere.

Before a client goes on without the proxy, have it compact: its own history may be
larger than its model's window.`,
		Example: `  memkernel proxy --upstream https://api.anthropic.com
  ENABLE_TOOL_SEARCH=true ANTHROPIC_BASE_URL=http://127.0.0.1:8377 claude
  memkernel proxy --upstream https://api.openai.com --listen 127.0.0.1:8378
  memkernel proxy --upstream https://api.anthropic.com \
    --upstream /openai/=https://api.openai.com`,
		RunE: with(a, p, runProxy),
	}
	f := cmd.Flags()
	f.StringVar(&p.listen, "listen", "127.0.0.1:8377", "`address` to listen on; port 0 takes a free one")
	f.StringArrayVar(&p.upstreams, "upstream", nil, "`[/PATH=]URL` of an API, without the /v1 that clients ask for; may be repeated, for what is below a path")
	f.BoolVar(&p.allowRemote, "allow-remote", false, "let --listen name an address that other machines reach")
	f.StringArrayVar(&p.origins, "allow-origin", nil, "`origin` of a web page whose requests are taken, such as http://localhost:3000; may be repeated")
	f.BoolVar(&p.allowInsecure, "allow-insecure", false, "let plain http go to an upstream on another machine")
	p.windowFlags.add(f, "the price book's, else the API's", "a fifth, 8k to 40k", "", "the tool, or memkernel-get,")
	f.BoolVar(&p.compaction, "provider-compaction", false, "have Anthropic or OpenAI compact where a cut is near, by requests with the client's key; nobody can read the result (doc/proxy.md)")
	p.metrics.add(cmd)
	economyFlag(cmd)
	a.PricesFlag(cmd)
	a.SharedFlag(f)
	return cmd
}

type proxyJSON struct {
	Schema string `json:"schema"`
	// URL is the base URL for clients. With --listen 127.0.0.1:0 it has the port that the system
	// chose.
	URL string `json:"url"`
	// Upstream is the address for requests that match no other upstream. Without such an address
	// it is the last upstream.
	Upstream  string           `json:"upstream"`
	Upstreams []proxy.Upstream `json:"upstreams"`
	// Metrics is the URL at which Prometheus finds metrics.
	Metrics string `json:"metrics,omitempty"`
}

// proxyGrace is the time that a stopped proxy waits for answers that have begun.
const proxyGrace = 30 * time.Second

func runProxy(ctx context.Context, a *cli.App, p *proxyFlags) error {
	if len(p.upstreams) == 0 {
		return cli.Usagef("proxy needs --upstream URL, such as https://api.anthropic.com")
	}
	if err := cmp.Or(checkListen(p.listen, p.allowRemote, "name an address of this machine such as 127.0.0.1:8377, or add --allow-remote if others are meant to reach it",
		"name host and port, such as 127.0.0.1:8377"), p.metrics.check()); err != nil {
		return err
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	t, err := p.metrics.open(ctx, a, book, false)
	if err != nil {
		return err
	}
	defer t.Close(ctx)
	k, err := a.Kernel(ctx, cli.Needs{Prices: book, Vectors: true, Notes: true, Follow: true, Watch: t.Kernel()})
	if err != nil {
		return err
	}
	defer k.Close()
	t.Follow(k.IndexStatus)
	defer t.Follow(nil)
	o, err := proxyOptions(a, p, book)
	if err != nil {
		return err
	}
	m := meter.New(book)
	m.Each = t.Metered
	defer func() {
		for _, l := range unknownModels(m.Unknown()) {
			o.Logger.Warn(l)
		}
	}()
	o.Billed, o.Bill, o.Watch = m.Take, m.Bill, t.Proxy()
	x, err := proxy.New(k, o)
	if err != nil {
		return cli.Hint(err, "--upstream is scheme, host and path, and an origin scheme and host; plain http beyond this machine needs --allow-insecure")
	}
	l, err := net.Listen("tcp", p.listen)
	if err != nil {
		return cli.Hint(fmt.Errorf("listen on %s: %w", p.listen, err), "another program may have the port: name another one with --listen")
	}
	a.Serve(proxyGrace)
	if err := announce(a, l, x, t); err != nil {
		return errors.Join(err, l.Close())
	}
	return x.Serve(ctx, l, proxyGrace)
}

func proxyOptions(a *cli.App, p *proxyFlags, book *cachelayout.Book) (proxy.Options, error) {
	var list []proxy.Upstream
	for _, text := range p.upstreams {
		u, err := proxy.ParseUpstream(text)
		if err != nil {
			return proxy.Options{}, cli.Usagef("--upstream %s: %s", text, err)
		}
		list = append(list, u)
	}
	return proxy.Options{Upstreams: list, AllowInsecure: p.allowInsecure, AllowRemote: p.allowRemote,
		AllowOrigins: p.origins, Private: a.Private(), Prices: book,
		ContextWindow: int(p.window), Reserve: int(p.reserve), Resolver: p.resolver, ProviderCompaction: p.compaction, Command: getCommand(a), Logger: logger(a)}, nil
}

// getCommand returns the command that restores a page from any folder.
func getCommand(a *cli.App) string {
	dir, err := filepath.Abs(a.Workspace)
	if err != nil {
		dir = a.Workspace
	}
	command := "memkernel get --workspace " + shellWord(dir)
	if state, err := filepath.Abs(a.StateDir); err == nil && state != filepath.Join(dir, ".memkernel") {
		command += " --state-dir " + shellWord(state)
	}
	return command
}

// logger returns a log on standard error. It writes only warnings with --quiet, and JSON with
// --json.
func logger(a *cli.App) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if a.Quiet {
		o.Level = slog.LevelWarn
	}
	if a.JSON {
		return slog.New(slog.NewJSONHandler(display.DocumentScreen(a.Err), o))
	}
	return slog.New(slog.NewTextHandler(a.Err, o))
}

// announce prints the address of the proxy. The listener l must already listen.
func announce(a *cli.App, l net.Listener, x *proxy.Proxy, t *telemetry.Telemetry) error {
	list := x.Status().Upstreams
	doc := proxyJSON{"memkernel/proxy/v1", "http://" + l.Addr().String(), list[len(list)-1].URL, list, metricsURL(t)}
	return cli.Answer(a, doc, list, func(s *display.Sheet, list []proxy.Upstream) {
		for _, u := range list {
			to := u.URL
			if len(list) > 1 {
				to += " for " + u.For
			}
			s.Line("{} to {}", doc.URL, to)
		}
	})
}
