package verbs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
)

// nightlyFlags are the flags of nightly.
type nightlyFlags struct {
	api.NightlyRequest
	include, jobs []string
}

func nightlyVerb(a *cli.App) *cobra.Command {
	f := &nightlyFlags{}
	cmd := &cobra.Command{
		Long: `nightly runs audit, curate --apply and prune --apply, in this order and never two at
a time. A step is skipped if the one before failed; what the audit finds is no
failure. It may be killed at any moment, and a second run of the same night finds
nothing to do. How each step went is appended to jobs.jsonl in the state folder,
which audit reads. The exit code is 1 if a step failed. --dry-run shows what the steps
would do, and writes nothing; undo takes a night back. With --quiet a night that went
well prints nothing.

--quiet-time is for the hours between, and --idle for a call every few minutes.
doc/nightly.md has lines for cron and units for systemd.

What people wrote stays: see 'memkernel prune --help' for --include.`,
		Example: `  memkernel nightly --dry-run
  memkernel nightly --quiet-time --idle 30m
  memkernel nightly --once 20h`,
		RunE: with(a, f, runNightly),
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.DryRun, "dry-run", false, "show what would be done; nothing is written")
	fl.BoolVar(&f.QuietTime, "quiet-time", false, "curate today's log, trim observations.md and empty what of the working buffer was read, and nothing else")
	fl.DurationVar(&f.Idle, "idle", 0, "do nothing unless all sessions have been quiet for so long")
	fl.DurationVar(&f.Once, "once", 0, "do nothing if it was done within so long, by this machine or another that shares the state")
	includeFlag(cmd, &f.include)
	jobsFlag(cmd, &f.jobs)
	cli.TimeFlag(fl, &f.Now, "now", "the moment that counts as now, in RFC 3339 (default now)")
	return cmd
}

// nightlyJSON is the document of nightly.
type nightlyJSON struct {
	Schema string `json:"schema"`
	*api.Nightly
	// Findings counts the findings of the audit. Added counts the curated entries. Moved counts
	// the pruned entries.
	Findings int `json:"findings"`
	Added    int `json:"added"`
	Moved    int `json:"moved"`
	// Notes name the files that stay over a limit, with the reason.
	Notes []string `json:"notes"`
	// DryRun reports that nothing was written.
	DryRun bool `json:"dry_run"`
	// Files are the changed files, or those that would be changed.
	Files []nightFile `json:"files"`
}

// nightFile is a file that a night changed.
type nightFile struct {
	// Run names the run, for an undo, "" if nothing was written.
	Run  string `json:"run"`
	Path string `json:"path"`
	// Added counts the entries that the file got. Left counts those that left it.
	Added int `json:"added"`
	Left  int `json:"left"`
}

// nightFiles returns the files that a night changed, in order.
func nightFiles(n *api.Nightly) []nightFile {
	out := []nightFile{}
	if c := n.Curated; c != nil && len(c.Entries) > 0 {
		out = append(out, nightFile{Run: c.Run, Path: c.Path, Added: len(c.Entries)})
	}
	if n.Pruned == nil {
		return out
	}
	for _, c := range n.Pruned.Changes {
		f := nightFile{Run: n.Pruned.Run, Path: c.Path}
		for _, m := range n.Pruned.Moves {
			if m.To == f.Path {
				f.Added++
			}
			if m.From == f.Path {
				f.Left++
			}
		}
		out = append(out, f)
	}
	if n.Pruned.BufferBytes > 0 {
		out = append(out, nightFile{Run: n.Pruned.Run, Path: bufferPath})
	}
	return out
}

// bufferPath is the path of the working buffer, which holds no entries of memory.
const bufferPath = "memory/working-buffer.md"

func runNightly(ctx context.Context, a *cli.App, f *nightlyFlags) error {
	if f.Idle < 0 {
		return cli.Usagef("--idle %v: give for how long, such as 30m", f.Idle)
	}
	if f.Once < 0 {
		return cli.Usagef("--once %v: give for how long, such as 20h", f.Once)
	}
	req := f.NightlyRequest
	req.Audit, req.Prune = a.AuditOptions(f.jobs), a.PruneOptions(f.include)
	out, err := askKeeper(ctx, a, "audit, curate and prune", api.Keeper.Nightly, req)
	if errors.Is(err, api.ErrNightlyRuns) {
		return cli.Hint(err, "wait for it, or call it at another time")
	}
	if err != nil {
		return err
	}
	return showNightly(a, out, f.DryRun)
}

func showNightly(a *cli.App, n *api.Nightly, dry bool) error {
	doc := nightlyJSON{Schema: "memkernel/nightly/v1", Nightly: n, Notes: []string{}, DryRun: dry, Files: nightFiles(n)}
	if n.Audit != nil {
		doc.Findings = n.Audit.Faults()
	}
	if n.Pruned != nil {
		doc.Moved = len(n.Pruned.Moves)
		doc.Notes = document.List(slices.Concat(n.Pruned.Over, unknownNames(n.Pruned.Unknown), n.Pruned.Kept))
	}
	if c := n.Curated; c != nil {
		doc.Added = len(c.Entries)
		for i := range c.Entries {
			if e := &c.Entries[i]; e.Replaces != "" {
				doc.Notes = append(doc.Notes, fmt.Sprintf("%s: %q is in the place of %q, which stays and counts as outdated", c.Path, e.Text, e.Replaces))
			}
		}
		if c.TakenBack > 0 {
			doc.Notes = append(doc.Notes, takenBack(c))
		}
	}
	var err error
	if a.JSON || !a.Quiet || dry && n.Skipped == "" || n.Failed() {
		err = cli.Answer(a, doc, &doc, showNight)
	}
	switch {
	case a.JSON:
	case dry && n.Skipped == "":
		a.Tip("nothing was changed; nightly without --dry-run does it")
	case !a.Quiet:
		tipNight(a, &doc)
	}
	if err == nil && n.Failed() {
		err = cli.Hint(errSteps, "see the steps above; what was begun is finished by the next run")
	}
	return err
}

// tipNight names the way back, which begins with the last run.
func tipNight(a *cli.App, n *nightlyJSON) {
	var undo []string
	for _, f := range slices.Backward(n.Files) {
		if way := "'memkernel undo " + f.Run + "'"; !slices.Contains(undo, way) {
			undo = append(undo, way)
		}
	}
	if len(undo) > 0 {
		a.Tip("%s takes it back", strings.Join(undo, ", then "))
	}
}

// changed says how many entries a night added to a file and took out.
func changed(f nightFile) string {
	var out []string
	if f.Added > 0 {
		out = append(out, display.Say("{entry} added", f.Added))
	}
	if f.Left > 0 {
		out = append(out, display.Say("{entry} moved out", f.Left))
	}
	switch {
	case f.Path == bufferPath:
		return "emptied of what curate has read"
	case out == nil:
		return "lines that are no entry"
	}
	return strings.Join(out, ", ")
}

// showNight prints what a night did, or would do.
func showNight(s *display.Sheet, n *nightlyJSON) {
	switch {
	case n.Skipped != "":
		s.Line("nothing was done: {}", n.Skipped)
		return
	case n.DryRun:
		if n.Audit != nil {
			s.Line("{finding} by audit", n.Findings)
		}
		showCurated(s, n.Curated)
		showPruned(s, n.Pruned)
		return
	}
	came := map[string]string{api.StepAudit: display.Plural(n.Findings, "finding"), api.StepCurate: "0 entries added", api.StepPrune: display.Say("{entry} moved", n.Moved)}
	if n.Added > 0 {
		came[api.StepCurate] = added(n.Curated)
	}
	for _, step := range n.Steps {
		what := came[step.Step]
		if step.Outcome != "ok" {
			what = step.Outcome + ": " + step.Error
		}
		s.Line("{%-7s} {}", step.Step, what)
	}
	for _, f := range n.Files {
		s.Line("file    {}: {}", f.Path, changed(f))
	}
	for _, note := range n.Notes {
		s.Hang("note    ", 8, "", "{}", note)
	}
}

// guardFlags are the flags of guard.
type guardFlags struct {
	before, after string
}

func guardVerb(a *cli.App) *cobra.Command {
	f := &guardFlags{}
	cmd := &cobra.Command{
		Long: `guard compares MEMORY.md with what the last nightly run left, or with --before, and
finds the lines that are lost. A line is not lost if it moved to another file of memory
or its archive, or if prune took it out, which keeps a backup. If more than a
quarter of the lines are lost it lists them, and the exit code is 3. As a hook before commits:

  git show HEAD:MEMORY.md | memkernel guard --before -`,
		Example: `  memkernel guard
  memkernel guard --before MEMORY.md.old --json`,
		RunE: with(a, f, runGuard),
	}
	cmd.Flags().StringVar(&f.before, "before", "", "`file` with what it was, - for standard input (default what the last nightly run left)")
	cmd.Flags().StringVar(&f.after, "after", "", "`file` with what it is to become (default the workspace's)")
	return cmd
}

func runGuard(ctx context.Context, a *cli.App, f *guardFlags) error {
	var req api.GuardRequest
	var err error
	if req.Before, err = textOf(a, f.before); err != nil {
		return err
	}
	if req.After, err = textOf(a, f.after); err != nil {
		return err
	}
	loss, err := askKeeper(ctx, a, "", api.Keeper.Guard, req)
	_, err = answer(a, loss, err, showLoss)
	if err == nil && loss.Refused {
		a.Tip("bring the lines back, or into the file that owns them; 'memkernel prune' moves them so that nothing is lost")
		err = cli.WithFindings(len(loss.Lost))
	}
	return err
}

// textOf reads the file that a flag names. It returns nil without a name.
func textOf(a *cli.App, name string) (*string, error) {
	if name == "" {
		return nil, nil
	}
	data, err := a.ReadAll(name)
	if err != nil {
		return nil, err
	}
	return new(string(data)), nil
}

// showLoss lists the lines that a file has lost.
func showLoss(s *display.Sheet, loss *consolidation.Loss) {
	for _, l := range loss.Lost {
		s.Line("{%5d}  {}", l.Line, l.Text)
	}
	s.Line("{} lost {%d} of {line}, {%.0f} %; {%.0f} % may be", loss.Path, len(loss.Lost), loss.Lines, 100*loss.Share, 100*loss.Limit)
}
