package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
)

// app is what all verbs share: where to write, and the shared flags.
type app struct {
	*ui
	workspace, stateDir, configPath string
	json, shared                    bool
	prices                          string
	// config are the settings as they hold, configFile where some came from, ""
	// if there is no file.
	config     *config.Config
	configFile string
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, u *ui, args []string) int {
	u.out, u.err = display.TextScreen(u.out), display.TextScreen(u.err)
	a := &app{ui: u}
	root := newRoot(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var usage *usageError
	if errors.As(err, &usage) && usage.hint == "" {
		usage.hint = fmt.Sprintf("run '%s --help' for what it takes", cmd.CommandPath())
	}
	return u.report(err)
}

// newRoot builds the whole command tree.
func newRoot(a *app) *cobra.Command {
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
			return a.prepare(cmd)
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usagef("%s", err) })
	a.sharedFlags(root)
	for _, verb := range []*cobra.Command{newPlan(a), newReplay(a), newObserve(a), newFlush(a), newCompact(a), newReset(a), newCheckpoint(a), newRestore(a), newReindex(a), newMigrate(a), newSearch(a), newGet(a), newStatus(a), newStats(a), newDoctor(a), newCheck(a), newSalvage(a), newAudit(a), newCurate(a), newPrune(a), newNightly(a), newGuard(a), newForget(a), newRetain(a), newBench(a), newEval(a), newMCP(a), newHook(a), newPrices(a), newServe(a), newProxy(a), newConfig(a), newVersion(a), newMan(a)} {
		root.AddCommand(verb)
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

func (a *app) sharedFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.workspace, "workspace", ".", "folder of the `project` that the session belongs to")
	f.StringVar(&a.stateDir, "state-dir", "", "`folder` of derived state (default <workspace>/.memkernel)")
	f.StringVar(&a.configPath, "config", "", "configuration `file` (default <state-dir>/config.yaml, if there)")
	f.BoolVar(&a.json, "json", false, "one JSON document instead of text; see doc/json.md")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no hints after a success")
	f.StringVar(&a.color, "color", "auto", "colour the text: `when` is auto, always or never")
	must(root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp)))
}

// must guards calls that can only fail by a mistake in this package, which every
// test would meet.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// rootRun is met without a verb, or with one that does not exist.
func rootRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	e := &usageError{msg: fmt.Sprintf("unknown verb %q", args[0])}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		e.hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return e
}

// prepare reads the configuration and checks the shared flags, before any verb.
func (a *app) prepare(cmd *cobra.Command) error {
	switch a.color {
	case "auto", "always", "never":
	default:
		return usagef("--color %q is none of auto, always, never", a.color)
	}
	if a.stateDir == "" {
		a.stateDir = filepath.Join(a.workspace, kernel.DefaultStateDir)
	}
	return a.readConfig(cmd)
}

// noArgs refuses arguments that are no flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, got %q", cmd.Name(), args[0])
	}
	return nil
}

// book is the price book, with the user's file over the embedded table.
func (a *app) book() (*cachelayout.Book, error) {
	b := cachelayout.DefaultBook()
	if a.prices == "" {
		return b, nil
	}
	f, err := a.open(a.prices)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	defer f.Close()
	if b, err = b.Overlay(f, a.prices); err != nil {
		return nil, hint(err, "the file is what 'memkernel prices import' writes; see doc/json.md")
	}
	return b, nil
}

// pricesFlag adds --prices to a verb.
func (a *app) pricesFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.prices, "prices", a.prices, "price `file` that stands over the embedded book")
}
