package verbs

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

func salvageVerb(a *cli.App) *cobra.Command {
	var req api.SalvageRequest
	cmd := &cobra.Command{
		Long: `salvage reads a session whose files are damaged, says what is sound and what is
lost, with file, line and bytes, and changes nothing. With --apply the damaged files
are put aside under another name beside where they stood, never overwritten, and the
session goes on with what is sound. A turn that is lost is committed again when its
transcript is observed again. The exit code is 3 if something is damaged and was not
put aside.`,
		Example: "  memkernel salvage --session build-42\n  memkernel salvage --session build-42 --apply",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (req.SessionKey == "") == !req.Project {
				return cli.Usagef("name the session with --session, or --project for what all sessions share")
			}
			return runSalvage(cmd.Context(), a, req)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&req.SessionKey, "session", "s", "", "`key` of the session")
	f.BoolVar(&req.Project, "project", false, "what all sessions share, in place of a session")
	f.BoolVar(&req.Apply, "apply", false, "do it; without it nothing is written")
	return cmd
}

type salvageJSON struct {
	Schema string `json:"schema"`
	*api.Salvaged
}

func runSalvage(ctx context.Context, a *cli.App, req api.SalvageRequest) error {
	out, err := ask(ctx, a, cli.Needs{}, "reading what is damaged", (*kernel.Kernel).Salvage, req)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.WriteJSON(salvageJSON{"memkernel/salvage/v1", out})
	} else {
		showSalvaged(a, out)
	}
	if err == nil && !out.Sound && !out.Applied {
		return cli.WithFindings(len(out.Lost) + len(out.Unfit) + len(out.Files))
	}
	return err
}

func showSalvaged(a *cli.App, s *api.Salvaged) {
	line := func(format string, args ...any) { fmt.Fprintf(a.Out, format+"\n", args...) }
	line("session %s: %s, %s and %s of the journal are sound", display.Printable(s.Session), display.Plural(s.Turns, "turn"), display.Plural(s.Pages, "page"), display.Plural(s.Records, "record"))
	for _, l := range s.Lost {
		about := ""
		if l.About != "" {
			about = " (" + l.About + ")"
		}
		line("  lost      line %d, byte %d, %d bytes%s: %s", l.Line, l.Offset, l.Bytes, display.Printable(about), display.Printable(l.Reason))
	}
	for _, u := range s.Unfit {
		line("  unusable  %s", display.Printable(u))
	}
	for _, f := range s.Files {
		line("  damaged   %s: %s", display.Printable(f.Path), display.Printable(f.Reason))
	}
	for _, p := range s.Aside {
		line("  put aside %s", display.Printable(p))
	}
	switch {
	case s.Sound:
		line("nothing is damaged")
	case s.Applied:
		a.Tip("observe the session's transcript again, so that what is lost and is still there is kept")
	default:
		a.Tip("nothing was changed; --apply puts the damaged files aside and goes on with what is sound")
	}
}

func checkVerb(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Long: `check reads every journal from end to end and holds it against what was synced,
restores every page and compares it with its hash, reads all checkpoints and captured
state, blobs, backups and the index, and looks for prompts that show what can't
be restored. It changes nothing. The exit code is 3 if it finds something; 'memkernel
salvage' mends a session.`,
		RunE: func(cmd *cobra.Command, args []string) error { return runCheck(cmd.Context(), a) },
	}
}

func runCheck(ctx context.Context, a *cli.App) error {
	k, err := a.Kernel(ctx, cli.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	found, err := k.Check(a.Counted(ctx, "checking"))
	a.ProgressDone()
	if err != nil {
		return err
	}
	a.Findings(found)
	err = a.Answer(document.OfCheck(k.StateDir(), found), func() error { return display.Check(a.Out, k.StateDir(), found) })
	return cmp.Or(err, cli.WithFindings(len(found)))
}
