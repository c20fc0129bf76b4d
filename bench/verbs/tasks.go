package verbs

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/solve"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/replay"
)

// benchTasksFlags are the flags of tasks.
type benchTasksFlags struct {
	windows  []string
	variants int
	policies []string
	model    string
}

// Tasks is the verb tasks.
func Tasks(a *cli.App) *cobra.Command {
	b := &benchTasksFlags{}
	cmd := &cobra.Command{
		Long: `tasks holds conversations in which something has to be done that was said or seen dozens
of calls before: change a file as told, answer from a result, follow a rule, finish a
plan across cuts and a restart, fix what a test run showed, tell the newest of several
values. The agent is a scripted reader. It knows nothing but the request as it would be
sent, may follow a pointer where the prompt names the tool for it, and calls no model.
Success is checked on the files and on the last answer.`,
		Example: `  mkbench tasks
  mkbench tasks --window 64k --variants 4 --policy memkernel,turns-5`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runBenchTasks(a, cmd, b) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&b.windows, "window", []string{"128k"}, "context windows in `tokens`")
	f.IntVar(&b.variants, "variants", 1, "tasks of each kind in each of the four languages")
	f.StringSliceVar(&b.policies, "policy", []string{"all"}, "`policies`, as in replay; \"all\" but those that know the end")
	f.StringVar(&b.model, "model", "claude-opus-4-5", "`model` whose prices and cache rules the bill has")
	cli.CompleteWords(cmd, "policy", append([]string{"all"}, replay.LivePolicies()...))
	return cmd
}

func runBenchTasks(a *cli.App, cmd *cobra.Command, b *benchTasksFlags) error {
	s := solve.Suite{Variants: b.variants, Policies: b.policies, Options: solve.Options{PriceModel: b.model}}
	if b.variants < 1 || b.variants > 1000 {
		return cli.Usagef("--variants %d: give 1 to 1000", b.variants)
	}
	for _, w := range b.windows {
		var n config.Tokens
		if err := n.Set(w); err != nil || n < 16_000 {
			return cli.Usagef("--window %s: give at least 16k tokens", w)
		}
		s.Windows = append(s.Windows, int(n))
	}
	if slices.Contains(b.policies, "all") {
		s.Policies = replay.LivePolicies()
	}
	for _, p := range s.Policies {
		base, _, err := replay.ParsePolicy(p)
		if err != nil {
			return cli.Usagef("--policy: %v", err)
		}
		if !slices.Contains(replay.LivePolicies(), base) {
			return cli.Usagef("--policy: %s has to know how a session ends: give some of %s", p, strings.Join(replay.LivePolicies(), ", "))
		}
	}
	s.Progress = func(done, all int) { a.Step("working on tasks", done, all, "task") }
	r, err := solve.RunAll(cmd.Context(), s)
	a.ProgressDone()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(struct {
			Schema string   `json:"schema"`
			Kinds  []string `json:"kinds"`
			*solve.Report
		}{"memkernel/bench_tasks/v1", solve.Kinds(), r})
	}
	_, err = io.WriteString(a.Out, r.Markdown())
	return err
}
