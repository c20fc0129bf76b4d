package verbs

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/solve"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/fail"
	"github.com/memkernel/memkernel/replay"
)

// benchTasksFlags are the flags of tasks.
type benchTasksFlags struct {
	windows  []string
	variants int
	policies []string
	model    string
	markdown bool
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
	f.BoolVar(&b.markdown, "markdown", false, "print a section of a document")
	cli.CompleteWords(cmd, "policy", append([]string{"all"}, replay.LivePolicies()...))
	return cmd
}

func runBenchTasks(a *cli.App, cmd *cobra.Command, b *benchTasksFlags) error {
	s := solve.Suite{Variants: b.variants, Policies: b.policies, Options: solve.Options{PriceModel: b.model}}
	if b.variants < 1 || b.variants > 1000 {
		return fail.Usagef("--variants %d: give 1 to 1000", b.variants)
	}
	for _, w := range b.windows {
		var n config.Tokens
		if err := n.Set(w); err != nil || n < 16_000 {
			return fail.Usagef("--window %s: give at least 16k tokens", w)
		}
		s.Windows = append(s.Windows, int(n))
	}
	if slices.Contains(b.policies, "all") {
		s.Policies = replay.LivePolicies()
	}
	for _, p := range s.Policies {
		base, _, err := replay.ParsePolicy(p)
		if err != nil {
			return fail.Usagef("--policy: %v", err)
		}
		if !slices.Contains(replay.LivePolicies(), base) {
			return fail.Usagef("--policy: %s has to know how a session ends: give some of %s", p, strings.Join(replay.LivePolicies(), ", "))
		}
	}
	s.Progress = func(done, all int) { a.Step("working on tasks", done, all, "task") }
	r, err := solve.RunAll(cmd.Context(), s)
	a.ProgressDone()
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.WriteJSON(struct {
			Schema string   `json:"schema"`
			Kinds  []string `json:"kinds"`
			*solve.Report
		}{"memkernel/bench_tasks/v1", solve.Kinds(), r})
	case b.markdown:
		_, err := a.Out.Write([]byte(r.Markdown("mkbench tasks --window "+strings.Join(b.windows, ",")+" --variants "+strconv.Itoa(b.variants), b.model, time.Now())))
		return err
	}
	return drawTasks(a.Out, r, a.Style())
}

// drawTasks is a line for each policy: what it solved, by kind of task, and its whole bill.
func drawTasks(w io.Writer, r *solve.Report, p display.Style) error {
	var b strings.Builder
	window := 0
	for _, row := range r.Rows {
		if row.Window != window {
			window = row.Window
			fmt.Fprintf(&b, "%s\n%s", p.Paint(display.Bold, "a window of "+display.ShortTokens(window)), p.Paint(display.Gray, display.Left("", taskLabel)+display.Right("solved", 9)))
			for _, k := range solve.Kinds() {
				b.WriteString(p.Paint(display.Gray, display.Right(k, taskColumn)))
			}
			b.WriteString(p.Paint(display.Gray, display.Right("bill", 9)) + "\n")
		}
		b.WriteString(display.Left(row.Policy, taskLabel) + display.Right(fmt.Sprintf("%d/%d", row.Solved, row.Tasks), 9))
		for _, n := range row.ByKind {
			b.WriteString(display.Right(fmt.Sprint(n), taskColumn))
		}
		b.WriteString(display.Right(display.InCents(&row.CostUSD), 9) + "\n")
	}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; !o.Solved && o.Policy == "memkernel" {
			for _, l := range display.Wrap("memkernel, "+o.Name()+": "+display.Printable(o.Why), p.Columns()-2) {
				b.WriteString("  " + p.Paint(display.Gray, l) + "\n")
			}
		}
	}
	return display.Flush(w, &b)
}

// The columns of tasks, in characters.
const (
	taskLabel  = 17
	taskColumn = 7
)
