package verbs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
	sample "github.com/memkernel/memkernel/testdata"
)

// demoQuestions are the questions that demo answers from the sample's notes.
var demoQuestions = []string{"Is there a proxy in front of the service?", "Whom do I ask if a vessel was swapped?"}

func demoVerb(a *cli.App) *cobra.Command {
	explain := false
	cmd := &cobra.Command{
		Long: `demo asks two questions of a folder of notes, and plans one model call of a long
session. Notes and session are an invented sample, which the program carries. It lies in a
temporary folder while demo runs. Nothing else is written, and no setting is read.

--explain explains the same call in full, as plan --explain does, and then the words that
the explanation uses.`,
		Example: `  memkernel demo
  memkernel demo --explain`,
		RunE: with(a, &explain, runDemo),
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "explain the planned call token by token")
	return cmd
}

func runDemo(ctx context.Context, a *cli.App, explain *bool) (err error) {
	if a.JSON {
		return cli.Usagef("demo has no --json: 'memkernel search --json' and 'memkernel plan --json' have")
	}
	dir, err := os.MkdirTemp("", "memkernel-demo-")
	if err != nil {
		return fmt.Errorf("make the folder of the sample: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil && gone != nil {
			err = fmt.Errorf("remove the folder of the sample: %w", gone)
		}
	}()
	if err := os.CopyFS(dir, sample.Files); err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	own := *a // the user's settings don't count, and their folder is not touched
	own.Settings = cli.Settings{Workspace: filepath.Join(dir, sample.Notes), StateDir: filepath.Join(dir, "state"), Config: config.Default()}
	files, answers, err := demoAnswers(ctx, &own)
	if err != nil {
		return err
	}
	p := &planFlags{explain: *explain}
	p.transcript, p.view, p.resolver = *cli.TranscriptFile(filepath.Join(dir, sample.Session)), cli.Choice{Value: "full"}, "memory_get"
	p.fixed.Auto = true
	out, err := planOf(ctx, &own, p)
	if err != nil {
		return err
	}
	out.Implied = false // nobody sets the sample's fixed part by hand
	return a.Print(func(s *display.Sheet) {
		if !*explain {
			showTour(s, files, answers, out)
			return
		}
		explainPlan(s, out)
		words, _ := cli.Terms(explainedIn(), s.Columns())
		s.Line("\nWords\n" + strings.TrimSuffix(words, "\n"))
	})
}

// demoAnswers searches the sample's notes for the answers to demoQuestions. files is the number of
// notes.
func demoAnswers(ctx context.Context, a *cli.App) (files int, out []demoAnswer, err error) {
	k, err := a.Kernel(ctx, cli.Needs{})
	if err != nil {
		return 0, nil, err
	}
	defer k.Close()
	r, err := k.Reindex(ctx, nil)
	if err != nil {
		return 0, nil, err
	}
	for _, q := range demoQuestions {
		res, err := k.Search(ctx, api.SearchRequest{Query: q, Private: true, MaxResults: 1, Lines: true, Wait: -1})
		if err != nil {
			return 0, nil, err
		}
		out = append(out, demoAnswer{q, res})
	}
	return r.Files, out, nil
}

// demoAnswer is a question with the result of its search.
type demoAnswer struct {
	Question string
	Result   *retrieval.Result
}

// showTour writes a first look at memory and plans, for a reader who knows neither.
func showTour(s *display.Sheet, files int, answers []demoAnswer, plan *planned) {
	s.Para(0, "", "A tour on an invented sample: {%d} notes of a ferry company, and a working day of its coding agent. The sample lies in a temporary folder until the tour ends.", files)
	s.Section("Ask the notes", "")
	for _, a := range answers {
		s.Line("  {}", a.Question)
		if len(a.Result.Hits) == 0 {
			s.Line("    {}", a.Result.Detail)
			continue
		}
		h, mark := &a.Result.Hits[0], marker(a.Question, s.Style)
		for _, l := range display.Wrap(address(h.Path, h.StartLine)+"  "+strings.TrimPrefix(strings.Join(strings.Fields(h.Text), " "), "- "), s.Columns()-4) {
			s.Raw("    " + mark(l))
		}
	}
	tourPlan(s, plan)
	s.Section("Go on", "")
	step := s.Table(2, []int{28, 50})
	step(display.Inked("bold", "memkernel demo --explain"), "the same model call, token by token")
	step(display.Inked("bold", "memkernel search QUESTION"), "ask the notes of the folder that you are in")
	step(display.Inked("bold", "memkernel remember TEXT"), "write a note")
	step(display.Inked("bold", "memkernel init"), "give your coding agents this memory")
}

// tourPlan prints what a plan keeps, shortens and leaves out, and how much it saves.
func tourPlan(s *display.Sheet, out *planned) {
	plan := out.Made
	var fixed, rules, files, kept, messages, brief, from, results, summary int
	for i := range plan.Debug.Included {
		switch r := &plan.Debug.Included[i]; {
		case r.Kind == "system":
			fixed += r.Tokens
		case fromMemory(r):
			rules, files = rules+r.Tokens, files+1
		case r.Kind == "carry":
			summary += r.Tokens
		case r.Kind == "retrieval":
		case r.Level == pagevm.Full:
			kept, messages = kept+r.Tokens, messages+1
		default:
			brief, from, results = brief+r.Tokens, from+r.FullTokens, results+1
		}
	}
	_, _, gone := pageCounts(plan)
	whole, planned := uncut(plan), plan.Budgets.PlannedInputTokens
	s.Section(s.Say("Plan a prompt: request {%d} of the day, from the agent to its model", out.Call), "")
	s.Line("  The conversation has grown to {} tokens, and the model takes {}.", whole, plan.Budgets.ContextWindow)
	table := s.Table(0, []int{-9, 2, s.Columns() - 11})
	row := func(tokens int, form string, values ...any) { table(tokens, "", s.Say(form, values...)) }
	row(fixed, "kept: the agent's instructions and tools")
	row(rules, "kept: rules and facts of AGENTS.md, MEMORY.md and the like, {file}", files)
	row(kept, "kept word for word: {message} and results of the work at hand", messages)
	row(brief, "shortened: {long result}, of {} tokens in all", results, from)
	row(summary, "added: a summary of {message} that are left out", gone)
	row(plan.Retrieval.Tokens, "added: {note} found for the newest question", plan.Retrieval.Items)
	row(planned, "are sent; the agent can read the rest again, word for word, by a tool")
	one, all := out.Model.TierFor(planned), out.Model.TierFor(whole)
	if one.Write5m == nil || one.Read == nil || all.Write5m == nil || all.Read == nil {
		return
	}
	cents := func(n int, price *float64) float64 { return float64(n) * *price / 1e6 }
	s.Para(2, "", "This request costs ${%.2f}, and the next one ${%.2f} or more, because the provider keeps what it has read. The whole conversation would cost ${%.2f} and ${%.2f}.",
		cents(planned, one.Write5m), cents(planned, one.Read), cents(whole, all.Write5m), cents(whole, all.Read))
}

// explainedIn returns the terms that [explainPlan] uses, in the order of their first use.
func explainedIn() []string {
	return []string{"token", "window", "reserve", "fixed part", "region", "page", "level", "pointer", "carry", "working set", "recall", "bootstrap file",
		"cut", "high water, low water", "generation", "cold, warm cache", "breakpoint", "fault"}
}
