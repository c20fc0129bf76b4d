package verbs

import (
	"cmp"
	"context"

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
		RunE:    with(a, &req, runSalvage),
	}
	f := cmd.Flags()
	f.StringVarP(&req.SessionKey, "session", "s", "", "`key` of the session")
	f.BoolVar(&req.Project, "project", false, "what all sessions share, in place of a session")
	f.BoolVar(&req.Apply, "apply", false, "do it; without it nothing is written")
	return cmd
}

func runSalvage(ctx context.Context, a *cli.App, req *api.SalvageRequest) error {
	if (req.SessionKey == "") == !req.Project {
		return cli.Usagef("name the session with --session, or --project for what all sessions share")
	}
	out, err := ask(ctx, a, cli.Needs{}, "reading what is damaged", (*kernel.Kernel).Salvage, *req)
	if _, err := answer(a, out, err, showSalvaged); err != nil {
		return err
	}
	switch {
	case a.JSON || out.Sound:
	case out.Applied:
		a.Tip("observe the session's transcript again, so that what is lost and is still there is kept")
	default:
		a.Tip("nothing was changed; --apply puts the damaged files aside and goes on with what is sound")
	}
	if !out.Sound && !out.Applied {
		return cli.WithFindings(len(out.Lost) + len(out.Unfit) + len(out.Files))
	}
	return nil
}

func showSalvaged(s *display.Sheet, out *api.Salvaged) {
	s.Line("session {}: {turn}, {page} and {record} of the journal are sound", out.Session, out.Turns, out.Pages, out.Records)
	for _, l := range out.Lost {
		about := ""
		if l.About != "" {
			about = " (" + l.About + ")"
		}
		s.Line("  lost      line {%d}, byte {%d}, {%d} bytes{}: {}", l.Line, l.Offset, l.Bytes, about, l.Reason)
	}
	for _, u := range out.Unfit {
		s.Line("  unusable  {}", u)
	}
	for _, f := range out.Files {
		s.Line("  damaged   {}: {}", f.Path, f.Reason)
	}
	for _, p := range out.Aside {
		s.Line("  put aside {}", p)
	}
	if out.Sound {
		s.Line("nothing is damaged")
	}
}

func checkVerb(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Long: `check reads every journal from end to end and holds it against what was synced,
restores every page and compares it with its hash, reads all checkpoints and captured
state, blobs, backups and the index, and looks for prompts that show what can't
be restored. It changes nothing. The exit code is 3 if it finds something; 'memkernel
salvage' mends a session.`,
		RunE: with(a, struct{}{}, runCheck),
	}
}

func runCheck(ctx context.Context, a *cli.App, _ struct{}) error {
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
	doc := document.OfCheck(k.StateDir(), found)
	err = cli.Answer(a, doc, &doc, showChecked)
	return cmp.Or(err, cli.WithFindings(len(found)))
}

// showChecked lists the findings of a check of a state folder.
func showChecked(s *display.Sheet, d *document.Check) {
	if d.OK {
		s.Line("{}: nothing found", d.StateDir)
	}
	for _, f := range d.Findings {
		s.Line("{}: {}", cmp.Or(f.Session, "blobs"), f.What)
		if f.Hint != "" {
			s.Line("  {}", f.Hint)
		}
	}
}
