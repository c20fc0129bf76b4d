package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

func rememberVerb(a *cli.App) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Long: `remember writes a text to today's log, or with --to to another file of memory, and
prints where it is. A file that is not there is made; --to hosts is memory/hosts.md.
With - it reads the text from standard input. Secrets are masked.

What you write at a terminal is yours. In a script, or run by a coding agent, it is
marked as an agent's; no flag changes that, since an agent could give it, too.`,
		Example: `  memkernel remember we deploy on Thursdays
  memkernel remember --to memory/deploys.md "the staging port is 8081"`,
		Args: takes(1, many, "remember needs a text, or - for standard input"),
		RunE: withArgs(a, &to, runRemember),
	}
	cmd.Flags().StringVar(&to, "to", "", "the `file` of memory: MEMORY.md or TOPIC for memory/TOPIC.md (default today's log)")
	return cmd
}

// takes returns a check of a verb's arguments: their number must be from least to most. If least
// equals most, no argument may be empty. In the error text usage, %d stands for the number of
// arguments and %s for the first argument beyond most.
func takes(least, most int, usage string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		n := len(args)
		if n >= least && n <= most && (least != most || !slices.Contains(args, "")) {
			return nil
		}
		return cli.Usagef("%s", strings.NewReplacer("%d", strconv.Itoa(n), "%s", cmp.Or(args[min(n, most):]...)).Replace(usage))
	}
}

// many is the value of most for any number of arguments.
const many = math.MaxInt

// words joins arguments to a text. The single argument - stands for the content of standard input.
func words(a *cli.App, args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	data, err := a.ReadAll("-")
	return string(data), err
}

func runRemember(ctx context.Context, a *cli.App, to *string, args []string) error {
	text, err := words(a, args)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return cli.Usagef("remember: the text is empty")
	}
	file := ""
	if *to != "" {
		pl, err := addressIn(a, *to)
		if err != nil {
			return err
		}
		file = topicFile(a, pl.path)
	}
	r, err := askMemory(ctx, a, "", (*kernel.Kernel).Remember, api.RememberRequest{Text: text, Path: file, Voice: a.Voice(), Private: a.Private()})
	if err != nil {
		return hintHands(a, err)
	}
	return showEdited(a, r.Edited())
}

// topicFile returns the file of memory that a path names. A bare name is a topic in memory/, and so
// is the path of a missing file next to MEMORY.md.
func topicFile(a *cli.App, path string) string {
	name := strings.TrimSuffix(path, ".md")
	if strings.ContainsAny(name, "./") || strings.EqualFold(name, "MEMORY") || strings.EqualFold(name, "USER") {
		return path
	}
	if _, err := os.Stat(filepath.Join(a.Workspace, path)); !errors.Is(err, os.ErrNotExist) {
		return path
	}
	return "memory/" + name + ".md"
}

// showEdited prints an entry that was added, replaced or removed.
func showEdited(a *cli.App, e *api.EntryEdited) error {
	if done, err := answer(a, e, nil, drawEdited); done {
		return err
	}
	if e.Masked > 0 {
		a.Tip("%s masked", display.Plural(e.Masked, "secret"))
	}
	for _, made := range e.Promoted {
		a.Tip("stays, and was made of it: %s", made)
	}
	switch {
	case e.Duplicate:
		a.Tip("it was there already")
	case e.Edit == "":
		a.Tip("it said that already")
	default:
		a.Tip("'memkernel undo %s' takes it back", e.Edit)
	}
	return nil
}

func listVerb(a *cli.App) *cobra.Command {
	most := defaultListed
	cmd := &cobra.Command{
		Long: `list prints the entries of memory, or of one file or folder of it, those of the newest day
first: the address, the day if one is known, who wrote it, and the text. Entries without a
day count to that of their file's last change; of one day those come first that memkernel
wrote last. edit, forget, why, history and get take the address. Who wrote it is a person, an agent, memkernel's upkeep, or somebody, if no
record says who; that counts as a person.`,
		Example: `  memkernel list
  memkernel list MEMORY.md --max-results 5`,
		Args: takes(0, 1, "list takes one file or folder, got %d"),
		RunE: withArgs(a, &most, runList),
	}
	cmd.Flags().IntVarP(&most, "max-results", "n", defaultListed, "print at most `N` entries")
	a.SharedFlag(cmd.Flags())
	return cmd
}

// defaultListed is the default of --max-results of list: about the height of a screen, our choice.
const defaultListed = 20

func runList(ctx context.Context, a *cli.App, most *int, args []string) error {
	if *most < 1 {
		return cli.Usagef("--max-results %d: give a number from 1", *most)
	}
	req := api.ListRequest{Max: *most, Private: a.Private()}
	if of := strings.Join(args, ""); of != "" {
		pl, err := addressIn(a, of)
		if err != nil {
			return err
		}
		req.Path = pl.path
	}
	l, err := askEditor(ctx, a, kernel.MemoryEditor.List, req)
	if done, err := answer(a, l, err, showEntries); done {
		return err
	}
	for _, f := range l.Skipped {
		if f.Path == req.Path {
			return cli.Hint(fmt.Errorf("list: %s can't be read: %s", f.Path, f.Reason), "'memkernel doctor' says how to mend it")
		}
		a.Tip("%s is left out: %s; 'memkernel doctor' says how to mend it", f.Path, f.Reason)
	}
	switch {
	case l.Total == 0 && req.Path != "":
		a.Tip("%s has no entry of memory; 'memkernel list' prints all", req.Path)
	case l.Total == 0:
		a.Tip("MEMORY.md, USER.md and memory/ have no entry yet: 'memkernel remember TEXT' writes the first; search reads other Markdown, too")
	case l.Total > len(l.Entries):
		a.Tip("%d more; --max-results prints them", l.Total-len(l.Entries))
	}
	return nil
}

func editVerb(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Long: `edit replaces an entry of memory, and prints the old and the new text. The entry is named
by its address, as list, search and remember print it, or by the id of its mark. With -
for the text it reads standard input. You may change any entry, also in the log of a
past day; a coding agent or a script only what agents wrote.`,
		Example: `  memkernel edit MEMORY.md:12 we deploy on Fridays
  memkernel edit memory/deploys.md#L3 "the staging port is 8082"`,
		Args: takes(2, many, "edit needs an address and the new text: edit PATH:LINE TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := words(a, args[1:])
			if err == nil && strings.TrimSpace(text) == "" {
				err = cli.Usagef("edit: the new text is empty; forget %s takes the entry out", args[0])
			}
			if err != nil {
				return err
			}
			return runEntry(cmd.Context(), a, args[0], api.EntryRequest{Text: text})
		},
	}
}

// runEntry replaces or removes an entry.
func runEntry(ctx context.Context, a *cli.App, address string, req api.EntryRequest) error {
	k, err := openMemory(ctx, a, cli.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	pl, err := entryOf(ctx, a, k, address)
	if err != nil {
		return err
	}
	req.Path, req.Line, req.EndLine, req.Voice, req.Private = pl.path, pl.from, pl.from+max(pl.lines, 1)-1, a.Voice(), a.Private()
	e, err := k.Editor().Entry(ctx, req)
	if err != nil {
		return hintHands(a, err)
	}
	return showEdited(a, e)
}

// markForm matches the id of an entry's mark.
var markForm = regexp.MustCompile(`^(?:mk:)?(?:me|fl|wb|up)-[0-9a-f]+$`)

// entryOf returns the place of the entry that an address names: a file and a line, or the id of the
// entry's mark.
func entryOf(ctx context.Context, a *cli.App, k *kernel.Kernel, address string) (place, error) {
	if markForm.MatchString(address) {
		g, err := k.Maintenance().Why(ctx, api.WhyRequest{Entry: address})
		if err != nil {
			return place{}, hintHands(a, err)
		}
		return place{path: g.Path, from: g.Line}, nil
	}
	pl, err := addressIn(a, address)
	if err == nil && pl.from == 0 {
		err = cli.UsageWith(fmt.Sprintf("%s names no line", address), fmt.Sprintf("name an entry, as in %s:LINE; 'memkernel list %s' prints them", pl.path, pl.path))
	}
	return pl, err
}

// addressIn parses the address of a file or of lines of it, and returns it relative to the workspace.
// A relative path begins at the workspace. If the file is missing there, and the current folder is
// inside the workspace and has it, the path begins at the current folder.
func addressIn(a *cli.App, address string) (place, error) {
	pl, _, err := parsePlace(address)
	if err != nil {
		return pl, err
	}
	if a.Outer {
		_, missing := os.Stat(filepath.Join(a.Workspace, pl.path))
		here, err := filepath.Abs(pl.path)
		if err == nil && missing != nil {
			if here, err = filepath.EvalSymlinks(here); err == nil {
				pl.path = here
			}
		}
	}
	if abs, err := filepath.Abs(a.Workspace); err == nil && filepath.IsAbs(pl.path) {
		if rel, err := filepath.Rel(abs, pl.path); err == nil {
			pl.path = rel
		}
	}
	pl.path = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(pl.path)), "./")
	return pl, nil
}

// hintHands adds a hint to an error about an entry or a file of memory.
func hintHands(a *cli.App, err error) error {
	var none *api.NoLineError
	var person *api.PersonError
	var denied *markdownstore.DeniedError
	var secret *api.SecretError
	switch {
	case errors.As(err, &none) && none.Near > 0:
		return cli.Hint(err, "the nearest entry is %s:%d; 'memkernel list %s' prints all", none.Path, none.Near, none.Path)
	case errors.As(err, &none):
		return cli.Hint(err, "%s has no entry; 'memkernel list' prints those of memory", none.Path)
	case errors.As(err, &secret):
		return cli.Hint(err, "'memkernel forget --for-good PATH:LINE' takes it out and keeps no copy")
	case errors.As(err, &person), errors.As(err, &denied) && denied.Reason == markdownstore.DenyClosed:
		if person != nil {
			err = errors.New(person.Touch.Error())
		}
		return cli.Hint(err, "a person changes it at a terminal: %s; remember adds what holds now", a.WhyAgent())
	case errors.As(err, &denied):
		return cli.Hint(fmt.Errorf("%s: %s", denied.Path, denied.Text()), "name a file such as memory/deploys.md")
	}
	if cli.HintFor(err) == "" {
		return cli.Hint(err, "'memkernel list' prints the entries of memory with their addresses")
	}
	return err
}

func undoVerb(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Long: `undo takes back the last remember, edit, forget PATH:LINE, curation or pruning, a night's
too, or the change that ID names; history prints the ids, also of agents' sessions. The
lines that it wrote go, and those that it took out come back; what somebody changed since
stays as it is. If an older text has no place any more, nothing is done. An undo is taken
back by its ID. A coding agent or a script takes back no change that a person made.`,
		Example: `  memkernel undo
  memkernel undo run-7`,
		Args: takes(0, 1, "undo takes one change back, whatever files it changed: leave out %s"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runUndo(cmd.Context(), a, strings.Join(args, ""))
		},
	}
}

func runUndo(ctx context.Context, a *cli.App, edit string) error {
	u, err := askEditor(ctx, a, kernel.MemoryEditor.Undo, api.UndoRequest{Edit: edit, Voice: a.Voice(), Private: a.Private()})
	if e := (*api.EditError)(nil); errors.As(err, &e) && e.Person != "" {
		return cli.Hint(err, "a person takes it back at a terminal, by 'memkernel undo %s': %s", e.Person, a.WhyAgent())
	}
	if err != nil {
		return hintUndo(err)
	}
	if u.Left != "" && !a.JSON {
		a.Tip("%s", u.Left)
	}
	_, err = answer(a, u, nil, func(s *display.Sheet, u *api.EditUndone) {
		kind := ""
		if u.Kind != "edit" {
			kind = u.Kind + " of "
		}
		var names []string
		for _, f := range u.Files {
			names = append(names, f.Path)
		}
		s.Line("took back {} of {}: {}{}", u.Edit, u.Time.UTC().Format("2006-01-02 15:04Z"), kind, names)
	})
	return err
}

// hintUndo adds to an error of undo the command that shows the earlier texts of the file.
func hintUndo(err error) error {
	path := "PATH"
	if e := (*api.EditError)(nil); errors.As(err, &e) && e.Path != "" {
		path = e.Path
	}
	if e := (*api.StaleError)(nil); errors.As(err, &e) {
		path = e.Path
	}
	return cli.Hint(err, "'memkernel history %s --diff' shows what each change did, with its name for undo", path)
}

// writers has the words for the writer of an entry, which every verb uses.
var writers = map[string]string{"": "somebody", api.ByPerson: "a person", api.ByWords: "a person", api.ByAgent: "an agent", api.ByUpkeep: "memkernel's upkeep", api.BySession: "memkernel, of a session", api.ByMark: "memkernel"}

// showEntries prints entries of memory: the address, the date and the writer, and below them the text.
func showEntries(s *display.Sheet, l *api.MemoryList) {
	for i := range l.Entries {
		e := &l.Entries[i]
		date := ""
		if e.Date != "" && !strings.Contains(e.Path, e.Date) {
			date = "  " + e.Date
		}
		s.Line("{}{}  {}", display.Inked("bold", address(e.Path, e.Line)), date, display.Inked("gray", writers[e.By]))
		s.Para(2, "", "{}", e.Text)
	}
}

func address(path string, line int) string { return display.Say("{}:{%d}", path, line) }

var cited = textutil.LazyRegexp(`#L(\d+)(?:-L\d+)?$`)

// citedAt returns a citation such as FILE#L3-L9 as an address: FILE:3.
func citedAt(citation string) string {
	return display.Printable(cited.ReplaceAllString(citation, ":$1"))
}

// drawEdited prints an entry that was added, replaced or removed: its address, and its text. A text
// that is no longer there is marked as old.
func drawEdited(s *display.Sheet, e *api.EntryEdited) {
	s.Line("{}", address(e.Path, e.Line))
	text := func(mark, text string) {
		for l := range strings.SplitSeq(text, "\n") {
			s.Raw(s.Say("  {}{}", mark, l))
			mark = strings.Repeat(" ", len(mark))
		}
	}
	switch {
	case e.Before == "":
		text("", e.After)
	case e.EndLine == 0:
		text("gone  ", e.Before)
	default:
		text("old  ", e.Before)
		text("new  ", e.After)
	}
}
