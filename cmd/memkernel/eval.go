package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/retrieval"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	sets      []string
	questions string
	with      []string
	compare   []string
	compared  bool
	now       timeValue
	ranks     bool
	backend   string
}

func newEval(a *app) *cobra.Command {
	e := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "eval --set DIR...",
		Short: "judge search on questions whose answers' places are known",
		Long: `eval indexes a folder of Markdown files in a temporary place, puts the questions of its
qa.jsonl to it by words alone, and says how much of the evidence the hits cover: among
the first 1, 5 and 10, and within 500, 1,000 and 2,000 tokens. A row of qa.jsonl is

  {"id","category","question","evidence":[{"file","line"}]}

A hit covers a line if it is of that file and its lines contain it. Several sets are
judged together. Ages are counted to the day after the newest note, or to --now.
--backend postgres keeps the index in a workspace of its own in the database that
index.postgres names, and removes it afterwards.

--compare judges the same questions once more with other settings, and says what
differs, question by question. Settings are written as name=value: unit (passage or
chunk), decay, mmr, lambda, floor, pool, and the weights of what a passage's score is
made of, such as session=0 or before=0.`,
		Example: `  memkernel eval --set shared/questions
  memkernel eval --set a --set b --compare unit=chunk
  memkernel eval --set a --compare before=0,behind=0,away=0,far=0 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.compared = cmd.Flags().Changed("compare")
			return a.runEval(cmd.Context(), e)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&e.sets, "set", nil, "`folders` with Markdown files and questions on them")
	f.StringVar(&e.questions, "questions", "", "`file` with the questions (default qa.jsonl in the folder)")
	f.StringSliceVar(&e.with, "with", nil, "judge with these `settings`, as name=value")
	f.StringSliceVar(&e.compare, "compare", nil, "compare with these `settings` beside those of --with")
	f.StringVar(&e.backend, "backend", "sqlite", "what keeps the temporary index: `sqlite` or postgres, as configured")
	f.BoolVar(&e.ranks, "ranks", false, "print the rank of each line of evidence, and no figures")
	f.Var(&e.now, "now", "the moment that ages are counted to, in RFC 3339 (default the day after the newest note)")
	return cmd
}

// evalJSON is the document of eval.
type evalJSON struct {
	Schema string   `json:"schema"`
	Sets   []string `json:"sets"`
	With   []string `json:"with"`
	relevance.Report
	Ranks   []evalRanks   `json:"ranks,omitempty"`
	Compare *evalCompared `json:"compare,omitempty"`
}

// evalRanks are the ranks of one question's evidence.
type evalRanks struct {
	ID    string `json:"id"`
	Ranks []int  `json:"ranks"`
}

// evalCompared is the second run, and what it is above the first.
type evalCompared struct {
	With []string `json:"with"`
	relevance.Report
	Differences []relevance.Difference `json:"differences"`
}

func (a *app) runEval(ctx context.Context, e *evalFlags) error {
	if !slices.Contains([]string{"sqlite", "postgres"}, e.backend) {
		return usagef("--backend %q is none of sqlite, postgres", e.backend)
	}
	if len(e.sets) == 0 {
		return usagef("eval needs a folder of questions: --set DIR")
	}
	if e.questions != "" && len(e.sets) > 1 {
		return usagef("--questions names the file of one set, not of %d", len(e.sets))
	}
	first, second := newEvalRun(a, e.now.Time), newEvalRun(a, e.now.Time)
	if err := first.set(e.with); err != nil {
		return err
	}
	if err := second.set(append(e.with[:len(e.with):len(e.with)], e.compare...)); err != nil {
		return err
	}
	doc := evalJSON{Schema: "memkernel/eval/v1", With: list(e.with)}
	for _, dir := range e.sets {
		name, err := a.evalSet(ctx, e, dir, first, second)
		if err != nil {
			return hint(err, "a set is a folder of Markdown files with qa.jsonl; see 'memkernel eval --help'")
		}
		doc.Sets = append(doc.Sets, name)
	}
	doc.Report = relevance.Sum(first.answers)
	if e.ranks {
		for _, x := range first.answers {
			doc.Ranks = append(doc.Ranks, evalRanks{x.ID, x.Ranks})
		}
	}
	if e.compared {
		doc.Compare = &evalCompared{list(e.compare), relevance.Sum(second.answers), relevance.Compare(first.answers, second.answers)}
	}
	if a.json {
		return a.writeJSON(doc)
	}
	return a.showEval(&doc, first.answers)
}

// evalSet puts the questions of one set.
func (a *app) evalSet(ctx context.Context, e *evalFlags, dir string, first, second *evalRun) (string, error) {
	questions := e.questions
	if questions == "" {
		questions = filepath.Join(dir, "qa.jsonl")
	}
	open, err := a.evalIndex(e.backend)
	if err != nil {
		return "", err
	}
	b, err := relevance.OpenWith(ctx, dir, questions, open)
	if err != nil {
		return "", err
	}
	defer b.Close()
	if err := first.ask(ctx, b); err != nil {
		return "", err
	}
	if e.compared {
		err = second.ask(ctx, b)
	}
	return b.Name, err
}

// evalRun is one pass over the questions under some settings.
type evalRun struct {
	opts    retrieval.Options
	chunks  bool
	now     time.Time
	answers []relevance.Answer
}

func newEvalRun(a *app, now time.Time) *evalRun {
	o := ranking(&a.config.Retrieval)
	o.Signals = retrieval.DefaultSignals()
	return &evalRun{opts: o, now: now}
}

func (r *evalRun) ask(ctx context.Context, b *relevance.Bench) error {
	now := r.now
	if now.IsZero() {
		last, err := b.Newest(ctx)
		if err != nil {
			return err
		}
		if now = last.AddDate(0, 0, 1); last.IsZero() { // nothing ages
			now = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		}
	}
	b.Chunks = r.chunks
	answers, err := b.Ask(ctx, &r.opts, now)
	r.answers = append(r.answers, answers...)
	return err
}

// showEval prints the figures as a table.
func (a *app) showEval(doc *evalJSON, answers []relevance.Answer) error {
	var b strings.Builder
	if len(doc.Ranks) > 0 {
		for _, r := range doc.Ranks {
			fmt.Fprintf(&b, "%s %s\n", r.ID, strings.Trim(fmt.Sprint(r.Ranks), "[]"))
		}
		_, err := a.out.Write([]byte(b.String()))
		return err
	}
	p := a.painter()
	fmt.Fprintf(&b, "%s\n", p.do(bold, fmt.Sprintf("%d questions of %s", doc.Questions, strings.Join(doc.Sets, ", "))))
	evalTable(&b, doc.Report)
	if c := doc.Compare; c != nil {
		fmt.Fprintf(&b, "\n%s\n", p.do(bold, "with "+strings.Join(c.With, " ")))
		evalTable(&b, c.Report)
		fmt.Fprintf(&b, "\n%s\n", p.do(bold, "difference, with the interval of 95 %"))
		for _, d := range c.Differences {
			mark := ""
			if d.Low > 0 || d.High < 0 {
				mark = "  beyond chance"
			}
			fmt.Fprintf(&b, "  %-20s %+6.1f  %+6.1f to %+.1f%s\n", d.Name, 100*d.Mean, 100*d.Low, 100*d.High, mark)
		}
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}
