package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/nearest"
)

// run executes one command line and returns the exit code.
func run(ctx context.Context, u *cli.UI, args []string) int {
	u.Out, u.Err = display.TextScreen(u.Out), display.TextScreen(u.Err)
	a := &cli.App{UI: u}
	root := newRoot(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.Close())
	var usage *fail.UsageError
	if errors.As(err, &usage) && usage.Hint == "" {
		usage.Hint = fmt.Sprintf("run '%s --help' for what it takes", cmd.CommandPath())
	}
	return u.Report(err)
}

// newRoot builds the whole command tree.
func newRoot(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "memkernel",
		Short:         "plan what a model gets to see, within a budget and with a warm cache",
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
	// Not cobra's own: its templates would link text/template, and with that all methods
	// of all types, a tenth of the program.
	root.Flags().BoolP(versionFlag, "v", false, "print the version")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { help(a, cmd) })
	a.SharedFlags(root)
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, v := range g.verbs {
			cmd := v.command(a)
			cmd.Use, cmd.Short, cmd.GroupID, cmd.SuggestFor = v.use, v.summary, g.id, v.alike
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(helpVerb(a))
	root.InitDefaultHelpCmd()
	root.SetCompletionCommandGroupID("developers")
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short = "print a completion script for bash, zsh, fish or powershell"
	}
	root.Long = opening(root)
	complete(a, root)
	return root
}

// complete lets shells complete what flags and verbs take: by the name of a flag what is
// the same in every verb, and arguments.
func complete(a *cli.App, cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, own := cmd.GetFlagCompletionFunc(f.Name); own {
			return
		}
		switch f.Name {
		case "session":
			cli.Must(cmd.RegisterFlagCompletionFunc(f.Name, a.Complete(a.SessionKeys)))
		case "model":
			cli.Must(cmd.RegisterFlagCompletionFunc(f.Name, a.Complete(a.ModelNames)))
		case "workspace", "state-dir":
			cli.Must(cmd.MarkPersistentFlagDirname(f.Name))
		}
	})
	if cmd.HasParent() && !cmd.Parent().HasParent() {
		switch cmd.Name() {
		case "get":
			cmd.ValidArgsFunction = a.Complete(a.MemoryPaths)
		case "prices":
			cmd.ValidArgsFunction = a.Complete(a.ModelNames)
		case "config":
			cmd.ValidArgsFunction = a.Complete(a.SettingNames)
		}
	}
	for _, c := range cmd.Commands() {
		complete(a, c)
	}
}

// configured tells whether a verb needs the configuration: help must work where that is
// broken, and completions read it for the verb that they complete.
func configured(cmd *cobra.Command) bool {
	if !cmd.HasParent() && asksVersion(cmd) {
		return false
	}
	for c := cmd; c.HasParent(); c = c.Parent() {
		switch c.Name() {
		case "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			return false
		}
	}
	return true
}

// opening is what one reads first: what the program does, and what to do with it.
func opening(root *cobra.Command) string {
	return `memkernel keeps what an agent's sessions and Markdown notes hold, and decides which
of it each model call gets: within a token budget, with a warm cache, and explained.

To begin, in the folder of your project:
` + step(root, "", "init", "set up memory for your agents") +
		step(root, "init", "reindex", "read the Markdown that is there") +
		step(root, "", "search QUESTION", "ask it") +
		step(root, "", "plan -t SESSION.jsonl --explain", "see what a call would contain")
}

// step is a line of the opening, "" if its verb does not exist or another that does is
// there in its place.
func step(root *cobra.Command, instead, call, what string) string {
	verb, _, _ := strings.Cut(call, " ")
	if !exists(root, verb) || exists(root, instead) {
		return ""
	}
	return fmt.Sprintf("  %-43s %s\n", "memkernel "+call, what)
}

func exists(root *cobra.Command, verb string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == verb })
}

const versionFlag = "version"

func asksVersion(root *cobra.Command) bool {
	asked, err := root.Flags().GetBool(versionFlag)
	return err == nil && asked
}

// rootRun is met without a verb, or with one that does not exist.
func rootRun(a *cli.App, cmd *cobra.Command, args []string) error {
	if asksVersion(cmd) {
		_, err := fmt.Fprintln(a.Out, cli.Build().Line())
		return err
	}
	if len(args) == 0 {
		return cmd.Help()
	}
	return cli.UnknownVerb(cmd, args[0])
}

// groupError says which flags exclude each other.
func groupError(err error) error {
	_, names, ok := strings.Cut(err.Error(), "; [")
	names, _, all := strings.Cut(names, "] were all set")
	if !ok || !all {
		return fail.Usagef("%s", err)
	}
	return fail.Usagef("--%s exclude each other: give one of them", strings.Join(strings.Fields(names), " and --"))
}

// flagError names the flag that was probably meant in place of one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return fail.Usagef("%s", err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := nearest.Words(unknown.GetSpecifiedName(), names)
	if len(near) == 0 {
		return fail.Usagef("%s", err)
	}
	return fail.UsageWith(err.Error(), fmt.Sprintf("did you mean --%s? '%s --help' lists all", strings.Join(near, " or --"), cmd.CommandPath()))
}
