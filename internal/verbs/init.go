package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/serve/install"
)

// initFlags are the flags of init.
type initFlags struct {
	yes, dryRun, noSessions, allSessions bool
	hosts                                []string
}

// past returns the limits for reading past sessions.
func (o *initFlags) past() pastLimits {
	if o.allSessions {
		return pastLimits{}
	}
	return defaultPast
}

func initVerb(a *cli.App) *cobra.Command {
	o := &initFlags{}
	cmd := &cobra.Command{
		Long: `init sets memkernel up for one folder, in one go. It looks for the coding agents
on this machine, says which of their settings files it would change and how, asks
once, and then changes them, makes the index of the folder's notes and searches
it. It reads in what was said in past sessions of the folder, newest first, so that
a search finds that too; --no-sessions leaves them out. It changes this folder's
settings only, and its files of rules for models, adds its own entries and leaves
every other byte as it is; what a host has for all of your projects only is printed,
never written. The entries are private: they show MEMORY.md and USER.md to the
agents that run as you. 'memkernel uninstall' takes all of it back.

It can be run again at any time: what is there stays, what is missing is added.
A settings file that can't be read is left alone, and named with what to add to
it; the exit code is 3 then.`,
		Example: "  memkernel init\n  memkernel init --dry-run\n  memkernel init --yes --host claude --host codex",
		RunE:    func(cmd *cobra.Command, args []string) error { return runInit(cmd, a, o) },
	}
	o.add(cmd, "set up only this host, by `name`, whether or not it is found")
	cmd.Flags().BoolVar(&o.noSessions, "no-sessions", false, "leave out past sessions")
	cmd.Flags().BoolVar(&o.allSessions, "all-sessions", false, "read in all past sessions, however many, large and long it takes")
	cmd.MarkFlagsMutuallyExclusive("no-sessions", "all-sessions")
	return cmd
}

// add adds the flags that init and uninstall share.
func (o *initFlags) add(cmd *cobra.Command, hostUsage string) {
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do it without asking")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and change nothing")
	f.StringSliceVar(&o.hosts, "host", nil, hostUsage+" (may be repeated): "+strings.Join(install.Names(), ", "))
	cli.CompleteWords(cmd, "host", install.Names())
	cli.Must(f.SetAnnotation("host", cli.OwnFlag, []string{}))
}

// initJSON is the document of init.
type initJSON struct {
	Schema string `json:"schema"`
	// Workspace is the folder with its links resolved.
	Workspace string `json:"workspace"`
	// StateDir is the folder of the index and of the record for uninstall.
	StateDir string `json:"state_dir"`
	// Applied reports whether init made its changes.
	Applied bool `json:"applied"`
	// Hosts are the hosts that were found, or named with --host. Files are their settings files.
	Hosts []install.Host `json:"hosts"`
	// Markdown counts the folder's Markdown files.
	Markdown *markdownstore.Survey `json:"markdown"`
	Files    []install.Change      `json:"files"`
	// Sessions is nil if past sessions were left out.
	Sessions *pastJSON `json:"sessions"`
	// Indexed is null if no index was made.
	Indexed *indexedJSON `json:"indexed"`
}

// indexedJSON counts the content of the index.
type indexedJSON struct {
	Files  int   `json:"files"`
	Chunks int64 `json:"chunks"`
	// Error is the reason why the index could not be made, "" if it was made.
	Error string `json:"error"`
}

func runInit(cmd *cobra.Command, a *cli.App, o *initFlags) error {
	ctx := cmd.Context()
	if cmd.Flags().Changed("state-dir") {
		return cli.UsageWith("init takes no --state-dir: hosts find the state folder by its name, "+kernel.DefaultStateDir+", in the workspace", "name the folder with --workspace")
	}
	if a.Outer && !install.SetUp(store.Files(a.StateDir)) { // somebody only searched there
		a.Workspace, a.StateDir, a.Outer = ".", kernel.DefaultStateDir, false
		if err := a.ReadConfig(cmd); err != nil {
			return err
		}
	}
	in, err := installer(a)
	if err != nil {
		return err
	}
	doc := &initJSON{Schema: "memkernel/init/v1", Workspace: in.Workspace, StateDir: a.StateDir}
	if doc.Hosts, err = in.Find(o.hosts); err != nil {
		return cli.Usagef("%s", err)
	}
	if err := noHome(in); err != nil {
		return err
	}
	if doc.Markdown, err = look(ctx, a); err != nil {
		return cli.Hint(fmt.Errorf("look into %s: %w", in.Workspace, err), "name the project's folder with --workspace")
	}
	if doc.Files, err = in.Put(names(doc.Hosts), false); err != nil {
		return recordError(err)
	}
	if !o.noSessions && a.Config.Workspace.Enabled && a.Config.Retrieval.Sessions.Enabled {
		doc.Sessions = lookPast(a.StateDir, doc.Hosts, o.past())
	}
	if !a.JSON {
		a.Print(func(s *display.Sheet) { showInitPlan(s, a, in, doc) })
	}
	if ok, err := o.consent(a, changes(doc.Files) > 0 || !store.Exists(in.State, "") || doc.Sessions != nil && len(doc.Sessions.todo) > 0, true); !ok {
		return initEnd(a, doc, err)
	}
	planned := doc.Files
	if err := put(ctx, in, doc); err != nil {
		return err
	}
	doc.Applied = true
	if p := doc.Sessions; p != nil && p.Found > 0 {
		if err := p.take(ctx, a, o.past()); ctx.Err() == nil && err != nil {
			a.Tip("past sessions are not read in: %s; leave them out with --no-sessions", cli.PlainError(err))
		} else if err != nil {
			return err
		}
	}
	makeIndex(ctx, a, doc)
	if !a.JSON {
		a.Print(func(s *display.Sheet) { showInitDone(s, a, doc, planned) })
	}
	if len(doc.Files) > 0 && install.InCache(in.Program) {
		a.Tip("the entries call %s, in a cache that may be emptied: install memkernel for good, by 'npm install -g memkernel' or 'pipx install memkernel', and run init again", in.Program)
	}
	return initEnd(a, doc, nil)
}

// initEnd prints the document with --json, and returns the error for the exit code.
func initEnd(a *cli.App, doc *initJSON, err error) error {
	if a.JSON {
		err = cmp.Or(a.WriteJSON(doc), err)
	}
	return cmp.Or(err, leftAlone(doc.Files))
}

// leftAlone returns an error if some files could not be changed.
func leftAlone(files []install.Change) error {
	return cli.WithFindings(count(files, func(c install.Change) bool { return c.Error != "" }))
}

// installer returns an installer for this machine and workspace.
func installer(a *cli.App) (*install.Installer, error) {
	name, self, err := thisProgram()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(a.Workspace)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("find the folder: %w", err), "name the project's folder with --workspace")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then no hosts are looked for there
	} else if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	s := &install.Site{Workspace: dir, Home: home, Program: name, Shell: shellWord(name), Checkout: checkout(self), Getenv: os.Getenv, LookPath: exec.LookPath}
	return &install.Installer{Site: s, State: store.Files(a.StateDir), OwnState: kernel.Stored.OnlySessionState,
		Project: a.ProjectConfig(), OwnProject: a.OnlyFolders}, nil
}

// checkout returns the source folder that contains the program, "" if no source folder does.
func checkout(self string) string {
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	dir := filepath.Dir(filepath.Dir(self))
	for _, name := range []string{"opencode", "shim", "typescript"} {
		if _, err := os.Stat(filepath.Join(dir, "integrations", name, "index.js")); err != nil {
			return ""
		}
	}
	return dir
}

// noHome returns an error for the user's home and the root folder, unless memkernel already has
// state there.
func noHome(in *install.Installer) error {
	if (in.Workspace != in.Home && in.Workspace != filepath.Dir(in.Workspace)) || store.Exists(in.State, "") {
		return nil
	}
	return cli.Hint(fmt.Errorf("%s is no project: its agents would search everything below it", in.Workspace), "go to a project's folder first, or name one with --workspace")
}

func names(hosts []install.Host) (out []string) {
	for _, h := range hosts {
		out = append(out, h.Name)
	}
	return out
}

// changes counts the files to write.
func changes(files []install.Change) int {
	return count(files, func(c install.Change) bool { return c.Action.Changes() && c.Error == "" })
}

// count counts the files for which is reports true.
func count(files []install.Change, is func(install.Change) bool) (n int) {
	for _, c := range files {
		if is(c) {
			n++
		}
	}
	return n
}

// errNotAsked is the error of a run that needs the user's consent and has no terminal to ask on.
var errNotAsked = errors.New("nothing was changed: there is no terminal to ask on")

// consent reports whether to make changes. It asks the user if there are any. An empty answer counts
// as the answer usual.
func (o *initFlags) consent(a *cli.App, anything, usual bool) (bool, error) {
	switch {
	case o.yes || o.dryRun || !anything:
		return !o.dryRun, nil
	case a.JSON || !a.Interactive():
		return false, cli.Hint(errNotAsked, "--yes does it, --dry-run only looks")
	case a.Ask("Go on?", usual):
		return true, nil
	}
	_, err := fmt.Fprintln(a.Out, "Nothing was changed.")
	return false, err
}

// put changes the files.
func put(ctx context.Context, in *install.Installer, doc *initJSON) error {
	release, err := in.Lock(ctx)
	if err != nil {
		return lockError(in, err)
	}
	defer release()
	if doc.Files, err = in.Put(names(doc.Hosts), true); err != nil {
		return recordError(err)
	}
	return nil
}

func lockError(in *install.Installer, err error) error {
	var held *store.LockedError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &held):
		return cli.Hint(err, "wait until it is through, and run this again")
	case store.Unwritable(err):
		return cli.Hint(fmt.Errorf("%s can't be written, so nothing was changed: %w", in.State.Where(""), err), "make the folder yours, and run this again")
	}
	return err
}

// recordError adds a hint if the record can't be read or written.
func recordError(err error) error {
	if store.Unwritable(err) {
		return cli.Hint(err, "make the state folder yours, and see that its disk has room")
	}
	return cli.Hint(err, "move that file away; what it records is then not put back byte for byte, and 'memkernel uninstall' takes out the entries alone")
}

// makeIndex makes the index.
func makeIndex(ctx context.Context, a *cli.App, doc *initJSON) {
	var r *api.Reindexed
	err := a.MemoryOn()
	if err == nil {
		r, err = ask(ctx, a, cli.Needs{Vectors: true}, "", (*kernel.Kernel).Reindex, &api.ReindexOptions{Wait: 30 * time.Second, Progress: a.IndexProgress()})
	}
	if err != nil {
		doc.Indexed = &indexedJSON{Error: err.Error()}
		return
	}
	doc.Indexed = &indexedJSON{Files: r.Files, Chunks: r.Stats.Chunks}
}

// look counts the files that a search would cover with this configuration.
func look(ctx context.Context, a *cli.App) (*markdownstore.Survey, error) {
	st, err := a.OpenStore(ctx, true)
	if err != nil || st == nil {
		return &markdownstore.Survey{}, err
	}
	defer st.Close()
	defer a.ProgressDone()
	a.Work("looking for Markdown")
	v, err := st.Survey(ctx)
	return &v, err
}

// thisProgram returns the name and the path of memkernel. The name is the path if a shell does
// not find this program by its name.
func thisProgram() (name, self string, err error) {
	if self, err = os.Executable(); err != nil {
		return "", "", fmt.Errorf("find this program: %w", err)
	}
	found, err := exec.LookPath("memkernel")
	a, errA := os.Stat(found)
	b, errB := os.Stat(self)
	if cmp.Or(err, errA, errB) == nil && os.SameFile(a, b) {
		return "memkernel", self, nil
	}
	return self, self, nil
}

// shellWord quotes a path for the shells of hosts if necessary.
func shellWord(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r))
	}) {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
