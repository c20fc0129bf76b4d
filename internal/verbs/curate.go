package verbs

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// curateFlags are the flags of curate.
type curateFlags struct {
	apply bool
	date  string
	now   cli.TimeValue
}

func curateVerb(a *cli.App) *cobra.Command {
	f := &curateFlags{}
	cmd := &cobra.Command{
		Long: `curate reads the day's log and that of the day before, the working buffer, the
checkpoints of the day, and what the logs of two weeks hold with a tag, and appends
up to eight entries to MEMORY.md that aren't there yet, under the day's heading:
decisions, lessons and what the user asked for, as facts of today, each with the
place that it comes from. Of a log without tags its headings, labels and sentences
say what is one. Nothing that stands is rewritten; what a new entry replaces
is named in it. Where there is nothing to say, nothing is written. If section
summary.model of the configuration names a model, that may reword and drop entries,
within bounds, and --apply asks it for facts of the two logs, a request each, of lines
that it has not read before. A fact is taken if each name, number and date in it stands
in the lines that it cites; it goes to memory/.facts/, and search finds these lines by
its words. curate shows what it would write, and send, unless --apply is given.`,
		Example: `  memkernel curate
  memkernel curate --date 2026-03-09 --apply`,
		RunE: with(a, f, runCurate),
	}
	cmd.Flags().BoolVar(&f.apply, "apply", false, "write it; without it nothing is written")
	cmd.Flags().StringVar(&f.date, "date", "", "the `day` that is read, as 2026-03-09 (default today)")
	cmd.Flags().Var(&f.now, "now", "the moment that counts as now, in RFC 3339 (default now)")
	return cmd
}

type curateJSON struct {
	Schema string `json:"schema"`
	*api.Curated
}

func runCurate(ctx context.Context, a *cli.App, f *curateFlags) error {
	if _, ok := markdownstore.ParseDate(f.date, time.UTC); f.date != "" && !ok {
		return cli.Usagef("--date %q is not a day such as 2026-03-09", f.date)
	}
	req, err := a.CurateRequest()
	if err != nil {
		return err
	}
	req.Day, req.Apply, req.Now = f.date, f.apply, f.now.Time
	out, err := askKeeper(ctx, a, "curating", api.Keeper.Curate, req)
	if err != nil {
		return err
	}
	if err := cli.Answer(a, curateJSON{"memkernel/curate/v1", out}, out, display.Curated); err != nil || a.JSON {
		return err
	}
	if !out.Applied && len(out.Entries)+len(out.Facts) > 0 {
		a.Tip("nothing was changed; --apply does it")
	}
	if out.Run != "" && len(out.Entries) > 0 {
		a.Tip("'memkernel undo %s' takes it back", out.Run)
	}
	return nil
}

// pruneFlags are the flags of prune.
type pruneFlags struct {
	apply   bool
	include []string
	now     cli.TimeValue
}

func pruneVerb(a *cli.App) *cobra.Command {
	f := &pruneFlags{}
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
	cmd.Flags().BoolVar(&f.apply, "apply", false, "do it; without it nothing is written")
	includeFlag(cmd, &f.include)
	cmd.Flags().Var(&f.now, "now", "the moment that ages are counted to, in RFC 3339 (default now)")
	return cmd
}

func includeFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "include", nil, "let what somebody else wrote leave as well: a `name` of a file, a heading or an entry (may be repeated)")
}

type pruneJSON struct {
	Schema string `json:"schema"`
	*api.Pruned
}

func runPrune(ctx context.Context, a *cli.App, f *pruneFlags) error {
	out, err := askKeeper(ctx, a, "pruning", api.Keeper.Prune, api.PruneRequest{PruneOptions: a.PruneOptions(f.include), Apply: f.apply, Now: f.now.Time})
	if err != nil {
		return err
	}
	if err := cli.Answer(a, pruneJSON{"memkernel/prune/v1", out}, out, display.Pruned); err != nil || a.JSON {
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

// openUpkeep opens the kernel for the verbs that maintain memory's files.
func openUpkeep(ctx context.Context, a *cli.App) (*kernel.Kernel, error) {
	if err := a.MemoryOn(); err != nil {
		return nil, err
	}
	return a.Kernel(ctx, cli.Needs{})
}
