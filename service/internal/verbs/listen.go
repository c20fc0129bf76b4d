// Package verbs has the verbs that only memkernel-server has: serve over HTTP, token and migrate.
package verbs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/verbs"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/serve/telemetry"
	"github.com/memkernel/memkernel/service/internal/databases"
	export "github.com/memkernel/memkernel/service/telemetry"
	"github.com/memkernel/memkernel/service/web"
)

// Serve is the verb serve, which can also serve over HTTP.
func Serve(a *cli.App) *cobra.Command {
	l := &listenFlags{}
	return verbs.ServeBy(a, export.Open, verbs.Door{Flags: l.flags, Check: l.check, Help: listenHelp, Example: listenExample, Alone: l.alone, Beside: l.beside})
}

// listenFlags are the flags of a server that is reached over the network.
type listenFlags struct {
	address, cert, key string
	insecure, tenants  bool
	mostTenants        int
	calls, sessions    int64
	bytes              sizeFlag
}

// sizeFlag is a number of bytes, in the form that settings use.
type sizeFlag struct{ config.Size }

// Type returns the name of the type in help.
func (*sizeFlag) Type() string { return "size" }

// flags adds the flags to f.
func (l *listenFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&l.address, "listen", "", "answer over HTTP at this `address` too, such as 127.0.0.1:8731; port 0 takes a free one")
	f.StringVar(&l.cert, "tls-cert", "", "certificate `file` in PEM, for --listen")
	f.StringVar(&l.key, "tls-key", "", "`file` of the certificate's key in PEM")
	f.BoolVar(&l.insecure, "insecure", false, "let --listen name an address that other machines reach without TLS, behind a proxy that has it say")
	f.BoolVar(&l.tenants, "tenants", false, "a workspace for each tenant that a token names, below the state folder; no socket")
	f.IntVar(&l.mostTenants, "max-tenants", 64, "how many tenants are open at once; the one that was called longest ago is closed for another")
	f.Int64Var(&l.calls, "quota-calls", 0, "how many calls a tenant has in a minute; 0 for any number")
	f.Int64Var(&l.sessions, "quota-sessions", 0, "how many different sessions the calls of a tenant may name in a minute; 0 for any number")
	f.Var(&l.bytes, "quota-bytes", "how many bytes of requests a tenant has in a minute, such as 100MiB; 0 for any number")
}

func (l *listenFlags) quotas() web.Quotas {
	return web.Quotas{Calls: l.calls, Bytes: int64(l.bytes.Size), Sessions: l.sessions}
}

// check returns an error for invalid values, for flags that exclude each other, and for a flag
// without another flag that it needs.
func (l *listenFlags) check(s *verbs.ServeFlags) error {
	switch {
	case l.address == "" && (l.cert != "" || l.key != "" || l.insecure || l.tenants || l.quotas() != (web.Quotas{})):
		return cli.Usagef("--tls-cert, --tls-key, --insecure, --tenants and --quota-… go with --listen")
	case l.address == "":
		return nil
	case (l.cert == "") != (l.key == ""):
		return cli.Usagef("--tls-cert and --tls-key go together")
	case s.Stdio:
		return cli.Usagef("--listen prints its address: it goes without --stdio")
	case min(l.calls, l.sessions) < 0:
		return cli.Usagef("--quota-calls and --quota-sessions: give a number from 1 on, or 0 for any number")
	case l.mostTenants < 1:
		return cli.Usagef("--max-tenants %d: give a number from 1 on", l.mostTenants)
	case l.tenants && (s.Socket || s.Idle > 0):
		return cli.Usagef("--tenants goes without --socket and --idle")
	}
	err := proxy.CheckListen(l.address, l.insecure || l.cert != "")
	switch {
	case errors.Is(err, proxy.ErrRemote):
		return cli.Hint(err, "give --tls-cert and --tls-key, or name an address of this machine such as 127.0.0.1:8731; --insecure lets tokens and prompts travel in the clear")
	case err != nil:
		return cli.Hint(err, "name host and port with --listen, such as 127.0.0.1:8731")
	}
	return nil
}

// listen begins to listen, and returns the URL.
func (l *listenFlags) listen() (net.Listener, string, error) {
	at, err := net.Listen("tcp", l.address)
	if err != nil {
		return nil, "", cli.Hint(fmt.Errorf("listen on %s: %w", l.address, err), "another program may have the port")
	}
	if l.cert == "" {
		return at, "http://" + at.Addr().String(), nil
	}
	pair, err := tls.LoadX509KeyPair(l.cert, l.key)
	if err != nil {
		err = errors.Join(fmt.Errorf("read certificate %s and key %s: %w", l.cert, l.key, err), at.Close())
		return nil, "", cli.Hint(err, "name a certificate and its key, both in PEM")
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	return tls.NewListener(at, c), "https://" + at.Addr().String(), nil
}

// callLog returns a log of requests on standard error, with a JSON object for each request.
func callLog(a *cli.App) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if a.Quiet {
		o.Level = slog.LevelWarn
	}
	return slog.New(slog.NewJSONHandler(display.DocumentScreen(a.Err), o))
}

// rememberTokens is how long a token in a database is not read again. The calls of a session come
// more often than that, and each read costs a statement and a round trip.
const rememberTokens = 2 * time.Second

// waitingCalls is how many calls of a tenant run at once for each processor if the state is in a
// database. Most of these calls wait for the database.
const waitingCalls = 8

// options returns the options that all listeners share. The tokens are kept with the state, so that
// all machines that serve the state know the same ones.
func (l *listenFlags) options(ctx context.Context, a *cli.App) (web.Options, error) {
	all, err := tokens(ctx, a)
	if err != nil {
		return web.Options{}, err
	}
	o := web.Options{Tokens: all, PastSessions: a.Config.Retrieval.Sessions.Enabled, Logger: callLog(a), Quotas: l.quotas()}
	if a.Config.Store.Backend == "postgres" {
		o.Tokens.Remember(rememberTokens)
		o.Running = waitingCalls * runtime.GOMAXPROCS(0)
	}
	return o, nil
}

// beside returns a function that opens the HTTP address of a daemon, or nil if the flags ask for no
// address.
func (l *listenFlags) beside(ctx context.Context, a *cli.App) func(*serve.Server) (string, func(context.Context) error, error) {
	if l.address == "" {
		return nil
	}
	return func(s *serve.Server) (string, func(context.Context) error, error) {
		o, err := l.options(ctx, a)
		if err != nil {
			return "", nil, err
		}
		at, url, err := l.listen()
		if err != nil {
			return "", nil, err
		}
		o.Ready = s.Ready
		o.Server = func(context.Context, string) (*serve.Server, func(), error) {
			return s, func() {}, nil
		}
		door := web.New(o)
		go func() {
			if err := door.Serve(at); err != nil {
				o.Logger.Error("calls are not answered any more", "error", err.Error())
			}
		}()
		return url, door.Close, nil
	}
}

// listenHelp is the paragraph about serving over HTTP in the help of serve, and listenExample an
// example.
const (
	listenHelp = `With --listen the same methods are answered over HTTP, at POST /rpc, for bearers of
tokens that 'memkernel-server token create' made (doc/service.md). The URL is the first line that
is printed then, and the socket's path the second. --tenants keeps a workspace for each
tenant that a token names, in tenants/ of the state folder, and has no socket.

`
	listenExample = "\n  memkernel-server serve --listen 0.0.0.0:8731 --tls-cert cert.pem --tls-key key.pem"
)

// tidyEvery is how often idle tenants are looked for.
const tidyEvery = time.Minute

// alone serves tenants until ctx ends. It returns false without serving if the flags ask for no
// tenants.
func (l *listenFlags) alone(ctx context.Context, a *cli.App, s *verbs.ServeFlags) (alone bool, err error) {
	if !l.tenants {
		return false, nil
	}
	return true, l.serveTenants(ctx, a, s)
}

func (l *listenFlags) serveTenants(ctx context.Context, a *cli.App, s *verbs.ServeFlags) (err error) {
	if err := cli.CheckTenants(&a.Settings); err != nil {
		return err
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	root, err := filepath.Abs(a.StateDir)
	if err != nil {
		return fmt.Errorf("find state folder: %w", err)
	}
	t, err := s.Watch(ctx, a, book)
	if err != nil {
		return err
	}
	defer t.Close(ctx)
	longwork.Bound(runtime.GOMAXPROCS(0)/2 - 1) // a tenant's calls may use half of the processors
	tenants := &web.Tenants{Root: root, Open: openTenant(a, book, t), Most: l.mostTenants}
	release, err := serve.Hold(root)
	if err != nil {
		return verbs.ServedElsewhere(err)
	}
	defer release()
	if err := store.KeepOutOfGit(store.Files(root)); err != nil {
		return fmt.Errorf("make state folder: %w", err)
	}
	if err := databases.BoundByPolicies(ctx, &a.Settings); err != nil {
		return err
	}
	o, err := l.options(ctx, a)
	if err != nil {
		return err
	}
	at, url, err := l.listen()
	if err != nil {
		return err
	}
	o.Tenants, o.Server, o.Ready = true, tenants.Server, func(context.Context) error { return o.Tokens.Ready() }
	door := web.New(o)
	failed := make(chan error, 1)
	go func() { failed <- door.Serve(at) }()
	fmt.Fprintln(a.Out, url)
	tidy := time.NewTicker(tidyEvery)
	defer tidy.Stop()
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		case <-tidy.C:
			if e := tenants.Tidy(ctx); e != nil {
				o.Logger.Error("tenants are not closed", "error", e.Error())
			}
		}
	}
	door.Drain()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), serve.DefaultDrain)
	defer cancel()
	return errors.Join(err, tenants.Close(stop), door.Close(stop))
}

// openTenant returns a function that opens a tenant with the server's configuration.
func openTenant(a *cli.App, book *cachelayout.Book, t *telemetry.Telemetry) func(context.Context, string, string, string) (*serve.Server, func() error, error) {
	return func(ctx context.Context, name, workspace, state string) (*serve.Server, func() error, error) {
		own, err := a.Tenant(name, workspace, state)
		if err != nil {
			return nil, nil, err
		}
		k, err := own.Kernel(ctx, cli.Needs{Prices: book, Vectors: true, Notes: true, Follow: true, Watch: t.Kernel()})
		if err != nil {
			return nil, nil, errors.Join(err, own.Close())
		}
		// A tenant must not learn anything about the server's folders.
		o := &serve.Options{Private: a.Private(), Prices: book, Version: cli.Build().Version, Location: own.Config.Workspace.Timezone.Location(),
			Retain: own.Retention(), Watch: t.Serve()}
		return serve.New(k, o), func() error { return errors.Join(k.Close(), own.Close()) }, nil
	}
}
