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
	_, err = answer(a, h, nil, showHistory)
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
	req := &api.WhyRequest{}
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
		RunE: withArgs(a, req, runWhy),
	}
	cli.TimeFlag(cmd.Flags(), &req.Now, "now", "the moment that its age is counted to, in RFC 3339 (default now)")
	return cmd
}

func runWhy(ctx context.Context, a *cli.App, req *api.WhyRequest, args []string) error {
	req.Entry = strings.TrimSpace(strings.Join(args, " "))
	if req.Entry == "" {
		return cli.Usagef("why: name an entry, as FILE:LINE, by its id, or by words of it")
	}
	if pl, err := addressIn(a, req.Entry); err == nil && pl.from > 0 {
		req.Entry = fmt.Sprintf("%s:%d", pl.path, pl.from)
	}
	g, err := askKeeper(ctx, a, "looking", api.Keeper.Why, *req)
	if none := (*consolidation.NoEntryError)(nil); errors.As(err, &none) {
		if len(none.Places) > 0 {
			return cli.Hint(err, "name one of them: memkernel why %s", none.Places[0])
		}
		return cli.Hint(err, "memkernel search finds its place, which names it: FILE:LINE")
	}
	if err != nil {
		return hintHands(a, err)
	}
	_, err = answer(a, g, nil, showGrounds)
	return err
}

// origins holds the wording for the writer of a version.
var origins = map[consolidation.Origin]string{
	consolidation.OriginHand: "by a person's hand", consolidation.OriginWords: "by a person, in a session", consolidation.OriginAgent: "by an agent, in a session",
	consolidation.OriginTool: "by a tool, in a session", consolidation.OriginUpkeep: "by memkernel's upkeep", consolidation.OriginUnknown: "by somebody, no record says who",
}

// events holds the wording of each event.
var events = map[api.HistoryEvent]string{
	api.EventFirst: "first known", api.EventWritten: "written", api.EventChanged: "changed", api.EventPromoted: "promoted", api.EventMoved: "moved",
	api.EventRemoved: "taken out", api.EventRestored: "back again",
}

// showHistory prints the earlier states of an entry or a file.
func showHistory(s *display.Sheet, h *api.History) {
	name := h.Path
	if h.Line > 0 {
		name = address(h.Path, h.Line)
	}
	s.Line("{}, {version}", name, h.Total)
	for i := range h.Versions {
		v := &h.Versions[i]
		at := v.Time.UTC().Format("2006-01-02 15:04Z")
		if v.By {
			at += " or before"
		}
		s.Line("\n{}, {}{}", display.Inked("bold", at+"  "+events[v.Event]), origins[v.Origin], because(h, v))
		placesOf(s, h, v)
		version(s, v)
	}
	if n := h.Total - len(h.Versions); n > 0 {
		s.Line("\n{version} more; --limit 0 prints all", n)
	}
	if h.Unkept > 0 {
		s.Line("\nof {state} of the file the text is not kept: retention or forget removed it, or it holds what is taken for a secret", h.Unkept)
	}
}

// because returns the id of the run that made a version, in parentheses. For an undo it also names the
// run that was undone.
func because(h *api.History, v *api.HistoryVersion) string {
	switch {
	case v.Kind == api.RunUndo:
		of := ""
		if i := slices.IndexFunc(h.Versions, func(o api.HistoryVersion) bool { return o.Run == v.Undoes }); i >= 0 {
			u := h.Versions[i].Undoes
			of = display.Say(", {}{? of }{}", h.Versions[i].Kind, u != "", u)
		}
		return display.Say(" ({} took back {}{})", v.Run, v.Undoes, of)
	case v.Run != "":
		return display.Say(" ({}, {})", v.Run, v.Kind)
	}
	return ""
}

// placesOf writes the place of a version, its origin and its destination.
func placesOf(s *display.Sheet, h *api.History, v *api.HistoryVersion) {
	if v.Line > 0 && (v.Path != h.Path || v.Line != h.Line) {
		s.Para(4, "", "at {}", address(v.Path, v.Line))
	}
	if len(v.From) > 0 {
		s.Para(4, "", "from {}", v.From)
	}
	if len(v.To) > 0 {
		s.Para(4, "", "to {}", v.To)
	}
	if v.SupersededBy != "" {
		s.Para(4, "", "superseded by {}", v.SupersededBy)
	}
	if v.Line == 0 {
		s.Para(4, "", "{line} added, {%d} removed", v.Added, v.Removed)
	}
}

// version writes the text of a version, or the difference from the previous version.
func version(s *display.Sheet, v *api.HistoryVersion) {
	if v.Diff == "" {
		for l := range strings.SplitSeq(strings.TrimRight(v.Text, "\r\n"), "\n") {
			s.Para(4, "", "{}", l)
		}
	}
	for l := range strings.Lines(v.Diff) {
		l = strings.TrimRight(l, "\r\n")
		var as string
		switch {
		case strings.HasPrefix(l, "+"):
			as = "green"
		case strings.HasPrefix(l, "-"):
			as = "red"
		}
		s.Line("    {}", display.Inked(as, l))
	}
}

// recorded completes the sentence about the writer of an entry with what the records say.
var recorded = map[string]string{
	"": ", and no record says who", api.ByPerson: ", by hand", api.ByWords: ", who said it in a session", api.ByUpkeep: ", and stands as it was written",
	api.ByMark: ", by its mark, and no record says that it stands as it was written",
}

// showGrounds prints the evidence for an entry.
func showGrounds(s *display.Sheet, g *api.Grounds) {
	s.Line("{}", address(g.Path, g.Line))
	s.Para(2, "", "{}", strings.TrimSpace(g.Tags.String()+" "+g.Text))
	row := func(name, form string, values ...any) { s.Hang(display.Left(name, 12), 12, "", form, values...) }
	row("written", "by {}{}", writers[g.WrittenBy], recorded[g.WrittenBy])
	if g.Run != "" {
		row("chosen", "in {} for {}, by {} ({%.1f})", g.Run, g.RunDay, g.Why, g.Score)
	}
	for _, f := range g.From {
		row("from", "{}{?: }{}", f.Ref, f.Text != "", f.Text)
	}
	if len(g.Supersedes) > 0 {
		row("replaces", "{}", g.Supersedes)
	}
	if g.Date != "" {
		row("age", "{day}, of {}", g.Age, g.Date)
	}
	if len(g.Days) > 0 {
		row("said", "in the logs of {day}: {}", len(g.Days), g.Days)
	}
	if g.Sessions > 0 {
		row("noted", "of {session}", g.Sessions)
	}
	if g.Calls > 0 {
		row("cost", "{call}", g.Calls)
	}
	if g.Recalled == 0 {
		row("recalled", "for no turn that memkernel planned; what hooks add is not counted")
		return
	}
	row("recalled", "for {turn}, last on {}; the agent then named it in {%d}", g.Recalled, g.Last.Format("2006-01-02"), g.Named)
}
