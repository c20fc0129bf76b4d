package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Run executes one command line and returns the exit code.
func (p *Program) Run(ctx context.Context, u *UI, args []string) int {
	u.Name, u.Out, u.Err = p.Name, display.TextScreen(u.Out), display.TextScreen(u.Err)
	for words, hint := range p.Elsewhere {
		if len(args) > 0 && slices.Contains(strings.Fields(words), args[0]) { // its flags are unknown here
			return u.Report(UsageWith(fmt.Sprintf("unknown verb %q", args[0]), hint))
		}
	}
	a := &App{UI: u}
	a.Databases = p.Databases
	root := p.Root(a)
	root.SetArgs(withText(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.Close())
	var usage *UsageError
	if errors.As(err, &usage) && usage.Hint == "" {
		usage.Hint = fmt.Sprintf("run '%s --help' for what it takes", cmd.CommandPath())
	}
	return u.Report(err)
}

// Root builds the whole command tree.
func (p *Program) Root(a *App) *cobra.Command {
	root := &cobra.Command{
		Use:           p.Name,
		Short:         p.Short,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return rootRun(a, cmd, args) },
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if !configured(cmd) {
				return nil
			}
			if err := cmd.ValidateFlagGroups(); err != nil {
				return groupError(err)
			}
			return a.Prepare(cmd)
		},
	}
	// cobra's own version flag would link text/template, and so all methods of all types. This
	// would be a tenth of the program.
	root.Flags().BoolP(versionFlag, "v", false, "print the version")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { help(a, cmd) })
	a.SharedFlags(root)
	for _, g := range p.Groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for _, v := range g.Verbs {
			cmd := v.Command(a)
			cmd.Use, cmd.Short, cmd.GroupID, cmd.SuggestFor = v.Use, v.Summary, g.ID, v.Alike
			if cmd.Args == nil {
				cmd.Args = NoArgs
			}
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(p.helpVerb(a))
	root.InitDefaultHelpCmd()
	root.SetCompletionCommandGroupID(p.Groups[len(p.Groups)-1].ID)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short = "print a completion script for bash, zsh, fish or powershell"
	}
	root.Long = p.Opening(root)
	complete(a, root)
	return root
}

// complete lets shells complete sessions and folders, in every verb that has such a flag.
func complete(a *App, cmd *cobra.Command) {
	if cmd.LocalFlags().Lookup("session") != nil {
		Must(cmd.RegisterFlagCompletionFunc("session", a.completeSessions))
	}
	for _, c := range cmd.Commands() {
		complete(a, c)
	}
}

// configured reports whether a verb needs the configuration. Help must work with a broken
// configuration. A completion reads the configuration for the verb that it completes.
func configured(cmd *cobra.Command) bool {
	if !cmd.HasParent() && asksVersion(cmd) {
		return false
	}
	for c := cmd; c.HasParent(); c = c.Parent() {
		switch c.Name() {
		case "help", "completion", "demo", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			return false
		}
	}
	return true
}

// Step returns the line of the opening that shows a command line and its purpose. It returns "" if the
// verb of the command line does not exist, or if there is a verb with the name instead, which replaces
// it.
func Step(root *cobra.Command, instead, call, what string) string {
	verb, _, _ := strings.Cut(call, " ")
	if !has(root, verb) || has(root, instead) {
		return ""
	}
	return fmt.Sprintf("  %-43s %s\n", root.Name()+" "+call, what)
}

// has reports whether there is a verb.
func has(root *cobra.Command, verb string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == verb })
}

const versionFlag = "version"

func asksVersion(root *cobra.Command) bool {
	asked, err := root.Flags().GetBool(versionFlag)
	return err == nil && asked
}

// rootRun runs if the command line has no verb or an unknown one.
func rootRun(a *App, cmd *cobra.Command, args []string) error {
	if asksVersion(cmd) {
		_, err := fmt.Fprintln(a.Out, Build().Line())
		return err
	}
	if len(args) == 0 {
		return cmd.Help()
	}
	return UnknownVerb(cmd, args[0])
}

// groupError returns an error that names the flags that exclude each other.
func groupError(err error) error {
	_, names, ok := strings.Cut(err.Error(), "; [")
	names, _, all := strings.Cut(names, "] were all set")
	if !ok || !all {
		return Usagef("%s", err)
	}
	return Usagef("--%s exclude each other: give one of them", strings.Join(strings.Fields(names), " and --"))
}

// flagError returns an error for an unknown flag. It suggests the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return Usagef("%s", err)
	}
	word := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		word = short[:1]
	}
	if cmd.Flags().Lookup("apply") != nil && slices.Contains([]string{"dry-run", "preview", "simulate", "check"}, word) {
		return UsageWith(err.Error(), "leave it out: without --apply the verb only shows what it would do")
	}
	near := flagFor(cmd, word)
	if near == nil && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		near = textutil.Nearest(word, names)
	}
	if verbs := wordFor(cmd.Root(), word); len(near) == 0 && len(verbs) > 0 {
		return UsageWith(err.Error(), fmt.Sprintf("did you mean the verb %s?", strings.Join(verbs, " or ")))
	}
	if len(near) == 0 {
		return UsageWith(err.Error(), fmt.Sprintf("run '%s --help' for what it takes; a text that begins with a dash goes behind --", cmd.CommandPath()))
	}
	return UsageWith(err.Error(), fmt.Sprintf("did you mean --%s? '%s --help' lists all", strings.Join(near[:min(len(near), 3)], " or --"), cmd.CommandPath()))
}

func init() { cobra.EnableCommandSorting = false }
