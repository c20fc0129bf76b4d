package verbs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
)

// historyFlags are the flags of history.
type historyFlags struct {
	limit int
	diff  bool
	undo  string
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

It changes nothing without --undo, which takes back a change that an agent made: its files
become what they were, if nobody changed them since.`,
		Example: `  memkernel history MEMORY.md:12
  memkernel history MEMORY.md --diff --limit 3
  memkernel history --undo run-7`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runHistory(cmd.Context(), a, f, args) },
	}
	cmd.Flags().IntVar(&f.limit, "limit", defaultVersions, "print so many versions, the newest; 0 for all")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show how each version differs from the one before")
	cmd.Flags().StringVar(&f.undo, "undo", "", "take back the agent's change that `EDIT` names, as history prints it")
	return cmd
}

type undoneJSON struct {
	Schema string `json:"schema"`
	// Edit is the change that was undone. Time is when the agent made it.
	Edit string    `json:"edit"`
	Time time.Time `json:"time"`
	// Files are the restored files.
	Files []string `json:"files"`
}

// undoEdit undoes an agent's change.
func undoEdit(ctx context.Context, a *cli.App, edit string) error {
	k, err := openUpkeep(ctx, a)
	if err != nil {
		return err
	}
	defer k.Close()
	u, err := k.Editor().Undo(ctx, api.UndoRequest{Edit: edit, Private: a.Private()})
	if err != nil {
		return cli.Hint(err, "'memkernel history PATH' names the changes of a file, and shows what it was")
	}
	doc := undoneJSON{"memkernel/undone/v1", u.Edit, u.Time, []string{}}
	for _, f := range u.Files {
		doc.Files = append(doc.Files, f.Path)
	}
	if a.JSON {
		return a.WriteJSON(doc)
	}
	_, err = fmt.Fprintf(a.Out, "took back %s of %s: %s\n", doc.Edit, doc.Time.UTC().Format("2006-01-02 15:04Z"), display.Printable(strings.Join(doc.Files, ", ")))
	return err
}

func runHistory(ctx context.Context, a *cli.App, f *historyFlags, args []string) error {
	switch {
	case f.undo != "" && len(args) > 0:
		return cli.Usagef("history --undo takes one change back, whatever files it changed: leave out %s", args[0])
	case f.undo != "":
		return undoEdit(ctx, a, f.undo)
	}
	if len(args) != 1 {
		return cli.Usagef("history: name one file, or one of its entries as FILE:LINE")
	}
	if f.limit < 0 {
		return cli.Usagef("--limit %d: give how many versions to print, or 0 for all", f.limit)
	}
	path, line, ok := consolidation.PlaceOf(args[0])
	if !ok {
		path = args[0]
	} else if line == 0 {
		return cli.Usagef("%s: lines are counted from 1 on", args[0])
	}
	k, err := openUpkeep(ctx, a)
	if err != nil {
		return err
	}
	defer k.Close()
	h, err := k.Maintenance().History(ctx, api.HistoryRequest{Path: filepath.ToSlash(path), Line: line, Limit: f.limit, Diff: f.diff})
	if err != nil {
		return hintHistory(err)
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
func hintHistory(err error) error {
	var none *api.NoLineError
	switch {
	case errors.As(err, &none) && none.Near > 0:
		return cli.Hint(err, "the nearest entry is memkernel history %s:%d; without a line it is the whole file", none.Path, none.Near)
	case errors.As(err, &none):
		return cli.Hint(err, "the file has no entry: memkernel history %s is the whole file", none.Path)
	case errors.Is(err, api.ErrNoHistory):
		return cli.Hint(err, "name a file of memory from the workspace's folder on, such as MEMORY.md or memory/2026-03-09.md")
	case errors.Is(err, api.ErrNoText):
		return cli.Hint(err, "only text has entries and lines")
	}
	return err
}
