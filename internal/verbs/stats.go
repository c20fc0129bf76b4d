package verbs

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/billing"
)

// statsFlags are the flags of stats.
type statsFlags struct {
	session string
	since   cli.TimeValue
}

func statsVerb(a *cli.App) *cobra.Command {
	s := &statsFlags{}
	cmd := &cobra.Command{
		Long: `stats reads what every observed call was billed and, where it was planned, what that
was to cost: tokens by how they were billed, the price of the input side, how much of
it the cache served, which calls were cold and whether that was expected, and what cuts
have kept out of the prompts. Sums are per session, day and model. A call counts once
it was observed with its usage, whether that stands in the transcript (observe, the
hooks of hosts) or was handed in beside it; it is compared if the host named its plan.

What cuts saved is against sending everything ever said at every call, whether a
window holds it or not, and less what the cuts themselves had to rewrite. A price
that the book did not know when the call was observed is in no sum of costs.`,
		Example: `  memkernel stats
  memkernel stats --session build-42 --since 2026-03-09T00:00:00Z`,
		RunE: with(a, s, runStats),
	}
	f := cmd.Flags()
	f.StringVarP(&s.session, "session", "s", "", "`key` of the session (default all)")
	f.Var(&s.since, "since", "leave out calls that were planned before")
	return cmd
}

func runStats(ctx context.Context, a *cli.App, s *statsFlags) error {
	st, err := ask(ctx, a, cli.Needs{}, "", (*kernel.Kernel).Usage, billing.Options{Session: s.session, Since: s.since.Time, Location: a.Config.Workspace.Timezone.Location()})
	if err != nil {
		return statsHint(err)
	}
	for _, path := range st.Torn {
		a.Tip("the last line of %s was cut off and is left out", path)
	}
	return cli.Answer(a, document.OfUsage(st), st, display.Stats)
}

// statsHint adds a hint.
func statsHint(err error) error {
	var damage *store.LogError
	if errors.As(err, &damage) {
		return cli.Hint(err, "the file is a report and no state: mend that line or move %s away", damage.File)
	}
	return err
}

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
	return cli.Answer(a, doc, &doc.Saved, display.Gain)
}
