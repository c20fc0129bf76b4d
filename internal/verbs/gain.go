package verbs

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/meter"
)

func gainVerb(a *cli.App) *cobra.Command {
	var since cli.TimeValue
	cmd := &cobra.Command{
		Long: `gain adds up the calls that went through memkernel wrap and memkernel proxy, by day:
what the provider billed, and about what the same calls would have cost without memkernel.
The second figure is an estimate. It is made once for each call and kept with the session,
so that wrap, ui, report and replay show the same. Where nothing was cut, kept out or added
both figures are equal. For a session that did not go through, memkernel replay
--transcript FILE simulates what could be saved.`,
		Example: `  memkernel gain
  memkernel gain --since 2026-11-01T00:00:00Z --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return runGain(a, since.Time) },
	}
	cmd.Flags().Var(&since, "since", "leave out calls that were made before")
	return cmd
}

func runGain(a *cli.App, since time.Time) error {
	runs, bad := meter.Runs(store.Files(a.StateDir), since)
	doc := meter.GainOf(runs, a.Config.Workspace.Timezone.Location())
	var err error
	if a.JSON {
		err = a.WriteJSON(doc)
	} else {
		err = display.Gain(a.Out, doc, a.Style())
	}
	if err == nil && bad != nil {
		return fmt.Errorf("some runs are left out: %w", bad)
	}
	return err
}
