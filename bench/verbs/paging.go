package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	judge "github.com/memkernel/memkernel/bench/paging"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// benchPagingFlags are the flags of paging.
type benchPagingFlags struct {
	workload    string
	policies    []string
	budgets     []int
	transcripts []string
	turns       int
	trace       string
	noKernel    bool
}

// Paging is the verb paging.
func Paging(a *cli.App) *cobra.Command {
	b := &benchPagingFlags{}
	cmd := &cobra.Command{
		Long: `paging runs the policies of the ClawVM paper over workloads: pages, the turns that
need, make and change them, and the compactions and resets that strike. Alone it prints
the tables of the paper with our figures beside the paper's; = marks what follows from
the rules of our workloads, ~ what their page sizes were chosen for, all else is to
be compared and not to be equal. With --transcript recorded sessions are replayed
as well.

With --workload it runs one workload under policies and budgets. A workload is a
file such as bench/paging/testdata/morning.json, "families" for the four synthetic ones, or
the name of one that is built in:

  evidence-heavy, interruption-heavy, lifecycle-torture, multi-session
  starvation, churn, cascade
  coding-01 ... debugging-01 ... writing-01 ... ops-01 ...

Policies: ` + strings.Join(judge.Policies(), ", ") + `.`,
		Example: `  mkbench paging
  mkbench paging --workload churn --policy retrieval,clawvm
  mkbench paging --workload mine.json --budget 300 --policy clawvm
  mkbench paging --workload churn --policy clawvm --trace churn.jsonl`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runBenchPaging(a, cmd, b) },
	}
	f := cmd.Flags()
	f.StringVarP(&b.workload, "workload", "w", "", "workload `file`, or the name of a built-in one")
	f.StringSliceVar(&b.policies, "policy", judge.Policies(), "`policies` to run the workload under")
	f.IntSliceVar(&b.budgets, "budget", nil, "`tokens` that a prompt may hold, one or more (default 180; 40 for starvation)")
	f.BoolVar(&b.noKernel, "no-kernel", false, "leave the kernel's own table out, which takes some ten seconds")
	f.StringSliceVarP(&b.transcripts, "transcript", "t", nil, "recorded session `files` to replay")
	f.IntVar(&b.turns, "turns", 0, "how many model calls of each session, 0 for 50, 100, 200 and all")
	f.StringVar(&b.trace, "trace", "", "write the decision trace of a single run to this `file`")
	cli.CompleteWords(cmd, "policy", judge.Policies())
	cli.CompleteWords(cmd, "workload", append([]string{"families"}, judge.Names()...))
	return cmd
}

func runBenchPaging(a *cli.App, cmd *cobra.Command, b *benchPagingFlags) error {
	if err := b.check(cmd); err != nil {
		return err
	}
	if b.workload != "" {
		return benchWorkload(cmd.Context(), a, b)
	}
	return benchTables(cmd.Context(), a, b)
}

// check returns an error for flags that can't be combined.
func (b *benchPagingFlags) check(cmd *cobra.Command) error {
	given := func(names ...string) string {
		for _, n := range names {
			if cmd.Flags().Changed(n) {
				return n
			}
		}
		return ""
	}
	if n := given("policy", "budget", "trace"); b.workload == "" && n != "" {
		return cli.Usagef("--%s goes with --workload", n)
	}
	if b.workload != "" && len(b.transcripts) > 0 {
		return cli.Usagef("--workload and --transcript are two different runs: give one of them")
	}
	if b.turns < 0 || b.turns > 0 && len(b.transcripts) == 0 {
		return cli.Usagef("--turns is a number from 1 and goes with --transcript")
	}
	for _, p := range b.policies {
		known := cli.Choice{Of: judge.Policies()}
		if err := known.Set(p); err != nil {
			return cli.Usagef("--policy %s", err)
		}
	}
	for _, n := range b.budgets {
		if n <= 0 {
			return cli.Usagef("--budget %d: give a number over 0", n)
		}
	}
	return nil
}

// workloads returns the workloads that --workload names. It looks for built-in workloads first,
// and otherwise reads a file.
func workloads(a *cli.App, name string) ([]*judge.Workload, error) {
	if name == "families" {
		return judge.Families(), nil
	}
	if w, err := judge.ByName(name); err == nil {
		return []*judge.Workload{w}, nil
	}
	f, err := a.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Hint(fmt.Errorf("no file and no built-in workload %q", name), "built in are families, %s and the tasks; see mkbench paging --help", strings.Join(judge.Names()[:7], ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("read workload: %w", err)
	}
	defer f.Close()
	w, err := judge.Read(f, name)
	if err != nil {
		return nil, cli.Hint(err, "bench/paging/testdata/morning.json is an example, and workload.go next to it describes each member")
	}
	return []*judge.Workload{w}, nil
}

// pagingJSON is the document for several runs. pagingOneJSON is the document for one run.
type pagingJSON struct {
	Schema  string          `json:"schema"`
	Results []*judge.Result `json:"results"`
}

type pagingOneJSON struct {
	Schema string `json:"schema"`
	*judge.Result
}

func benchWorkload(ctx context.Context, a *cli.App, b *benchPagingFlags) error {
	ws, err := workloads(a, b.workload)
	if err != nil {
		return err
	}
	single := len(ws) == 1 && len(b.policies) == 1 && len(b.budgets) <= 1
	if b.trace != "" && !single {
		return cli.Usagef("--trace goes with one workload, one --policy and one --budget")
	}
	doc := pagingJSON{Schema: "memkernel/bench_paging/v1"}
	doc.Results, err = runTraced(a.Counted(ctx, "paging"), ws, b, judge.Options{Faults: single})
	a.ProgressDone()
	if err != nil {
		return err
	}
	switch {
	case a.JSON && single:
		doc.Results[0].Events = document.List(doc.Results[0].Events)
		return a.WriteJSON(pagingOneJSON{doc.Schema, doc.Results[0]})
	case a.JSON:
		return a.WriteJSON(doc)
	}
	return drawRuns(a.Out, doc.Results, a.Style())
}

// runTraced runs the requested workloads, and writes a trace if a flag requests one.
func runTraced(ctx context.Context, ws []*judge.Workload, b *benchPagingFlags, opt judge.Options) (out []*judge.Result, err error) {
	if b.trace != "" {
		f, oops := os.Create(b.trace)
		if oops != nil {
			return nil, fmt.Errorf("write trace: %w", oops)
		}
		defer func() {
			if oops := f.Close(); oops != nil && err == nil {
				err = fmt.Errorf("write trace: %w", oops)
			}
		}()
		opt.Trace = f
	}
	tell, all := longwork.ProgressOf(ctx), len(ws)*len(b.policies)*max(1, len(b.budgets))
	for _, w := range ws {
		rs, err := runPolicies(ctx, w, b, opt, func(ran int) { tell("run", len(out)+ran, all) })
		if err != nil {
			return nil, err
		}
		out = append(out, rs...)
	}
	return out, nil
}

func runPolicies(ctx context.Context, w *judge.Workload, b *benchPagingFlags, opt judge.Options, tell func(ran int)) (out []*judge.Result, err error) {
	tell(0)
	budgets := b.budgets
	if len(budgets) == 0 {
		budgets = []int{judge.BudgetOf(w.Name)}
	}
	for _, name := range b.policies {
		p, err := judge.PolicyByName(name)
		if err != nil {
			return nil, err
		}
		for _, n := range budgets {
			r, err := judge.Run(ctx, w, p, n, opt)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
			tell(len(out))
		}
	}
	return out, nil
}

// tablesJSON is the document of the whole evaluation.
type tablesJSON struct {
	Schema string         `json:"schema"`
	Tables []*judge.Table `json:"tables"`
}

func benchTables(ctx context.Context, a *cli.App, b *benchPagingFlags) error {
	tables, err := judge.Tables(ctx)
	if err != nil {
		return err
	}
	if !b.noKernel {
		t, err := judge.KernelTable(ctx)
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	if len(b.transcripts) > 0 {
		t, err := b.table10(ctx)
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	if a.JSON {
		return a.WriteJSON(tablesJSON{"memkernel/bench_tables/v1", tables})
	}
	p := a.Style()
	for _, t := range tables {
		head, rest, _ := strings.Cut(t.Text(), "\n")
		if _, err := fmt.Fprintf(a.Out, "%s\n%s\n", p.Paint(display.Bold, head), rest); err != nil {
			return err
		}
	}
	_, err = io.WriteString(a.Out, p.Paint(display.Gray, "ours, then (the paper's); = follows from our workloads' rules, ~ from sizes")+"\n")
	return err
}

// table10 reads the recorded sessions.
func (b *benchPagingFlags) table10(ctx context.Context) (*judge.Table, error) {
	var sessions []*transcript.Session
	for _, f := range b.transcripts {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	lengths := []int{50, 100, 200, 0}
	if b.turns > 0 {
		lengths = []int{b.turns}
	}
	return judge.Table10(ctx, sessions, !b.noKernel, lengths...)
}

// drawRuns prints runs, one on each line.
func drawRuns(w io.Writer, rs []*judge.Result, p display.Style) error {
	var b strings.Builder
	last := ""
	for _, r := range rs {
		if r.Workload != last {
			last = r.Workload
			fmt.Fprintf(&b, "%s\n", p.Paint(display.Bold, display.Clip(r.Workload, p.Columns())))
			fmt.Fprintf(&b, "  %-15s %6s %8s %6s %6s %6s %7s %7s\n", "policy", "budget", "explicit", "pinned", "alerts", "hits", "thrash", "gap")
		}
		fmt.Fprintf(&b, "  %-15s %6d %8d %6d %6d %6d %7.3f %7s\n", r.Policy, r.Budget, r.ExplicitFaults, r.Faults[paging.PinnedInvariantMiss], r.Alerts, r.Hits, r.Thrash, gap(r))
		for _, c := range paging.Codes() {
			if n := r.Faults[c]; n > 0 {
				fmt.Fprintf(&b, "    %s %d\n", c, n)
			}
		}
		if r.Over > 0 {
			fmt.Fprintf(&b, "    %s %d: %d tokens are missing, first for %s\n", "budget_insufficient", r.BudgetInsufficient, r.Over, display.Clip(r.Short[0].Page, 24))
		}
	}
	b.WriteString(p.Paint(display.Gray, "gap: explicit faults over the oracle's, looking 3 turns ahead / to the end") + "\n")
	return display.Flush(w, &b)
}

// gap returns the text of a run's oracle gap, for both horizons.
func gap(r *judge.Result) string {
	if r.OracleGap == nil || r.OracleGapInfinite == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", *r.OracleGap, *r.OracleGapInfinite)
}
