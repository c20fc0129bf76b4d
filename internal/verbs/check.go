package verbs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
)

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
	if a.JSON {
		err = a.WriteJSON(document.OfCheck(k.StateDir(), found))
	} else {
		err = display.Check(a.Out, k.StateDir(), found)
	}
	if err == nil && len(found) > 0 {
		return cli.WithFindings(len(found))
	}
	return err
}
