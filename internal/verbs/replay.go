package verbs

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	transcript cli.TranscriptFlags
	policies   []string
	windowFlags
	room    config.Tokens
	fixed   cli.FixedValue
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

Transcripts do not hold tools and system prompt. Their size is taken from the first
call's recorded usage; --room gives the window as room above it.

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
	r.economy = cli.EconomyFlag(cmd)
	f.IntVar(&r.limit, "limit", 0, "stop after `N` calls")
	f.StringVar(&r.trace, "trace", "", "make the decisions of a trace `file` again, instead of replaying a session")
	cmd.MarkFlagsMutuallyExclusive("trace", "transcript")
	cmd.MarkFlagsMutuallyExclusive("room", "context-window")
	cli.ViewFlag(cmd, &r.view, "full")
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

// replayOneJSON is the document for one policy, with its unchanged result.
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
	doc := replay.NewDocument(session, r.view.View(), book)
	st, err := cli.Billed(ctx, &a.Settings)
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
	doc.End()
	if a.JSON && len(doc.Results) == 1 {
		return a.WriteJSON(replayOneJSON{doc.Schema, doc.View, doc.Recorded, doc.Door, doc.Results[0]})
	}
	return cli.Answer(a, doc, doc, display.Replay)
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
		Model: r.model, TTL: r.ttl, Resolver: r.resolver, Economy: *r.economy, Whole: !a.Config.Plan.Door, View: r.view.View(), Limit: r.limit, Prices: book, Scratch: filepath.Clean(scratch),
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
	// OtherVersion describes decisions that another version of their decider made and that have a
	// different result now. Such decisions are not a fault of the trace.
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
