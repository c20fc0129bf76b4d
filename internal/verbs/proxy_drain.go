package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/proxy"
)

// list registers the proxy for --drain until the returned function is called. If the registration
// fails, the proxy still serves.
func list(x *proxy.Proxy, l net.Listener, s store.Store, log *slog.Logger) func() {
	remove, err := x.Register(s, l)
	if err != nil {
		log.Warn("proxy --drain will not find this proxy", "detail", err.Error())
		return func() {}
	}
	return func() {
		if err := remove(); err != nil {
			log.Warn("what says where this proxy was stays", "detail", err.Error())
		}
	}
}

type drainJSON struct {
	Schema string `json:"schema"`
	// Fits reports whether every session can continue without the proxy.
	Fits bool `json:"fits"`
	// Proxies are the base URLs of the proxies that drain now. Sessions are the sessions of all
	// these proxies.
	Proxies  []string       `json:"proxies"`
	Sessions []drainSession `json:"sessions"`
}

type drainSession struct {
	// Proxy is the proxy of the session.
	Proxy string `json:"proxy"`
	proxy.Session
}

// runDrain makes the proxies of the state directory drain, and prints the sessions that still
// have to shrink.
func runDrain(ctx context.Context, a *cli.App) error {
	found, _, err := proxy.FindRunning(ctx, store.Files(a.StateDir))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return cli.Hint(errors.New("no proxy runs for "+a.StateDir),
			"name the workspace or the state directory that it was started with; what a session has can't be told once its proxy has ended")
	}
	doc := drainJSON{Schema: "memkernel/proxy_drain/v1", Fits: true, Proxies: []string{}, Sessions: []drainSession{}}
	var shown []proxy.Session
	for i := range found {
		st, err := found[i].Ask(ctx, http.MethodPost, proxy.PathDrain)
		if err != nil {
			return fmt.Errorf("%s: %w", found[i].URL, err)
		}
		doc.Proxies = append(doc.Proxies, found[i].URL)
		for _, s := range st.Sessions {
			doc.Sessions = append(doc.Sessions, drainSession{found[i].URL, s})
			doc.Fits = doc.Fits && s.OverTokens == 0
			shown = append(shown, s)
		}
	}
	if a.JSON {
		err = a.WriteJSON(doc)
	} else {
		err = display.Drain(a.Out, shown, a.Style())
	}
	if err == nil && !doc.Fits {
		return cli.Exit(cli.ExitError)
	}
	return err
}
