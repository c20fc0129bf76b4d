package verbs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/billing"
)

func gainVerb(a *cli.App) *cobra.Command {
	var since cli.TimeValue
	cmd := &cobra.Command{
		Long: `gain adds up the calls of the sessions that memkernel planned, by day: what the provider
billed, and about what the same calls would have cost without memkernel. The second figure
is an estimate. It is made once for each call and kept with the session, so that wrap, ui
and replay show the same. Where nothing was cut, kept out or added both figures are equal.
Requests that belong to no session are in neither. For a session that memkernel did not
plan, memkernel replay --transcript FILE simulates what could be saved.`,
		Example: `  memkernel gain
  memkernel gain --since 2026-11-01T00:00:00Z --json`,
		RunE: with(a, &since, runGain),
	}
	cmd.Flags().Var(&since, "since", "leave out calls that were made before")
	return cmd
}

// gainJSON is the document of gain.
type gainJSON struct {
	Schema string `json:"schema"`
	document.Saved
}

func runGain(ctx context.Context, a *cli.App, since *cli.TimeValue) error {
	in := a.Config.Workspace.Timezone.Location()
	st, err := ask(ctx, a, cli.Needs{}, "", (*kernel.Kernel).Usage, billing.Options{Since: since.Time, Location: in})
	if err != nil {
		return statsHint(err)
	}
	doc := gainJSON{"memkernel/gain/v1", document.OfSaved(st, in)}
	if a.JSON {
		return a.WriteJSON(doc)
	}
	return display.Gain(a.Out, &doc.Saved, a.Style())
}
