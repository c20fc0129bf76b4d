package verbs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

func curateVerb(a *cli.App) *cobra.Command {
	f := &api.CurateRequest{}
	cmd := &cobra.Command{
		Long: `curate reads the day's log and that of the day before, the working buffer, the
checkpoints of the day, and what the logs of two weeks hold with a tag, and appends
up to eight entries to MEMORY.md that aren't there yet, under the day's heading:
decisions, lessons and what the user asked for, as facts of today, each with the
place that it comes from. Of a log without tags its headings, labels and sentences
say what is one. Nothing that stands is rewritten; what a new entry replaces
is named in it. Where there is nothing to say, nothing is written. curate shows what it
would write unless --apply is given.`,
		Example: `  memkernel curate
  memkernel curate --date 2026-03-09 --apply`,
		RunE: with(a, f, runCurate),
	}
	cmd.Flags().BoolVar(&f.Apply, "apply", false, "write it; without it nothing is written")
	cmd.Flags().StringVar(&f.Day, "date", "", "the `day` that is read, as 2026-03-09 (default today)")
	cli.TimeFlag(cmd.Flags(), &f.Now, "now", "the moment that counts as now, in RFC 3339 (default now)")
	return cmd
}

func runCurate(ctx context.Context, a *cli.App, f *api.CurateRequest) error {
	if _, ok := markdownstore.ParseDate(f.Day, time.UTC); f.Day != "" && !ok {
		return cli.Usagef("--date %q is not a day such as 2026-03-09", f.Day)
	}
	out, err := askKeeper(ctx, a, "curating", api.Keeper.Curate, *f)
	if done, err := answer(a, out, err, showCurated); done {
		return err
	}
	if !out.Applied && len(out.Entries) > 0 {
		a.Tip("nothing was changed; --apply does it")
	}
	if out.Run != "" && len(out.Entries) > 0 {
		a.Tip("'memkernel undo %s' takes it back", out.Run)
	}
	return nil
}

func pruneVerb(a *cli.App) *cobra.Command {
	f := &api.PruneRequest{}
	cmd := &cobra.Command{
		Long: `prune brings the lines of MEMORY.md that machines wrote down to 30. What is said twice,
superseded or done leaves first; then lines move to the file for such facts, USER.md,
TOOLS.md, IDENTITY.md or a topic in memory/: a person's words last, decisions and lessons
before them, and of one kind first what was said on few days, was not needed again and is
old. What is not a day old stays.

Only what a machine wrote, and nobody has changed since, is counted and leaves: entries of
curate, and lines that an observed session's agent wrote there. What people wrote, and
what nobody is known to have written, stays and is not counted, unless --include names it: a
file, a heading with all below it, or an entry. A section that is a plain list gives single
items; any other leaves whole.

It also brings decisions and lessons of old logs into memory/, and empties what of the
working buffer a curation has read.

It shows what would go where, and does it with --apply. Whatever it touches is backed up
first, and undo takes the last run back. The settings are under upkeep.`,
		Example: `  memkernel prune
  memkernel prune --include "Old projects" --include memory/observations.md
  memkernel prune --apply`,
		RunE: with(a, f, runPrune),
	}
	cmd.Flags().BoolVar(&f.Apply, "apply", false, "do it; without it nothing is written")
	includeFlag(cmd, &f.Include)
	nowFlag(cmd, &f.Now)
	return cmd
}

func includeFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "include", nil, "let what somebody else wrote leave as well: a `name` of a file, a heading or an entry (may be repeated)")
}

func runPrune(ctx context.Context, a *cli.App, f *api.PruneRequest) error {
	f.PruneOptions = a.PruneOptions(f.Include)
	out, err := askKeeper(ctx, a, "pruning", api.Keeper.Prune, *f)
	if done, err := answer(a, out, err, showPruned); done {
		return err
	}
	if !out.Applied && (len(out.Moves) > 0 || out.BufferBytes > 0) {
		a.Tip("nothing was changed; --apply does it, and 'memkernel undo' takes it back")
	}
	if out.Applied && out.Run != "" {
		a.Tip("'memkernel undo %s' takes it back", out.Run)
	}
	return nil
}

var errSteps = errors.New("a step failed")

// showCurated lists the entries that were, or would be, added.
func showCurated(s *display.Sheet, out *api.Curated) {
	for i := range out.Entries {
		e := &out.Entries[i]
		s.Hang("  + ", 4, "", "{} {}", e.Tags, e.Text)
		from := "from " + e.From
		if e.Replaces != "" {
			from += fmt.Sprintf(", in the place of %q", e.Replaces)
		}
		s.Para(6, "gray", "{}", from)
	}
	if out.TakenBack > 0 {
		s.Para(0, "", "{}", takenBack(out))
	}
	what := added(out) + " in " + out.Path
	if len(out.Entries) == 0 {
		what = s.Say("nothing {?else }of {} that {} doesn't have", out.TakenBack > 0, out.Day, out.Path)
	}
	if out.Left > 0 {
		what += fmt.Sprintf(", %d more keep", out.Left)
	}
	s.Line("{}; {bytes} of the working buffer read", what, out.BufferBytes)
}

// added returns a message with the number of entries that were, or would be, added under the heading
// of a day.
func added(out *api.Curated) string {
	n := len(out.Entries)
	return display.Say("{entry} {} added under {}", n, doneTo(n, out.Applied), out.Day)
}

// takenBack returns a message with the number of entries that curate leaves out because a person has
// undone them, and with the command that writes one again.
func takenBack(out *api.Curated) string {
	return display.Say("left out: {entry} that you took back; 'memkernel remember --to {} TEXT' writes one again", out.TakenBack, out.Path)
}

// shownMove is the length of the shown part of a block, in columns.
const shownMove = 100

// showPruned lists the blocks that moved, or would move, with their new place. It also lists the
// blocks that stay.
func showPruned(s *display.Sheet, out *api.Pruned) {
	for i := range out.Moves {
		m := &out.Moves[i]
		to := m.To
		if to == "" {
			to = "nowhere: it is elsewhere, too"
		}
		s.Line("{} -> {} {}", display.Inked("bold", address(m.From, m.Line)), to, display.Inked("gray", "("+string(m.Why)+")"))
		s.Line("    {}", display.Clip(m.Text, shownMove))
	}
	for i := range out.Changes {
		c := &out.Changes[i]
		s.Line("{}: {} to {%d} lines", c.Path, c.LinesBefore, c.LinesAfter)
	}
	for _, over := range slices.Concat(out.Over, unknownNames(out.Unknown), out.Kept) {
		s.Para(0, "yellow", "note: {}", over)
	}
	s.Line("{entry} {} moved, {bytes} of the working buffer emptied, {bytes} left", len(out.Moves), doneTo(len(out.Moves), out.Applied), out.BufferBytes, out.BufferLeft)
}

// unknownNames returns a message for names of --include that match no entry.
func unknownNames(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q names no file that is pruned, no heading in one and no entry", n))
	}
	return out
}

// doneTo returns "would be", "was" or "were": the verb of a sentence about n things that were, or
// would be, changed.
func doneTo(n int, applied bool) string {
	switch {
	case !applied:
		return "would be"
	case n == 1:
		return "was"
	}
	return "were"
}
