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

// defaultVersions is the number of versions to print by default.
const defaultVersions = 20

func historyVerb(a *cli.App) *cobra.Command {
	f := &api.HistoryRequest{}
	cmd := &cobra.Command{
		Long: `history prints what an entry of memory was, or with a path alone what a file was: each
version with when it was written, by whom (a person's hand, a person's words in a
session, an agent, a tool, upkeep; that nobody knows is said), and why: promoted from a
log, moved, superseded, taken back. It follows an entry from line to line, from file to
file, into the log that it comes from and to what it took the place of.

It knows what curate, prune, nightly and agents' edits did and saw, as long as
retention.days keeps it. Secrets are masked. What you forget is in none of it.
Commits of git are not read: 'git log -L' has those of a line.

It changes nothing; undo takes back a change that it names.`,
		Example: `  memkernel history MEMORY.md:12
  memkernel history MEMORY.md --diff --limit 3`,
		Args: cobra.ArbitraryArgs,
		RunE: withArgs(a, f, runHistory),
	}
	cmd.Flags().IntVar(&f.Limit, "limit", defaultVersions, "print so many versions, the newest; 0 for all")
	cmd.Flags().BoolVar(&f.Diff, "diff", false, "show how each version differs from the one before")
	return cmd
}

func runHistory(ctx context.Context, a *cli.App, req *api.HistoryRequest, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("history: name one file, or one of its entries as FILE:LINE")
	}
	if req.Limit < 0 {
		return cli.Usagef("--limit %d: give how many versions to print, or 0 for all", req.Limit)
	}
	pl, err := addressIn(a, args[0])
	if err != nil {
		return err
	}
	req.Path, req.Line = pl.path, pl.from
	h, err := askKeeper(ctx, a, "", api.Keeper.History, *req)
	if err != nil {
		return hintHistory(a, err)
	}
	err = cli.Answer(a, document.OfHistory(h), h, display.History)
	if err == nil && h.Total <= 1 {
		a.Tip("nothing older is known: 'memkernel nightly' keeps what it changes and what MEMORY.md is each night; 'git log -L LINE,LINE:FILE' prints what was committed")
	}
	return err
}

// hintHistory adds a hint to an error.
func hintHistory(a *cli.App, err error) error {
	switch {
	case errors.Is(err, api.ErrNoHistory):
		return cli.Hint(err, "name a file of memory from the workspace's folder on, such as MEMORY.md or memory/2026-03-09.md")
	case errors.Is(err, api.ErrNoText):
		return cli.Hint(err, "only text has entries and lines")
	}
	return hintHands(a, err)
}

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
		RunE: withArgs(a, &now, runWhy),
	}
	cmd.Flags().Var(&now, "now", "the moment that its age is counted to, in RFC 3339 (default now)")
	return cmd
}

func runWhy(ctx context.Context, a *cli.App, now *cli.TimeValue, args []string) error {
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
	return cli.Answer(a, document.OfGrounds(g), g, display.Grounds)
}
