package verbs

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/serve/install"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/serve/ui"
)

// uiFlags are the flags of ui.
type uiFlags struct {
	addr          string
	noOpen, write bool
	transcripts   []string
	window        config.Tokens
	resolver      string
}

func uiVerb(a *cli.App) *cobra.Command {
	u := &uiFlags{}
	cmd := &cobra.Command{
		Long: `ui opens a window on this machine: a web page that shows what was said in sessions, also
while they run, what memkernel added to prompts and left out of them, what it saved, memory
with who wrote it and why, and whether all is well. The numbers of every call are one click
deeper. doc/ui.md describes it.

It prints the address first, which lets one browser in, once; it is read by nobody else,
and it ends with the program. Nothing is loaded from elsewhere, and nothing is sent there.

Shown are the sessions of the state folder, those that the coding agents on this machine
have recorded of this workspace, and those of each --transcript, a file or a folder.`,
		Example: `  memkernel ui
  memkernel ui --transcript session.jsonl
  memkernel ui --addr 127.0.0.1:8090 --no-open`,
		RunE: func(cmd *cobra.Command, args []string) error {
			u.write = u.write || !cmd.Flags().Changed("write") && a.Voice() == api.VoicePerson
			return runUI(cmd.Context(), a, u)
		},
	}
	f := cmd.Flags()
	f.StringVar(&u.addr, "addr", "127.0.0.1:0", "`address` of this machine to listen on; port 0 takes a free one")
	f.BoolVar(&u.noOpen, "no-open", false, "don't open a browser")
	f.BoolVar(&u.write, "write", false, "let the window add, edit and take back notes; at a person's terminal it does, unless this is false")
	f.StringArrayVarP(&u.transcripts, "transcript", "t", nil, "show this recorded session, a `file` or a folder of them; may be given again")
	cli.Must(cmd.MarkFlagFilename("transcript"))
	f.Var(&u.window, "context-window", "size of the window that sessions are planned for, such as 200k (default the price book's)")
	f.StringVar(&u.resolver, "resolver", "memory_get", "the tool or command by which the model can follow pointers, by `name`")
	a.PricesFlag(cmd)
	a.SharedFlag(f)
	return cmd
}

func runUI(ctx context.Context, a *cli.App, u *uiFlags) error {
	book, err := a.Book()
	if err != nil {
		return err
	}
	k, err := a.Kernel(ctx, cli.Needs{Prices: book, Vectors: true})
	if err != nil {
		return err
	}
	defer k.Close()
	voice := api.Voice("")
	if u.write {
		voice = a.WindowVoice()
	}
	s, err := openWindow(a, k, book, u, voice)
	if err != nil {
		return err
	}
	a.Serve(0)
	link := s.Link()
	if _, err := fmt.Fprintln(a.Out, link); err != nil {
		s.Close()
		return err
	}
	if !u.noOpen && a.Interactive() {
		forget, err := browse(link)
		if forget != nil {
			defer forget()
		}
		if err != nil {
			a.Tip("no browser could be opened: %s", err)
		}
	}
	return s.Serve(ctx)
}

// browse opens a page in the user's browser. It passes the link in a file that only the user can
// read, because other users of this machine could see an argument.
func browse(link string) (forget func(), err error) {
	f, err := os.CreateTemp("", "memkernel-ui-*.html") // readable only by its owner
	if err != nil {
		return nil, err
	}
	forget = func() { os.Remove(f.Name()) }
	_, err = fmt.Fprintf(f, `<!DOCTYPE html><meta charset="utf-8"><title>memkernel</title><meta http-equiv="refresh" content="0;url=%s">`, html.EscapeString(link))
	if err := errors.Join(err, f.Close()); err != nil {
		return forget, err
	}
	name, args := "xdg-open", []string{f.Name()}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", f.Name()}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return forget, err
	}
	go cmd.Wait() // how the browser ends does not matter
	return forget, nil
}

// openWindow starts the server of the window. The parameter voice says who makes the changes in the
// window. If it is "", the window only reads.
func openWindow(a *cli.App, k *kernel.Kernel, book *cachelayout.Book, u *uiFlags, voice api.Voice) (*ui.Server, error) {
	workspace, err := filepath.Abs(a.Workspace)
	if err != nil {
		return nil, err
	}
	masker, err := a.Masker()
	if err != nil {
		return nil, err
	}
	s, err := ui.Listen(u.addr, ui.Options{Kernel: k, Prices: book, Workspace: workspace, Location: a.Config.Workspace.Timezone.Location(), Private: a.Private(), Voice: voice,
		Transcripts: func() []string {
			if len(u.transcripts) > 0 {
				return u.transcripts
			}
			return ofAgents(workspace, func(h install.Host) []string { return h.Transcripts })
		}, Window: int(u.window), Economy: a.Config.Economy, Resolver: u.resolver, Audit: a.AuditOptions(nil), Masker: masker,
		Doctor:    func(ctx context.Context) (*health.Report, error) { return a.Examine(ctx, &health.DoctorOptions{}, nil) },
		Elsewhere: func() []string { return ofAgents(workspace, func(h install.Host) []string { return h.Homes }) },
		Hint:      a.Commands})
	if err != nil {
		if errors.Is(err, proxy.ErrRemote) {
			return nil, cli.UsageWith("listen on "+u.addr+": the window is for this machine alone, such as 127.0.0.1:0", "on another machine, open a tunnel to it")
		}
		return nil, cli.Hint(err, "port 0 takes a free one")
	}
	return s, nil
}

// ofAgents collects the results of the function of for all coding agents on this machine: files or
// folders that belong to the workspace.
func ofAgents(workspace string, of func(install.Host) []string) (out []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // without a home the workspace's transcripts can't be recognised
	}
	site := &install.Site{Workspace: workspace, Home: home, Getenv: os.Getenv, LookPath: exec.LookPath}
	found, _ := site.Find(nil) // errors are only about names, and no name is given
	for _, h := range found {
		out = append(out, of(h)...)
	}
	return out
}
