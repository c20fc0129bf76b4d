package verbs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/serve/hook"
)

// hookInstallFlags are the flags of hook install.
type hookInstallFlags struct {
	host, command    string
	user, project    bool
	uninstall, print bool
}

func newHookInstall(a *cli.App) *cobra.Command {
	o := &hookInstallFlags{}
	cmd := &cobra.Command{
		Use: "install --host NAME", Short: "write the hooks into a host's settings, or take them out",
		Long: `install adds memkernel's hooks to a host's settings and leaves everything else
in the file as it is, byte for byte. It can be run again: hooks that are there
are brought up to date and never doubled. What stood there before is kept
beside the file as NAME.before-memkernel, and --uninstall puts it back; if the
file was changed since, only the hooks are taken out.

  claude    .claude/settings.json    or with --user  ~/.claude/settings.json
  codex     .codex/hooks.json        or with --user  ~/.codex/hooks.json
  gemini    .gemini/settings.json    or with --user  ~/.gemini/settings.json`,
		Example: "  memkernel hook install --host claude\n  memkernel hook install --host codex --user\n  memkernel hook install --host claude --uninstall",
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return runHookInstall(a, o) },
	}
	hostFlag(cmd, &o.host, "`name` of the host")
	f := cmd.Flags()
	f.BoolVar(&o.project, "project", false, "the settings of the folder --workspace names (default)")
	f.BoolVar(&o.user, "user", false, "the settings of all of the user's projects")
	f.BoolVar(&o.uninstall, "uninstall", false, "take the hooks out")
	f.BoolVar(&o.print, "print", false, "print the settings as they would be, and write nothing")
	f.StringVar(&o.command, "command", "", "`path` of the program to run (default this one)")
	return cmd
}

func runHookInstall(a *cli.App, o *hookInstallFlags) error {
	h, err := hostNamed(o.host)
	if err != nil {
		return err
	}
	if o.user && o.project {
		return cli.Usagef("--user and --project name two different files: give one of them")
	}
	path, err := settingsPath(a, h, o.user)
	if err != nil {
		return err
	}
	program, err := o.program()
	if err != nil {
		return err
	}
	s := hook.Settings{Host: h, Path: path, Program: program}
	change, err := s.Install()
	if o.uninstall {
		change, err = s.Uninstall()
	}
	if err != nil {
		return settingsError(err)
	}
	if o.print {
		_, err := a.Data().Write(change.After)
		return err
	}
	if err := change.Apply(); err != nil {
		return settingsError(err)
	}
	showInstalled(a, h, o, change)
	return nil
}

// settingsPath returns the settings file of a host: the user's, or the project's.
func settingsPath(a *cli.App, h hook.Host, user bool) (string, error) {
	dir, err := filepath.Abs(a.Workspace)
	if user {
		dir, err = os.UserHomeDir()
	}
	if err != nil {
		return "", fmt.Errorf("find the settings of %s: %w", h.Title(), err)
	}
	return hook.SettingsPath(h, dir), nil
}

// program returns the command by which a shell finds memkernel. In the user's settings it is the
// absolute path. In a project's settings, which other people may share, it is the program's name
// if a shell finds this program by its name.
func (o *hookInstallFlags) program() (string, error) {
	if o.command != "" {
		return shellWord(o.command), nil
	}
	name, self, err := thisProgram()
	if err != nil {
		return "", cli.Hint(err, "name it with --command")
	}
	if o.user {
		name = self
	}
	return shellWord(name), nil
}

// thisProgram returns the name and the path of memkernel. The name is the path if a shell does
// not find this program by its name.
func thisProgram() (name, self string, err error) {
	if self, err = os.Executable(); err != nil {
		return "", "", fmt.Errorf("find this program: %w", err)
	}
	if onPath("memkernel", self) {
		return "memkernel", self, nil
	}
	return self, self, nil
}

// onPath reports whether a shell finds program by name.
func onPath(name, program string) bool {
	found, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(program)
	return errA == nil && errB == nil && os.SameFile(a, b)
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

// settingsError adds a hint.
func settingsError(err error) error {
	var e *settings.Error
	if errors.As(err, &e) && !errors.Is(err, settings.ErrChanged) {
		return cli.Hint(fmt.Errorf("edit settings: %w", err), "mend the file, or move it away, and add to it by hand what --print shows without it")
	}
	return fmt.Errorf("edit settings: %w", err)
}

func showInstalled(a *cli.App, h hook.Host, o *hookInstallFlags, c *hook.Change) {
	state := "hooks of " + h.Title() + " are in " + c.Path
	switch {
	case o.uninstall && !c.Changed():
		state = "there are no hooks of ours in " + c.Path
	case o.uninstall:
		state = "hooks of " + h.Title() + " were taken out of " + c.Path
	case !c.Changed():
		state += " already"
	}
	fmt.Fprintln(a.Out, state)
	if !o.uninstall && c.Changed() {
		a.Tip("%s", h.Tip())
	}
}
