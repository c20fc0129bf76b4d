package verbs

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
)

// historyFlags are the flags of history.
type historyFlags struct {
	limit int
	diff  bool
}

// defaultVersions is the number of versions to print by default.
const defaultVersions = 20

func historyVerb(a *cli.App) *cobra.Command {
	f := &historyFlags{}
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
		RunE: func(cmd *cobra.Command, args []string) error { return runHistory(cmd.Context(), a, f, args) },
	}
	cmd.Flags().IntVar(&f.limit, "limit", defaultVersions, "print so many versions, the newest; 0 for all")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show how each version differs from the one before")
	return cmd
}

func runHistory(ctx context.Context, a *cli.App, f *historyFlags, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("history: name one file, or one of its entries as FILE:LINE")
	}
	if f.limit < 0 {
		return cli.Usagef("--limit %d: give how many versions to print, or 0 for all", f.limit)
	}
	pl, err := addressIn(a, args[0])
	if err != nil {
		return err
	}
	h, err := askKeeper(ctx, a, "", api.Keeper.History, api.HistoryRequest{Path: pl.path, Line: pl.from, Limit: f.limit, Diff: f.diff})
	if err != nil {
		return hintHistory(a, err)
	}
	if a.JSON {
		err = a.WriteJSON(document.OfHistory(h))
	} else {
		err = display.History(a.Out, h, a.Style())
	}
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
