package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
)

func newCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Long: `check reads every journal from end to end and holds it against what was synced,
restores every page and compares it with its hash, reads all checkpoints and captured
state, blobs, backups, traces and the index, and looks for prompts that show what can't
be restored. It changes nothing. The exit code is 3 if it finds something; 'memkernel
salvage' mends a session.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runCheck(cmd.Context(), a) },
	}
}

func runCheck(ctx context.Context, a *app) error {
	k, err := a.openKernel(ctx, needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	found, err := k.Check(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.writeJSON(document.OfCheck(k.StateDir(), found))
	} else {
		err = display.Check(a.Out, k.StateDir(), found)
	}
	if err == nil && len(found) > 0 {
		return withFindings(len(found))
	}
	return err
}
