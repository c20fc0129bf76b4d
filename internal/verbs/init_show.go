package verbs

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/serve/install"
)

// actions has a word for each action on a file.
var actions = map[install.Action]string{install.Create: "new", install.Modify: "add to", install.Keep: "has it",
	install.Restore: "put back", install.TakeOut: "take out of", install.Delete: "delete"}

// showInitPlan prints the hosts that were found and the planned changes.
func showInitPlan(a *cli.App, in *install.Installer, doc *initJSON) {
	if changes(doc.Files) > 0 || !hasIt(doc) {
		fmt.Fprintln(a.Out, "memkernel gives coding agents a memory of this folder: before each answer they")
		fmt.Fprintln(a.Out, "get what its notes say on the question.")
		fmt.Fprintln(a.Out)
	}
	fmt.Fprintf(a.Out, "folder    %s\n", in.Workspace)
	if a.Outer {
		fmt.Fprintln(a.Out, "          this folder is in it; --workspace . sets up this one alone")
	}
	label := "agents"
	for _, h := range doc.Hosts {
		trace := strings.Join(h.FoundBy, ", ")
		if trace == "" {
			trace = "no trace of it on this machine"
		}
		if h.Sessions != nil && *h.Sessions > 0 {
			trace += "; " + display.Plural(*h.Sessions, "past session") + " here"
		}
		fmt.Fprintf(a.Out, "%-9s %s (%s)\n", label, h.Title, trace)
		label = ""
	}
	if len(doc.Hosts) == 0 {
		fmt.Fprintf(a.Out, "%-9s none found; --host names one: %s\n", label, strings.Join(install.Names(), ", "))
	}
	fmt.Fprintf(a.Out, "notes     %s\n", strings.Join(display.Wrap(doc.Markdown.Text(), display.Columns-10), "\n          "))
	if doc.Sessions != nil {
		fmt.Fprintf(a.Out, "sessions  %s\n", doc.Sessions.line())
	}
	fmt.Fprintln(a.Out)
	if changes(doc.Files) > 0 {
		fmt.Fprintln(a.Out, "These files get memkernel's entries; all else in them stays as it is.")
		showKinds(a, doc.Files)
	} else if hasIt(doc) {
		fmt.Fprintln(a.Out, "Nothing has to change:")
	}
	rows := fileRows(in, doc.Files)
	for _, h := range doc.Hosts {
		if h.UserWide != "" {
			rows = append(rows, row{actions[install.Keep], in.Short(h.UserWide), "hooks, for all your projects"})
		}
		if h.UserServer != "" {
			rows = append(rows, row{actions[install.Keep], in.Short(h.UserServer), "tools, by your hand"})
		}
	}
	if changes(doc.Files) > 0 {
		rows = append(rows, row{"new", stateName(in), "the index, and what uninstall needs"})
	}
	showRows(a.Out, rows)
	showLeftAlone(a.Out, doc.Files, nil, "add this")
	if len(doc.Files) > 0 {
		fmt.Fprintln(a.Out)
	}
}

// stateName returns the name of the state folder, in the form used for files of the workspace.
func stateName(in *install.Installer) string {
	path, err := filepath.Abs(in.State.Where(""))
	if err != nil {
		path = in.State.Where("")
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return in.Short(path)
}

// hasIt reports whether some host already has its entries.
func hasIt(doc *initJSON) bool {
	return slices.ContainsFunc(doc.Files, func(c install.Change) bool { return c.Action == install.Keep && c.Error == "" }) ||
		slices.ContainsFunc(doc.Hosts, func(h install.Host) bool { return h.UserWide != "" || h.UserServer != "" })
}

// showKinds explains the kinds of entries that are added.
func showKinds(a *cli.App, files []install.Change) {
	kinds := map[string]bool{}
	for _, c := range files {
		for _, k := range c.Adds {
			kinds[k] = true
		}
	}
	if kinds["hooks"] {
		fmt.Fprintln(a.Out, "Hooks bring memory before each answer, and write what a session came to into")
		fmt.Fprintln(a.Out, "SESSION-STATE.md and memory/.")
	}
	if kinds["tools"] {
		fmt.Fprintln(a.Out, "Tools let the model search, and write, by itself.")
	}
	if kinds["rules"] {
		fmt.Fprintln(a.Out, "Rules tell the model when to; they stand between two marks.")
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
		if c.Action == install.Restore || c.Action == install.Delete {
			what = ""
		}
		if c.Target != "" {
			what += " (a link to " + in.Short(c.Target) + ")"
		}
		if r := (row{actions[c.Action], in.Short(c.Path), what}); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// The column of paths is as wide as the widest path, within these limits.
const minPath, maxPath = 22, 50

func showRows(w io.Writer, rows []row) {
	wide := minPath
	for _, r := range rows {
		wide = max(wide, min(display.Width(r.path), maxPath))
	}
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-11s %-*s %s", r.action, wide, r.path, r.what), " "))
	}
}

// showLeftAlone prints the files that were left alone, with the reason and a hint. It skips the
// files in the parameter before, which were printed earlier.
func showLeftAlone(w io.Writer, files, before []install.Change, do string) {
	for i, c := range files {
		told := func(b install.Change) bool { return b.Path == c.Path && b.Error == c.Error }
		if c.Error == "" || slices.ContainsFunc(before, told) || slices.ContainsFunc(files[:i], told) {
			continue
		}
		fmt.Fprintf(w, "Left alone: %s\n", c.Error)
		if len(c.ByHand) > 0 {
			fmt.Fprintf(w, "  Mend it and run this again, or %s by hand:\n", do)
		}
		for _, line := range c.ByHand {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
}

// showInitDone prints the changes made, the result of the example search, and the commands for
// the next step and for uninstalling.
func showInitDone(a *cli.App, doc *initJSON, planned []install.Change) {
	done := 0
	for _, c := range doc.Files {
		if c.Done {
			done++
		}
	}
	what := "Nothing was changed."
	switch {
	case done > 0:
		what = "Done: " + display.Plural(done, "file") + " changed."
	case hasIt(doc) && leftAlone(doc.Files) == nil:
		what = "Nothing was changed: all of it was there already."
	}
	switch x := doc.Indexed; {
	case x.Error != "":
		fmt.Fprintf(a.Out, "%s There is no index: %s\n", what, x.Error)
	case x.Files == 0:
		fmt.Fprintf(a.Out, "%s There are no notes to search yet: write one,\nsuch as %s, or let your agent.\n", what, filepath.Join("memory", "first.md"))
	default:
		fmt.Fprintf(a.Out, "%s The index is made.\n", what)
	}
	if p := doc.Sessions; p != nil {
		if p.Read > 0 {
			fmt.Fprintf(a.Out, "Read in: %s. A search finds what was said there.\n", display.Plural(p.Read, "past session"))
		}
		p.showLeft(a.Out, command(a, "init --all-sessions"))
	}
	showLeftAlone(a.Out, doc.Files, planned, "add this")
	if done > 0 || len(doc.Files) == 0 {
		showNext(a.Out, doc.Hosts)
	}
	fmt.Fprintf(a.Out, "Back:   %s\n", command(a, "uninstall"))
}

// showNext prints the remaining steps for the user: commands, and the questions that each host
// will ask.
func showNext(w io.Writer, hosts []install.Host) {
	said := map[string]bool{}
	for _, h := range hosts {
		if len(h.ByHand) == 0 {
			continue
		}
		fmt.Fprintf(w, "By hand, for %s:\n", h.Title)
		where := false
		for _, line := range h.ByHand {
			if !said[line] || where {
				fmt.Fprintf(w, "  %s\n", line)
			}
			said[line], where = true, strings.HasPrefix(line, "# ")
		}
	}
	label := "Next:  "
	for _, h := range hosts {
		if h.Next != "" {
			fmt.Fprintf(w, "%s %s\n", label, h.Next)
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
