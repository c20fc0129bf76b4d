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
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/serve/install"
	"github.com/memkernel/memkernel/serve/ui"
)

// windowWish is what of a window is chosen.
type windowWish struct {
	// Addr is an address of this machine.
	Addr string
	// Write lets it take back what the last night did.
	Write bool
	// Transcripts are shown in place of those of this machine's coding agents.
	Transcripts []string
	// Window and Resolver are how sessions are planned.
	Window   int
	Resolver string
}

// windowResolver is the default of windowWish.
const windowResolver = "memory_get"

// openWindow opens a window on a kernel. The function it returns ends it, once it does not serve.
func openWindow(a *cli.App, k *kernel.Kernel, book *cachelayout.Book, w windowWish) (*ui.Server, func(), error) {
	workspace, err := filepath.Abs(a.Workspace)
	if err != nil {
		return nil, nil, err
	}
	masker, err := mask.NewMasker(mask.Options{Allow: a.Config.Redact.Allow, Disable: a.Config.Redact.DisableRules})
	if err != nil {
		return nil, nil, err
	}
	files, err := a.OpenStore(context.Background(), a.Private())
	if err != nil {
		return nil, nil, err
	}
	end := func() {
		if files != nil {
			files.Close()
		}
	}
	s, err := ui.Listen(w.Addr, ui.Options{Kernel: k, Files: files, Prices: book, Workspace: workspace, StateDir: k.StateDir(), Location: a.Config.Workspace.Timezone.Location(), Private: a.Private(), Write: w.Write,
		Transcripts: func() []string { return transcripts(workspace, w.Transcripts) }, Plan: ui.Plan{Window: w.Window, Economy: a.Config.Economy, Resolver: w.Resolver}, Audit: a.AuditOptions(nil), Masker: masker,
		Doctor: func(ctx context.Context) (*health.Report, error) { return a.Examine(ctx, &health.DoctorOptions{}, nil) },
		Hint:   a.Commands})
	if err != nil {
		end()
		if errors.Is(err, ui.ErrNotLocal) {
			return nil, nil, cli.UsageWith(err.Error(), "on another machine, open a tunnel to it")
		}
		return nil, nil, cli.Hint(err, "port 0 takes a free one")
	}
	return s, end, nil
}

// startWindow opens a window at an address and serves it until ctx ends or the returned function is
// called, which waits for its end. The user is told its link. With the address "" it opens none.
func startWindow(ctx context.Context, a *cli.App, k *kernel.Kernel, book *cachelayout.Book, addr string) (wait func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	s, end, err := openWindow(a, k, book, windowWish{Addr: addr, Resolver: windowResolver})
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
		end()
	}()
	return func() {
		stop()
		<-ended
	}, nil
}

// transcripts are those that were named, else those of this machine's coding agents.
func transcripts(workspace string, named []string) []string {
	if len(named) > 0 {
		return named
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // then there are none that could be told apart
	}
	site := &install.Site{Workspace: workspace, Home: home, Getenv: os.Getenv, LookPath: exec.LookPath}
	found, err := site.Find(nil)
	if err != nil {
		return nil // it is about names alone, of which none is given
	}
	var out []string
	for _, h := range found {
		out = append(out, h.Transcripts...)
	}
	return out
}
