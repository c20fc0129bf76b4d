package verbs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	transcript cli.TranscriptFlags
	policies   []string
	windowFlags
	room    config.Tokens
	fixed   fixedValue
	model   string
	ttl     time.Duration
	economy *cachelayout.Economy
	view    cli.Choice
	limit   int
	trace   string
}

// Replay returns the verb replay.
func Replay(a *cli.App) *cobra.Command {
	r := &replayFlags{}
	cmd := &cobra.Command{
		Long: `replay runs every recorded call of a session again under one or more policies and
prints what they would have cost and how much of what the agent referred to they
showed. Nothing is sent anywhere and the project's state is not touched.

` + policyList() + `
"all" stands for all of them, and a figure may follow a name: memkernel-20k keeps
20k tokens of conversation at a cut, append-late-30k 30k. memkernel-save, -balanced and
-keep are this program under each --economy. mkbench in the repository's folder bench
replays under more policies: rules of hosts and providers, simple rules, an oracle.

A call that can't be planned counts for none of the policies: nothing stands before it
(no_messages), a message of the model's does (answered), the least that must stand is
too large (does_not_fit), or the plan was refused (refused). Such calls are counted by
reason; what was said in them stands in later prompts.

With --trace it decides again what a trace says was decided, and shows the first
decision that comes out otherwise (exit code 3). A trace is the file trace.jsonl of a
session's folder. Decisions of another version are counted apart: they may well
differ.`,
		Example: `  memkernel replay -t session.jsonl --policy all --room 128k
  memkernel replay -t session.jsonl --context-window 128k --fixed-tokens 25k
  memkernel replay -t session.jsonl --policy memkernel --json
  memkernel replay --trace .memkernel/sessions/default/trace.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.trace != "" {
				return replayTrace(a, r.trace)
			}
			return runReplay(cmd.Context(), a, r)
		},
	}
	r.transcript.Add(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&r.policies, "policy", []string{replay.Memkernel, replay.AppendLate, replay.Fullest}, "`policies` to compare, or all")
	r.windowFlags.add(f, "the price book's", "the policy's own", "", "the tool or command")
	f.Var(&r.room, "room", "size of the window as room above the fixed part")
	r.fixed.Add(f)
	f.StringVarP(&r.model, "model", "m", "", "model `id` (default the recorded one)")
	f.DurationVar(&r.ttl, "ttl", 0, "lifetime of cache entries, 5m or 1h (default the recorded writes', and for memkernel what it chooses)")
	r.economy = economyFlag(cmd)
	f.IntVar(&r.limit, "limit", 0, "stop after `N` calls")
	f.StringVar(&r.trace, "trace", "", "make the decisions of a trace `file` again, instead of replaying a session")
	cmd.MarkFlagsMutuallyExclusive("trace", "transcript")
	cmd.MarkFlagsMutuallyExclusive("room", "context-window")
	viewFlag(cmd, &r.view, "full")
	a.PricesFlag(cmd)
	cli.CompleteWords(cmd, "policy", append(replay.Policies(), "all"))
	return cmd
}

// policyList lists the policies with their descriptions, for the help.
func policyList() string {
	var b strings.Builder
	for _, p := range replay.About() {
		for i, l := range display.Wrap(p.About, display.Columns-policyColumn) {
			if i > 0 {
				p.Name = ""
			}
			fmt.Fprintf(&b, "%-*s%s\n", policyColumn, "  "+p.Name, l)
		}
	}
	return b.String()
}

// policyColumn is the width of the help's column of policies, in characters.
const policyColumn = 19

// replayOneJSON is the document of a replay under one policy. It includes the members of the result.
type replayOneJSON struct {
	Schema string `json:"schema"`
	// View is the view that was replayed.
	View string `json:"view"`
	// Recorded is the provider's bill for the host, as far as the transcript has it.
	Recorded replay.Recorded `json:"recorded"`
	// Door is the session's own record of costs. It is null if the session did not go through
	// memkernel. The results are a simulation in any case.
	Door *replay.Door `json:"door"`
	*replay.Result
}

func runReplay(ctx context.Context, a *cli.App, r *replayFlags) error {
	if err := r.check(); err != nil {
		return err
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	session, err := a.Session(&r.transcript)
	if err != nil {
		return err
	}
	doc := replay.NewDocument(session, viewOf(&r.view), book)
	st, err := billed(ctx, a)
	if err != nil {
		return err
	}
	if own := st.Session(session.ID); own != nil {
		doc.Door = &replay.Door{Calls: own.Total.Calls, BilledUSD: own.Total.BilledUSD, WithoutUSD: own.Total.WithoutUSD}
	}
	for _, policy := range r.policies {
		err := replayOne(ctx, a, doc, session, policy, r, book)
		a.ProgressDone()
		if err != nil {
			return err
		}
	}
	replay.Align(doc.Results)
	if a.JSON && len(doc.Results) == 1 {
		return a.WriteJSON(replayOneJSON{doc.Schema, doc.View, doc.Recorded, doc.Door, doc.Results[0]})
	}
	return cli.Answer(a, doc, doc, drawReplay)
}

func (r *replayFlags) check() error {
	if r.transcript.Path == "" {
		return cli.Usagef("replay needs --transcript FILE")
	}
	if len(r.policies) == 1 && r.policies[0] == "all" {
		r.policies = replay.Policies()
	}
	for _, p := range r.policies {
		if _, _, err := replay.ParsePolicy(p); err != nil {
			return cli.Usagef("--policy: %s", err)
		}
	}
	if r.ttl < 0 || r.limit < 0 {
		return cli.Usagef("--ttl and --limit are not negative")
	}
	return nil
}

// replayOne runs one policy with its state in a temporary folder.
func replayOne(ctx context.Context, a *cli.App, doc *replay.Document, s *transcript.Session, policy string, r *replayFlags, book *cachelayout.Book) error {
	scratch, err := os.MkdirTemp("", "memkernel-replay-")
	if err != nil {
		return fmt.Errorf("replay %s: %w", policy, err)
	}
	defer os.RemoveAll(scratch)
	return doc.Add(ctx, s, policy, replay.Options{
		ContextWindow: int(r.window), RoomTokens: int(r.room), Reserve: int(r.reserve), FixedTokens: int(r.fixed.Tokens), FixedAuto: r.fixed.Auto,
		Model: r.model, TTL: r.ttl, Resolver: r.resolver, Economy: *r.economy, Whole: !a.Config.Plan.Door, View: viewOf(&r.view), Limit: r.limit, Prices: book, Scratch: filepath.Clean(scratch),
		Progress: func(done, all int) { a.Step("replaying under "+policy, done, all, "call") },
	})
}

// replayTrace replays the decisions of a session's plans.
func replayTrace(a *cli.App, path string) error {
	f, err := a.OpenFile(path)
	if err != nil {
		return fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	t, err := kernel.Stored.ReplayTrace(path, f)
	if err != nil {
		return cli.Hint(err, "a trace is trace.jsonl in a session's folder")
	}
	doc := decisionsJSON{Schema: "memkernel/trace/v1", Program: t.Program, Plans: t.Plans, Decisions: t.Decisions,
		Same: t.Difference == nil, Difference: t.Difference}
	if t.Other > 0 {
		doc.OtherVersion = &otherVersionJSON{t.Other, t.Skipped, t.FirstOther}
	}
	if err = cli.Answer(a, doc, &doc, showDecisions); err == nil && !doc.Same {
		err = cli.WithFindings(1)
	}
	return err
}

// decisionsJSON is the document of a session's trace.
type decisionsJSON struct {
	Schema string `json:"schema"`
	// Program is the version that wrote the trace.
	Program string `json:"program"`
	// Plans counts the plans whose replay had the same result. Decisions counts the decisions in
	// these plans.
	Plans     int `json:"plans"`
	Decisions int `json:"decisions"`
	// Same reports whether all plans had the same result. Otherwise the exit code is 3.
	Same bool `json:"same"`
	// Difference is the first decision with a different result. The replay ends at this decision.
	Difference *api.TraceDifference `json:"difference"`
	// OtherVersion describes the decisions that another version of the deciding function made, and
	// that the present version makes differently. Such decisions are not a fault of the trace.
	OtherVersion *otherVersionJSON `json:"other_version"`
}

type otherVersionJSON struct {
	Decisions int `json:"decisions"`
	// SkippedPlans counts the plans that could not be replayed because of such decisions.
	SkippedPlans int                  `json:"skipped_plans"`
	First        *api.TraceDifference `json:"first"`
}

func showDecisions(s *display.Sheet, d *decisionsJSON) {
	if x := d.Difference; x != nil {
		s.Line("line {%d} differs, after {} plans that are the same", x.Line, d.Plans)
		showDifference(s, x)
	} else {
		s.Line("{} plans, {} decisions, every one the same", d.Plans, d.Decisions)
	}
	if o := d.OtherVersion; o != nil {
		s.Line("{} more were decided by another version and come out otherwise now, first on line {%d}", o.Decisions, o.First.Line)
		showDifference(s, o.First)
		if o.SkippedPlans > 0 {
			s.Line("{} plans could not be decided again for that", o.SkippedPlans)
		}
	}
}

// showDifference prints a decision with a different result.
func showDifference(s *display.Sheet, d *api.TraceDifference) {
	s.Line("  plan        {}\n  decided by  {}\n  field       {}", d.Plan, d.Decider, d.Field)
	s.Line("  recorded    {}\n  replayed    {}", cmp.Or(d.Recorded, "nothing"), cmp.Or(d.Now, "nothing"))
}

// The columns of the table, in characters, and the number of policies in one row.
const (
	replayLabel = 22
	replayCol   = 18
	replayWide  = 3
)

// drawReplay writes the figures of the policies side by side. If there are too many policies, it
// writes one line for each with the main figures.
func drawReplay(s *display.Sheet, doc *replay.Document) {
	if len(doc.Results) > replayWide {
		replayLines(s, doc.Results)
	} else if len(doc.Results) > 0 {
		replayColumns(s, doc.Results)
	}
	s.Para(2, "gray", "{}", replayNotes(doc))
}

// replayColumns writes a column for each policy.
func replayColumns(s *display.Sheet, results []*replay.Result) {
	columns, head, all := []int{replayLabel + 2}, []any{"memkernel replay"}, [][][2]any{}
	for _, r := range results {
		columns, head, all = append(columns, -replayCol), append(head, r.Policy), append(all, figures(r))
	}
	s.Raw(s.Paint("bold", s.Row(columns, head...)))
	s.Line("  {%-22s} {}", "model", display.Clip(results[0].Model, s.Columns()-replayLabel-3))
	row := s.Table(0, columns)
	for i, first := range all[0] {
		cells := []any{"  " + first[0].(string)}
		for _, f := range all {
			cells = append(cells, f[i][1])
		}
		row(cells...)
	}
}

// figures returns the rows of the table: the name of each, and its value for a policy. --json has
// further figures.
func figures(r *replay.Result) [][2]any {
	t := &r.Totals
	return [][2]any{
		{"window", r.ContextWindow},
		{"  fixed part", r.FixedTokens},
		{"calls", t.Calls},
		{"input tokens", t.InputTokens},
		{"  cache read", t.CacheReadTokens},
		{"  cache write", t.CacheWriteTokens},
		{"  uncached", t.UncachedTokens},
		{"hit ratio", display.Share(t.HitRatio)},
		{"cost", t.CostUSD},
		{"  with the answers", t.BillUSD()},
		{"cuts", t.Cuts},
		{"cold events", t.ColdEvents},
		{"overflows", t.Overflows},
		{"faults", t.Faults},
		{"actions", t.Actions},
		{"  ready", display.Share(t.ActionsReady)},
		{"edits", t.Edits},
		{"  blind", t.BlindEdits},
		{"references", t.References},
		{"  shown", display.Share(t.ReferenceRecall)},
		{"  behind a pointer", display.Share(t.Pointer)},
	}
}

// replayNotes returns the caveats and the actual bill.
func replayNotes(doc *replay.Document) string {
	p, text := display.Style{}, "The table is simulated. "
	if d := doc.Door; d != nil {
		text = p.Say("{call} of this session went through memkernel: billed {}, without memkernel about {}. wrap, gain and ui show this bill; the table is simulated. ", d.Calls, d.BilledUSD, d.WithoutUSD)
	}
	text += "What is replayed is what was recorded: the agent could only use what its host's own compactions had left it. " +
		"Cost is of the input side, and of the summary calls of the policies that compact."
	if r := doc.Recorded; r.Calls > 0 {
		text += p.Say(" As recorded, {%d} calls with {} tokens of input and {compaction} were {}.", r.Calls, r.InputTokens, r.Compactions, r.CostUSD)
	}
	if len(doc.Results) > 0 && len(doc.Results[0].Unplanned) > 0 {
		text += " " + unplannedNote(doc.Results[0])
	}
	return text
}

// unplannedNote counts the calls that were left out, by reason.
func unplannedNote(r *replay.Result) string {
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(r.Totals.Unplanned)) {
		why = append(why, fmt.Sprintf("%d %s", r.Totals.Unplanned[reason], reason))
	}
	return fmt.Sprintf("%d calls could not be planned and count for no policy: %s; --json names them.", len(r.Unplanned), strings.Join(why, ", "))
}

// replayLines writes a line with the main figures for each policy.
func replayLines(s *display.Sheet, results []*replay.Result) {
	first := results[0]
	s.Line("{}\n  {}, {} calls, window {}, fixed part {}\n", display.Inked("bold", "memkernel replay"), display.Clip(first.Model, s.Columns()/2-4), first.Totals.Calls, first.ContextWindow, first.FixedTokens)
	var late *float64
	for _, r := range results {
		if r.Policy == replay.AppendLate {
			late = r.Totals.BillUSD()
		}
	}
	row := s.Table(2, []int{replayLabel - 4, -10, -9, -9, -9, -9, -6, -6}, "", "bill", "to late", "ready", "blind", "shown", "cuts", "over")
	for _, r := range results {
		t := &r.Totals
		row(r.Policy, inCents(t.BillUSD()), offBy(t.BillUSD(), late), display.Share(t.ActionsReady), display.Share(float64(t.BlindEdits)/float64(max(t.Edits, 1))),
			display.Share(t.ReferenceRecall), t.Cuts, t.Overflows)
	}
	bound := replay.Totals{CostUSD: first.Bound.CostUSD, OutputCostUSD: first.Totals.OutputCostUSD}
	row("bound", inCents(bound.BillUSD()))
	s.Line("")
	s.Para(2, "gray", "bill: input, summary calls and answers; to late: against append-late's. ready: tool calls whose input that was seen before all stood in the prompt. "+
		"blind: edits of a line that was seen before and not shown. shown: references of the agent's answers, as far as they stood. "+
		"over: prompts over window − reserve. More figures are printed for up to three policies at a time.")
}

// inCents prints a cost in whole cents.
func inCents(v *float64) string {
	if v == nil {
		return "unpriced"
	}
	s := fmt.Sprintf("$%.2f", *v)
	if *v < 0 {
		s = fmt.Sprintf("−$%.2f", -*v)
	}
	return strings.Replace(s, "−$0.00", "$0.00", 1)
}

// offBy formats the difference of a cost from another, in per cent.
func offBy(v, to *float64) string {
	if v == nil || to == nil || *to == 0 {
		return "–"
	}
	s := strings.Replace(fmt.Sprintf("%+.1f %%", 100*(*v / *to - 1)), "-", "−", 1)
	return strings.NewReplacer("+0.0 %", "0 %", "−0.0 %", "0 %").Replace(s)
}

// billed returns the billing report of a workspace, nil if the workspace has no billing record.
func billed(ctx context.Context, a *cli.App) (*billing.Report, error) {
	if a.Config.Store.Backend == "files" && !store.Exists(store.Files(a.StateDir), "") {
		return nil, nil
	}
	return usage(ctx, a, &billing.Options{})
}
