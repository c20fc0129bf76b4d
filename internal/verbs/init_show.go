package verbs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/serve/install"
)

// showInitPlan prints the hosts that were found and the planned changes.
func showInitPlan(s *display.Sheet, a *cli.App, in *install.Installer, doc *initJSON) {
	change, has := changes(doc.Files) > 0, hasIt(doc)
	if change || !has {
		s.Line("memkernel gives coding agents a memory of this folder: before each answer they\nget what its notes say on the question.\n")
	}
	s.Line("folder    {}", in.Workspace)
	if a.Outer {
		s.Line("          this folder is in it; --workspace . sets up this one alone")
	}
	label := "agents"
	for _, h := range doc.Hosts {
		trace := cmp.Or(strings.Join(h.FoundBy, ", "), "no trace of it on this machine")
		if h.Sessions != nil && *h.Sessions > 0 {
			trace += display.Say("; {past session} here", *h.Sessions)
		}
		s.Line("{%-9s} {} ({})", label, h.Title, trace)
		label = ""
	}
	if len(doc.Hosts) == 0 {
		s.Line("{%-9s} none found; --host names one: {}", label, install.Names())
	}
	s.Hang("notes     ", 10, "", doc.Markdown.Text())
	if doc.Sessions != nil {
		s.Line("sessions  {}", doc.Sessions.line())
	}
	s.Line("")
	if change {
		s.Line("These files get memkernel's entries; all else in them stays as it is.")
		showKinds(s, doc.Files)
	} else if has {
		s.Line("Nothing has to change:")
	}
	rows := fileRows(in, doc.Files)
	for _, h := range doc.Hosts {
		if h.UserWide != "" {
			rows = append(rows, row{"has it", in.Short(h.UserWide), "hooks, for all your projects"})
		}
		if h.UserServer != "" {
			rows = append(rows, row{"has it", in.Short(h.UserServer), "tools, by your hand"})
		}
	}
	if change {
		rows = append(rows, row{"new", stateName(in), "the index, and what uninstall needs"})
	}
	showRows(s, rows)
	showLeftAlone(s, doc.Files, nil, "add this")
	if len(doc.Files) > 0 {
		s.Line("")
	}
}

// stateName returns the name of the state folder, in the form used for files of the workspace.
func stateName(in *install.Installer) string {
	path, err := filepath.Abs(in.State.Where(""))
	if err == nil {
		path, err = settings.Follow(path)
	}
	if err != nil {
		path = in.State.Where("")
	}
	return in.Short(path)
}

// hasIt reports whether some host already has its entries.
func hasIt(doc *initJSON) bool {
	return slices.ContainsFunc(doc.Files, func(c install.Change) bool { return !c.Action.Changes() && c.Error == "" }) ||
		slices.ContainsFunc(doc.Hosts, func(h install.Host) bool { return h.UserWide != "" || h.UserServer != "" })
}

// showKinds explains the kinds of entries that are added.
func showKinds(s *display.Sheet, files []install.Change) {
	for _, kind := range [][2]string{
		{"hooks", "Hooks bring memory before each answer, and write what a session came to into\nSESSION-STATE.md and memory/."},
		{"tools", "Tools let the model search, and write, by itself."},
		{"rules", "Rules tell the model when to; they stand between two marks."},
	} {
		if slices.ContainsFunc(files, func(c install.Change) bool { return slices.Contains(c.Adds, kind[0]) }) {
			s.Line(kind[1])
		}
	}
}

// row is a file with its action and the entries that it gets.
type row struct{ action, path, what string }

// fileRows returns a row for each file, except for files that are left alone. A file that two
// hosts read has one row.
func fileRows(in *install.Installer, files []install.Change) (out []row) {
	for _, c := range files {
		if c.Error != "" {
			continue
		}
		what := strings.Join(c.Adds, ", ")
		if c.Action.Whole() {
			what = ""
		}
		if c.Target != "" {
			what += " (a link to " + in.Short(c.Target) + ")"
		}
		if r := (row{c.Action.Word(), in.Short(c.Path), what}); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// The column of paths is as wide as the widest path, within these limits.
const minPath, maxPath = 22, 50

func showRows(s *display.Sheet, rows []row) {
	wide := minPath
	for _, r := range rows {
		wide = max(wide, min(display.Width(r.path), maxPath))
	}
	for _, r := range rows {
		s.Line(strings.TrimRight(fmt.Sprintf("  %-11s %-*s %s", r.action, wide, r.path, r.what), " "))
	}
}

// showLeftAlone prints the files that were left alone, with the reason and a hint. It skips the files
// in the list before, since the user has seen them already.
func showLeftAlone(s *display.Sheet, files, before []install.Change, do string) {
	for i, c := range files {
		told := func(b install.Change) bool { return b.Path == c.Path && b.Error == c.Error }
		if c.Error == "" || slices.ContainsFunc(before, told) || slices.ContainsFunc(files[:i], told) {
			continue
		}
		s.Line("Left alone: " + c.Error)
		if len(c.ByHand) > 0 {
			s.Line("  Mend it and run this again, or {} by hand:", do)
		}
		for _, line := range c.ByHand {
			s.Line("    " + line)
		}
	}
}

// showInitDone prints the changes made, whether there is an index, the past sessions that were read
// in, and the commands for the next step and for uninstalling.
func showInitDone(s *display.Sheet, a *cli.App, doc *initJSON, planned []install.Change) {
	done := written(doc.Files)
	what := "Nothing was changed."
	switch {
	case done > 0:
		what = display.Say("Done: {file} changed.", done)
	case hasIt(doc) && leftAlone(doc.Files) == nil:
		what = "Nothing was changed: all of it was there already."
	}
	switch x := doc.Indexed; {
	case x.Error != "":
		s.Line("{} There is no index: {}", what, x.Error)
	case x.Files == 0:
		s.Line("{} There are no notes to search yet: write one,\nsuch as {}, or let your agent.", what, filepath.Join("memory", "first.md"))
	default:
		s.Line("{} The index is made.", what)
	}
	if p := doc.Sessions; p != nil {
		if p.Read > 0 {
			s.Line("Read in: {past session}. A search finds what was said there.", p.Read)
		}
		p.showLeft(s, command(a, "init --all-sessions"))
	}
	showLeftAlone(s, doc.Files, planned, "add this")
	if done > 0 || len(doc.Files) == 0 {
		showNext(s, doc.Hosts)
	}
	s.Line("Back:   {}", command(a, "uninstall"))
}

// written counts the files that were changed.
func written(files []install.Change) int {
	return count(files, func(c install.Change) bool { return c.Done })
}

// showNext prints the remaining steps for the user: commands, and the questions that each host
// will ask.
func showNext(s *display.Sheet, hosts []install.Host) {
	said := map[string]bool{}
	for _, h := range hosts {
		if len(h.ByHand) == 0 {
			continue
		}
		s.Line("By hand, for {}:", h.Title)
		where := false
		for _, line := range h.ByHand {
			if !said[line] || where {
				s.Line("  " + line)
			}
			said[line], where = true, strings.HasPrefix(line, "# ")
		}
	}
	label := "Next:  "
	for _, h := range hosts {
		if h.Next != "" {
			s.Line(label + " " + h.Next)
			label = "       "
		}
	}
}

// command returns a call of this program for the same folder.
func command(a *cli.App, verb string) string {
	if a.Workspace == "." || a.Outer {
		return "memkernel " + verb
	}
	return "memkernel " + verb + " --workspace " + shellWord(a.Workspace)
}
