package verbs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
)

func whyVerb(a *cli.App) *cobra.Command {
	var now cli.TimeValue
	cmd := &cobra.Command{
		Long: `why prints what speaks for an entry of memory: where it comes from and who wrote it, as
far as a mark or a record says so; what it was ranked by when it was given a place in
MEMORY.md; on how many days and in how many sessions the same came up, and how many
calls it cost; how often it was recalled for a turn, and how often the agent then named
it. The entry is named by its place, by its id, or by words that it alone holds. It
changes nothing.`,
		Example: `  memkernel why MEMORY.md:12
  memkernel why the nets are kept in the long shed`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runWhy(cmd.Context(), a, args, now) },
	}
	cmd.Flags().Var(&now, "now", "the moment that its age is counted to, in RFC 3339 (default now)")
	return cmd
}

func runWhy(ctx context.Context, a *cli.App, args []string, now cli.TimeValue) error {
	name := strings.TrimSpace(strings.Join(args, " "))
	if name == "" {
		return cli.Usagef("why: name an entry, as FILE:LINE, by its id, or by words of it")
	}
	if pl, err := addressIn(a, name); err == nil && pl.from > 0 {
		name = fmt.Sprintf("%s:%d", pl.path, pl.from)
	}
	g, err := askKeeper(ctx, a, "looking", api.Keeper.Why, api.WhyRequest{Entry: name, Now: now.Time})
	if none := (*consolidation.NoEntryError)(nil); errors.As(err, &none) {
		if len(none.Places) > 0 {
			return cli.Hint(err, "name one of them: memkernel why %s", none.Places[0])
		}
		return cli.Hint(err, "memkernel search finds its place, which names it: FILE:LINE")
	}
	if err != nil {
		return hintHands(a, err)
	}
	if a.JSON {
		return a.WriteJSON(document.OfGrounds(g))
	}
	return display.Grounds(a.Out, g, a.Style())
}
