package verbs

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/install"
)

// uninstallFlags are the flags of uninstall.
type uninstallFlags struct {
	initFlags
	state bool
}

func uninstallVerb(a *cli.App) *cobra.Command {
	o := &uninstallFlags{}
	cmd := &cobra.Command{
		Long: `uninstall takes memkernel out of the settings of the coding agents that are used
in this folder. A file that was not touched since init becomes what it was, byte
for byte; from one that was, memkernel's own entries leave. Files and folders that
held nothing else go.

Your Markdown is never touched. The state folder stays, so that init takes up where
it was, unless --state is given: then the index, the journals of sessions and the
backups go too, and SESSION-STATE.md and the record of folders that were added if
nobody but memkernel wrote to them. What you wrote yourself stays, and is named.`,
		Example: "  memkernel uninstall\n  memkernel uninstall --dry-run\n  memkernel uninstall --yes --host codex",
		RunE:    with(a, o, runUninstall),
	}
	o.add(cmd, "take it out of this host only, by `name`")
	cmd.Flags().BoolVar(&o.state, "state", false, "remove what is kept in the state folder too: index, sessions, backups")
	return cmd
}

// uninstallJSON is the document of uninstall.
type uninstallJSON struct {
	Schema string `json:"schema"`
	// Workspace is the folder with its links resolved.
	Workspace string `json:"workspace"`
	StateDir  string `json:"state_dir"`
	// Applied reports whether uninstall made its changes.
	Applied bool `json:"applied"`
	// Files are settings files with entries of memkernel. With --state they include
	// SESSION-STATE.md and the user's configuration of the project if only memkernel wrote to it.
	Files []install.Change `json:"files"`
	// State is null without --state.
	State *stateGoes `json:"state"`
}

// stateGoes is the removal of the state folder's content.
type stateGoes struct {
	// Removes are the names in the state folder that are removed. Keeps are the names that stay,
	// such as config.yaml, and the path of the user's configuration of the
	// project if a person edited it.
	Removes []string `json:"removes"`
	Keeps   []string `json:"keeps"`

	empty bool // the folder is empty and is removed
}

// anything reports whether there is something to remove.
func (s *stateGoes) anything() bool { return s != nil && (len(s.Removes) > 0 || s.empty) }

func runUninstall(ctx context.Context, a *cli.App, o *uninstallFlags) error {
	in, err := installer(a)
	if err != nil {
		return err
	}
	found, err := in.Find(o.hosts)
	if err != nil {
		return cli.Usagef("%s", err)
	}
	if o.state && len(o.hosts) > 0 {
		return cli.Usagef("--state removes what all hosts share: leave out --host")
	}
	doc := &uninstallJSON{Schema: "memkernel/uninstall/v1", Workspace: in.Workspace, StateDir: a.StateDir}
	if doc.Files, err = in.TakeOut(o.hosts, false); err != nil {
		return recordError(err)
	}
	if o.state {
		own, others, err := in.StateFiles()
		if err != nil {
			return err
		}
		doc.State = &stateGoes{document.List(own), document.List(others), len(own)+len(others) == 0 && store.Exists(in.State, "")}
		around, kept, err := in.StateAround(false)
		if err != nil {
			return err
		}
		if doc.Files = append(doc.Files, around...); kept != "" {
			doc.State.Keeps = append(doc.State.Keeps, in.Short(kept))
		}
	}
	anything := len(doc.Files) > 0 || doc.State.anything()
	if !a.JSON {
		a.Print(func(s *display.Sheet) { showUninstallPlan(s, in, doc, anything) })
	}
	ok, err := o.consent(a, anything, !o.state)
	if ok {
		doc.Applied = true
		err = takeOut(ctx, in, o, doc)
		if err == nil && !a.JSON && anything {
			a.Print(func(s *display.Sheet) { showUninstallDone(s, in, doc) })
		}
	} else if !a.JSON {
		a.Print(func(s *display.Sheet) { showLeftAlone(s, doc.Files, nil, "take this out") })
	}
	if a.JSON {
		return cmp.Or(a.WriteJSON(doc), err, leftAlone(doc.Files))
	}
	for _, h := range found {
		if h.UserWide != "" {
			a.Tip("hooks of %s for all your projects stay in %s: take them out by hand", h.Title, in.Short(h.UserWide))
		}
		if h.UserServer != "" {
			a.Tip("the server memkernel stays in %s, where you put it for %s: take it out by hand", in.Short(h.UserServer), h.Title)
		}
	}
	return cmp.Or(err, leftAlone(doc.Files))
}

// takeOut changes the files, and removes the state if the flags select this. It creates no state
// folder.
func takeOut(ctx context.Context, in *install.Installer, o *uninstallFlags, doc *uninstallJSON) (err error) {
	release := func() {}
	if store.Exists(in.State, "") {
		if release, err = in.Lock(ctx); err != nil {
			return lockError(in, err)
		}
	}
	defer release()
	if doc.Files, err = in.TakeOut(o.hosts, true); err != nil {
		return recordError(err)
	}
	if doc.State.anything() {
		if err := in.RemoveState(); err != nil {
			return err
		}
	}
	if !o.state {
		return nil
	}
	around, _, err := in.StateAround(true)
	doc.Files = append(doc.Files, around...)
	return err
}

func showUninstallPlan(s *display.Sheet, in *install.Installer, doc *uninstallJSON, anything bool) {
	state := doc.State
	if !anything {
		s.Line("There is nothing of memkernel's in the settings of {}.", in.Workspace)
		if state != nil && len(state.Keeps) > 0 {
			s.Line("Stays, since you wrote it: {}", state.Keeps)
		}
		return
	}
	s.Line("This takes memkernel out of {}:", in.Workspace)
	rows := fileRows(in, doc.Files)
	if state.anything() {
		what := "index, journals of sessions, backups"
		if state.empty {
			what = "nothing is in it"
		}
		if len(state.Keeps) > 0 {
			what += "; stays, since you wrote it: " + strings.Join(state.Keeps, ", ")
		}
		rows = append(rows, row{"delete", stateName(in), what})
	}
	showRows(s, rows)
	s.Line("")
}

func showUninstallDone(s *display.Sheet, in *install.Installer, doc *uninstallJSON) {
	done := written(doc.Files)
	if len(doc.Files) > 0 {
		s.Line("Done: {file} changed. Your Markdown is as it was.", done)
	}
	showLeftAlone(s, doc.Files, nil, "take this out")
	if doc.State != nil {
		s.Line("{} is removed{? but for }{}.", stateName(in), len(doc.State.Keeps) > 0, doc.State.Keeps)
	} else if store.Exists(in.State, "") {
		s.Line("What sessions wrote into notes stays, and so does {}; --state removes it.", stateName(in))
	}
	if done > 0 {
		s.Line("Hooks of sessions that are running do nothing here from now on.")
	}
}
