package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/display"
)

// run executes one command line and returns the exit code.
func run(ctx context.Context, u *cli.UI, args []string) int {
	u.Out, u.Err = display.TextScreen(u.Out), display.TextScreen(u.Err)
	a := &cli.App{UI: u}
	root := newRoot(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var usage *fail.UsageError
	if errors.As(err, &usage) && usage.Hint == "" {
		usage.Hint = fmt.Sprintf("run '%s --help' for what it takes", cmd.CommandPath())
	}
	return u.Report(err)
}

// newRoot builds the whole command tree.
func newRoot(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "memkernel",
		Short: "plan what a model gets to see, within a budget and with a warm cache",
		Long: `memkernel turns an agent session into the prompt of its next model call: within
a token budget, stable for the provider's prompt cache, and explained.

  memkernel plan --transcript session.jsonl --explain`,
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return rootRun(cmd, args) },
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			return a.Prepare(cmd)
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return fail.Usagef("%s", err) })
	a.SharedFlags(root)
	for _, v := range verbs {
		cmd := v.command(a)
		cmd.Use, cmd.Short = v.use, v.summary
		root.AddCommand(cmd)
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// rootRun is met without a verb, or with one that does not exist.
func rootRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return fail.UsageWith(fmt.Sprintf("unknown verb %q", args[0]), hint)
}
