package verbs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/serve/install"
	"github.com/memkernel/memkernel/serve/ui"
)

// windowWish holds the options of a window.
type windowWish struct {
	// Addr is the address on this machine at which the window listens.
	Addr string
	// Voice is who speaks when the window changes memory. Without a voice it only reads.
	Voice api.Voice
	// Transcripts are used instead of the transcripts of this machine's coding agents.
	Transcripts []string
	// Window is the context window of plans. Resolver is the tool that follows the pointers in
	// plans.
	Window   int
	Resolver string
}

// windowResolver is the default of windowWish.Resolver.
const windowResolver = "memory_get"

// openWindow opens a window on a kernel.
func openWindow(a *cli.App, k *kernel.Kernel, book *cachelayout.Book, w windowWish) (*ui.Server, error) {
	workspace, err := filepath.Abs(a.Workspace)
	if err != nil {
		return nil, err
	}
	masker, err := a.Masker()
	if err != nil {
		return nil, err
	}
	s, err := ui.Listen(w.Addr, ui.Options{Kernel: k, Prices: book, Workspace: workspace, Location: a.Config.Workspace.Timezone.Location(), Private: a.Private(), Voice: w.Voice,
		Transcripts: func() []string { return transcripts(workspace, w.Transcripts) }, Elsewhere: func() []string { return agentHomes(workspace) }, Plan: ui.Plan{Window: w.Window, Economy: a.Config.Economy, Resolver: w.Resolver}, Audit: a.AuditOptions(nil), Masker: masker,
		Doctor: func(ctx context.Context) (*health.Report, error) { return a.Examine(ctx, &health.DoctorOptions{}, nil) },
		Hint:   a.Commands})
	if err != nil {
		if errors.Is(err, ui.ErrNotLocal) {
			return nil, cli.UsageWith(err.Error(), "on another machine, open a tunnel to it")
		}
		return nil, cli.Hint(err, "port 0 takes a free one")
	}
	return s, nil
}

// startWindow opens a window at an address and prints its link. It serves the window until ctx
// ends or the returned function is called. The returned function waits for the end. With the
// address "" startWindow opens no window.
func startWindow(ctx context.Context, a *cli.App, k *kernel.Kernel, book *cachelayout.Book, addr string) (wait func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	s, err := openWindow(a, k, book, windowWish{Addr: addr, Resolver: windowResolver})
	if err != nil {
		return nil, err
	}
	a.Tip("the window opens once at %s", s.Link())
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(ctx); err != nil {
			a.Tip("the window ended: %s", err)
		}
	}()
	return func() {
		stop()
		<-ended
	}, nil
}

// agents returns the coding agents of this machine, with their transcripts of a workspace.
func agents(workspace string) []install.Host {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // without a home the workspace's transcripts can't be recognised
	}
	site := &install.Site{Workspace: workspace, Home: home, Getenv: os.Getenv, LookPath: exec.LookPath}
	found, _ := site.Find(nil) // errors are only about names, and no name is given
	return found
}

// transcripts returns the named transcripts. Without names it returns the transcripts of this
// machine's coding agents.
func transcripts(workspace string, named []string) []string {
	if len(named) > 0 {
		return named
	}
	var out []string
	for _, h := range agents(workspace) {
		out = append(out, h.Transcripts...)
	}
	return out
}

// agentHomes returns the folders in which the coding agents of this machine keep sessions.
func agentHomes(workspace string) (out []string) {
	for _, h := range agents(workspace) {
		out = append(out, h.Homes...)
	}
	return out
}
