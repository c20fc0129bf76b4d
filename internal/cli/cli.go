// Package cli is the command line. A Program is made of a table of verbs. An App holds the parts
// that verbs share: streams, flags, transcripts and price books. The package also defines how a
// run ends: its exit codes, and errors with hints. Settings is the only code that reads the
// configuration into options of the kernel, its index, providers of vectors and notes, and
// upkeep. The package knows no verb except help, completion and version.
package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
)

// App is shared by all verbs. It has the streams, the shared flags and the settings.
type App struct {
	*UI
	Settings
	JSON, shared bool
	// Outer reports that the workspace was found above the current folder, because no flag names one.
	Outer  bool
	prices string
}

// SharedFlags adds the flags that every verb has.
func (a *App) SharedFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.Workspace, "workspace", ".", "folder of the `project` (default the nearest with a .memkernel or .git, from here upwards, or else this one)")
	f.Lookup("workspace").DefValue = "" // the usage says it
	f.StringVar(&a.StateDir, "state-dir", "", "`folder` of derived state (default <workspace>/.memkernel)")
	f.StringVar(&a.ConfigPath, "config", "", "configuration `file` (default <state-dir>/config.yaml, if there)")
	Must(root.MarkPersistentFlagDirname("workspace"))
	Must(root.MarkPersistentFlagDirname("state-dir"))
	f.BoolVar(&a.JSON, "json", false, "one JSON document instead of text; see doc/json.md")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "no progress and no hints after a success")
	f.StringVar(&a.color, "color", "auto", "colour the text: `when` is auto, always or never")
	f.StringVar(&a.progress, "progress", "auto", "show how far a slow verb is: `when` is auto, always or never")
	CompleteWords(root, "progress", []string{"auto", "always", "never"})
	CompleteWords(root, "color", []string{"auto", "always", "never"})
}

// Must panics if err is not nil. It is for calls that fail only after a mistake in this package,
// so that every test would panic.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// anywhere lists the verbs that do not tell the user which workspace was found above the current
// folder. They use no workspace, or print it themselves.
var anywhere = []string{"version", "prices", "import", "config", "init", "uninstall"}

// Prepare reads the configuration and checks the shared flags, before any verb.
func (a *App) Prepare(cmd *cobra.Command) error {
	for flag, when := range map[string]string{"color": a.color, "progress": a.progress} {
		if when != "auto" && when != "always" && when != "never" {
			return Usagef("--%s %q is none of auto, always, never", flag, when)
		}
	}
	a.remember(cmd)
	a.Locate(cmd)
	if a.Outer && !slices.Contains(anywhere, cmd.Name()) {
		a.Tip("the memory here is that of %s; --workspace . takes this folder alone", a.Workspace)
	}
	return a.ReadConfig(cmd)
}

// Locate chooses the workspace and its state folder. Without a flag for either, a folder inside a
// workspace belongs to that workspace, as it does for hooks, and has no memory of its own. A git
// repository without a workspace is the workspace of all folders in it. Only init takes the current
// folder instead.
func (a *App) Locate(cmd *cobra.Command) {
	if a.StateDir != "" {
		return
	}
	if here, err := filepath.Abs(a.Workspace); err == nil && !cmd.Flags().Changed("workspace") {
		found, set := kernel.FindWorkspace(here)
		if real, err := filepath.EvalSymlinks(here); found != "" && found != here && (err != nil || found != real) && (set || cmd.Name() != "init") {
			a.Workspace, a.Outer = found, true
		}
	}
	a.StateDir = filepath.Join(a.Workspace, kernel.DefaultStateDir)
}

// NoArgs returns a usage error if there are arguments other than flags.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if cmd.Flags().Lookup("transcript") != nil {
		hint = "a session's file is given by a flag: --transcript " + shellWord(args[0])
	} else if st, err := os.Stat(args[0]); err == nil && st.IsDir() {
		hint = "a project's folder is given by a flag: --workspace " + shellWord(args[0])
	}
	return UsageWith(fmt.Sprintf("%s takes no argument, got %q", cmd.Name(), args[0]), hint)
}

// Book returns the price book: the embedded table, with the user's file over it.
func (a *App) Book() (*cachelayout.Book, error) {
	b := cachelayout.DefaultBook()
	if a.prices == "" {
		return b, nil
	}
	f, err := a.OpenFile(a.prices)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	defer f.Close()
	if b, err = b.Overlay(f, a.prices); err != nil {
		return nil, Hint(err, "the file is what 'memkernel prices import' writes; see doc/json.md")
	}
	return b, nil
}

// PricesFlag adds --prices to a verb.
func (a *App) PricesFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.prices, "prices", a.prices, "price `file`, used before the embedded book")
}

// ReadConfig reads the configuration, prints its warnings, and gives the flags and the settings of a
// verb the same values.
func (a *App) ReadConfig(cmd *cobra.Command) error {
	if err := a.Read(); err != nil {
		return err
	}
	for _, w := range a.Config.Warnings() {
		a.warn(w)
	}
	if w := a.Ignored(); w != "" && cmd.Name() != "doctor" {
		a.warn(w + "; 'memkernel doctor' says more")
	}
	if cmd.Name() != "doctor" {
		a.narrow()
	}
	return a.joinFlags(cmd)
}

// narrow keeps other users of the machine out of the state folder.
func (a *App) narrow() {
	switch n, err := store.Narrow(a.StateDir); {
	case err != nil:
		a.warn(fmt.Sprintf("other users of this machine may look into the state folder: %v", err))
	case n > 0:
		a.warn(fmt.Sprintf("%s: other users of this machine could look into it; they no longer can (%d files and folders)", a.StateDir, n))
	}
}

// joinFlags makes flags and settings agree. If the user set a flag, its setting gets the flag's
// value. Otherwise the flag gets the setting's value.
func (a *App) joinFlags(cmd *cobra.Command) error {
	for _, k := range a.Config.Keys() {
		f := cmd.Flags().Lookup(k.Flag)
		switch {
		case k.Flag == "" || f == nil || f.Annotations[OwnFlag] != nil:
		case f.Changed:
			if err := a.Config.Set(k.Name, f.Value.String(), "--"+k.Flag); err != nil {
				return Usagef("%s", err)
			}
		case a.Config.Origin(k.Name) != config.Origin{} && k.String() != "" && !k.Unsaid():
			if err := f.Value.Set(k.String()); err != nil {
				return fmt.Errorf("read configuration: %s: %s: %w", a.Config.Origin(k.Name), k.Name, err)
			}
		}
	}
	return nil
}

// OwnFlag marks a flag that has the name of a setting's flag but does not set that setting.
const OwnFlag = "memkernel_own"

// SharedFlag adds --shared to a verb that shows memory. The flag overrides workspace.private.
func (a *App) SharedFlag(set *pflag.FlagSet) {
	set.BoolVar(&a.shared, "shared", false, "as a shared session sees it: without MEMORY.md and USER.md")
}

// Private reports whether the verb may show private files.
func (a *App) Private() bool { return a.Config.Workspace.Private && !a.shared }

// Answer prints a document with --json, and otherwise the text that draw makes of an answer.
func Answer[T any](a *App, doc any, answer T, draw func(*display.Sheet, T)) error {
	if a.JSON {
		return a.WriteJSON(doc)
	}
	return a.Print(func(s *display.Sheet) { draw(s, answer) })
}

// Print prints a text.
func (u *UI) Print(draw func(*display.Sheet)) error {
	_, err := io.WriteString(u.Out, u.Style().Text(draw))
	return err
}

// WriteJSON prints one document. It does not escape text for HTML, so that readers see the same
// text as the model.
func (a *App) WriteJSON(v any) error {
	enc := json.NewEncoder(a.document())
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
