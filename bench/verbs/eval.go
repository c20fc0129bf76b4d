package verbs

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/draw"
	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/setup"
	"github.com/memkernel/memkernel/retrieval"
)

// What eval searches by.
const (
	modeWords   = "words"
	modeVectors = "vectors"
	modeHybrid  = "hybrid"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	sets      []string
	questions string
	with      []string
	without   []string
	ablate    bool
	leaveOut  bool
	headings  bool
	compare   []string
	compared  bool
	now       cli.TimeValue
	ranks     bool
	mode      cli.Choice
	vectors   cli.Choice
	known     bool
	junk      bool
	sealed    bool
	seed      uint64
	n         int
}

// Eval is the verb eval.
func Eval(a *cli.App) *cobra.Command {
	e := &evalFlags{mode: cli.Choice{Value: modeWords, Of: []string{modeWords, modeVectors, modeHybrid}}, vectors: cli.Choice{Of: relevance.VectorKinds}}
	cmd := &cobra.Command{
		Long: `eval indexes a folder of Markdown files in a temporary place, puts the questions
of its qa.jsonl to it, and says how much of the evidence the hits cover: among the
first 1, 5 and 10, and within 500, 1,000 and 2,000 tokens. Beside that stands what a
bare FTS5 table of the same lines finds, whose hits are single lines. A row of
qa.jsonl is

  {"id","category","question","evidence":[{"file","line"}]}

A hit covers a line if it is of that file and its lines contain it; with
"end_line", any line from one to the other. Several sets are judged together.
Ages are counted to the day after the newest note, or to --now.

--mode says what is searched by: words (the default), vectors or hybrid. Vectors come
from the provider that the configuration names, or are made of what is known of the
set: --vectors right puts a question near the chunks that answer it, adversarial near
others, noise and constant know nothing.

--compare judges the same questions once more with other settings, and says what
differs, question by question. Settings are written as name=value: unit (passage,
chunk, or place: what a search shows), hits, how many, decay, mmr, lambda, floor, pool, and the weights of what a passage's
score is made of, such as session=0 or before=0. --without takes signals out.

--ablate takes each signal out once and says what is lost without it.
--leave-one-out tells whether the weights fit more than the sets they were chosen
on: it chooses them anew on all sets but one and judges them on that one, which
takes minutes.

These need no qa.jsonl. --headings: each heading of a workspace asks for its own
section. --known-items: what stands in the workspace is looked for as somebody would
type it: phrases of four words, single words, identifiers, headings, dates and words
with a letter wrong, --n of each, chosen by --seed. --junk plans turns that have
nothing to do with memory ("thanks!") over the workspace, and says how often
something was recalled for them, and beside that the same of questions that its notes
answer; the half of the prompts that tuning should not see takes --sealed.`,
		Example: `  mkbench eval --set shared/questions
  mkbench eval --set a --set b --compare unit=chunk
  mkbench eval --set a --compare before=0,behind=0,away=0 --json
  mkbench eval --set a --with hits=10 --compare unit=place
  mkbench eval --set a --without feedback
  mkbench eval --set a,b,c --ablate
  mkbench eval --set a --mode hybrid --vectors adversarial
  mkbench eval --set ~/notes --headings
  mkbench eval --known-items --workspace ~/notes --n 100
  mkbench eval --junk --workspace ~/notes`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.compared = cmd.Flags().Changed("compare")
			switch {
			case e.known && e.junk:
				return fail.Usagef("--known-items and --junk are two judgements: run eval twice")
			case e.known:
				return e.knownItems(cmd.Context(), a)
			case e.junk:
				return e.judgeJunk(cmd.Context(), a)
			}
			return runEval(cmd.Context(), a, e)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&e.sets, "set", nil, "`folders` with Markdown files and questions on them")
	f.StringVar(&e.questions, "questions", "", "`file` with the questions (default qa.jsonl in the folder)")
	f.StringSliceVar(&e.with, "with", nil, "judge with these `settings`, as name=value")
	f.StringSliceVar(&e.without, "without", nil, "judge without these `signals`, by the names of their weights")
	f.StringSliceVar(&e.compare, "compare", nil, "compare with these `settings` beside those of --with")
	f.Var(&e.mode, "mode", "what is searched by (default words)")
	f.Var(&e.vectors, "vectors", "make vectors of what is known of the set, instead of asking the provider")
	f.BoolVar(&e.known, "known-items", false, "look for what stands in --workspace, as somebody would type it")
	f.BoolVar(&e.junk, "junk", false, "plan turns that have nothing to do with memory over --workspace")
	f.BoolVar(&e.sealed, "sealed", false, "with --junk: the prompts that are kept from tuning, and no others")
	f.Uint64Var(&e.seed, "seed", 1, "chooses the known items")
	f.IntVar(&e.n, "n", 100, "how many known items of each kind")
	f.BoolVar(&e.ranks, "ranks", false, "print the rank of each line of evidence, and no figures")
	f.BoolVar(&e.ablate, "ablate", false, "take each signal out once, and print what differs")
	f.BoolVar(&e.leaveOut, "leave-one-out", false, "choose weights on all sets but one, judge them on it")
	f.BoolVar(&e.headings, "headings", false, "ask each heading for its own section, instead of qa.jsonl")
	f.Var(&e.now, "now", "the moment that ages are counted to, in RFC 3339 (default the day after the newest note)")
	return cmd
}

// evalJSON is the document of eval.
type evalJSON struct {
	Schema string `json:"schema"`
	draw.Evaluation
}

func runEval(ctx context.Context, a *cli.App, e *evalFlags) error {
	if err := e.check(); err != nil {
		return err
	}
	first, second := newEvalRun(a, e.now.Time), newEvalRun(a, e.now.Time)
	first.mode, second.mode = e.mode.Value, e.mode.Value
	if err := first.set(e.with, e.without); err != nil {
		return err
	}
	if err := second.set(append(e.with[:len(e.with):len(e.with)], e.compare...), e.without); err != nil {
		return err
	}
	benches, err := e.open(ctx)
	defer closeAll(benches)
	if err != nil {
		return fail.Hint(err, "a set is a folder of Markdown files with qa.jsonl; see 'mkbench eval --help'")
	}
	doc := evalJSON{Schema: "memkernel/eval/v1"}
	doc.With = document.List(append(e.with[:len(e.with):len(e.with)], first.off...))
	doc.Mode, doc.Vectors = e.mode.Value, e.vectors.Value
	var plain []relevance.Answer
	for i, b := range benches {
		a.Step("asking", i, len(benches), "set")
		doc.Sets = append(doc.Sets, b.Name)
		p, err := e.embed(ctx, a, b)
		if err != nil {
			return err
		}
		first.embedder, second.embedder = p, p
		if err := errors.Join(first.ask(ctx, b), e.askAgain(ctx, second, b)); err != nil {
			return err
		}
		answers, err := b.AskPlain(ctx)
		if err != nil {
			return err
		}
		plain = append(plain, answers...)
	}
	a.ProgressDone()
	a.Work("tuning")
	err = e.tune(ctx, &doc, benches, first)
	a.ProgressDone()
	if err != nil {
		return err
	}
	doc.Report = relevance.Sum(first.answers)
	doc.Plain = draw.Compared{With: []string{}, Report: relevance.Sum(plain), Differences: relevance.Compare(plain, first.answers)}
	if e.ranks {
		for _, x := range first.answers {
			doc.Ranks = append(doc.Ranks, draw.Ranks{ID: x.ID, Ranks: x.Ranks})
		}
	}
	if e.compared {
		doc.Compare = &draw.Compared{With: document.List(e.compare), Report: relevance.Sum(second.answers), Differences: relevance.Compare(first.answers, second.answers)}
	}
	if a.JSON {
		return a.WriteJSON(doc)
	}
	return draw.Eval(a.Out, &doc.Evaluation, a.Style())
}

// check refuses what makes no sense together.
func (e *evalFlags) check() error {
	switch {
	case len(e.sets) == 0:
		return fail.Usagef("eval needs a folder of questions: --set DIR")
	case e.questions != "" && len(e.sets) > 1:
		return fail.Usagef("--questions names the file of one set, not of %d", len(e.sets))
	case e.questions != "" && e.headings:
		return fail.Usagef("--headings makes the questions: leave out --questions")
	case e.vectors.Value != "" && e.mode.Value == modeWords:
		return fail.Usagef("--vectors %s: add --mode vectors or --mode hybrid", e.vectors.Value)
	case e.mode.Value != modeWords && (e.ablate || e.leaveOut):
		return fail.Usagef("--ablate and --leave-one-out search by words: leave out --mode")
	case e.leaveOut && len(e.sets) < 2:
		return fail.Usagef("--leave-one-out needs two sets at least: --set DIR,DIR")
	}
	return nil
}

// open reads and indexes the sets. Those that were opened come back with an error, too.
func (e *evalFlags) open(ctx context.Context) ([]*relevance.Bench, error) {
	var out []*relevance.Bench
	for _, dir := range e.sets {
		set, err := e.read(ctx, dir)
		if err != nil {
			return out, err
		}
		b, err := relevance.Open(ctx, set)
		if err != nil {
			return out, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (e *evalFlags) read(ctx context.Context, dir string) (relevance.Set, error) {
	if e.headings {
		return relevance.Headings(ctx, dir)
	}
	return relevance.Read(dir, cmp.Or(e.questions, filepath.Join(dir, "qa.jsonl")))
}

// embed fills a set's index with the vectors that the mode needs, and returns what
// makes them, nil for words.
func (e *evalFlags) embed(ctx context.Context, a *cli.App, b *relevance.Bench) (p embed.Provider, err error) {
	if e.mode.Value == modeWords {
		return nil, nil
	}
	if e.vectors.Value != "" {
		p, err = b.Vectors(e.vectors.Value)
	} else if p, err = a.Embedder(); err == nil && p == nil {
		err = fail.Usagef("--mode %s needs vectors: name an embedding.provider in the configuration, or say --vectors right", e.mode.Value)
	}
	if err != nil {
		return nil, err
	}
	return p, b.Embed(ctx, p)
}

func closeAll(benches []*relevance.Bench) {
	for _, b := range benches {
		b.Close()
	}
}

func (e *evalFlags) askAgain(ctx context.Context, second *evalRun, b *relevance.Bench) error {
	if !e.compared {
		return nil
	}
	return second.ask(ctx, b)
}

// tune does what asks the questions many times over.
func (e *evalFlags) tune(ctx context.Context, doc *evalJSON, benches []*relevance.Bench, run *evalRun) (err error) {
	if !e.ablate && !e.leaveOut {
		return nil
	}
	for _, b := range benches {
		run.ofHits(b)
	}
	t := relevance.NewTuner(benches, run.opts, run.now)
	if e.ablate {
		if doc.Ablation, err = t.Ablate(ctx, run.opts.Signals); err != nil {
			return err
		}
	}
	if e.leaveOut {
		doc.LeaveOneOut, err = t.LeaveOneOut(ctx, run.opts.Signals)
	}
	return err
}

// evalRun is one pass over the questions under some settings.
type evalRun struct {
	opts retrieval.Options
	// chunks, places and hits are what a hit is, and how many there are.
	chunks  bool
	places  bool
	hits    int
	now     time.Time
	answers []relevance.Answer
	// mode is what is searched by, embedder what makes the vectors of the set that is asked.
	mode     string
	embedder embed.Provider
	// off are the settings that took signals out.
	off []string
}

func newEvalRun(a *cli.App, now time.Time) *evalRun {
	o := setup.Ranking(&a.Config.Retrieval)
	o.Signals = retrieval.DefaultSignals()
	return &evalRun{opts: o, now: now}
}

// ofHits sets what a hit is.
func (r *evalRun) ofHits(b *relevance.Bench) { b.Chunks, b.Places, b.Hits = r.chunks, r.places, r.hits }

func (r *evalRun) ask(ctx context.Context, b *relevance.Bench) error {
	now := r.now
	if now.IsZero() {
		var err error
		if now, err = b.Moment(ctx); err != nil {
			return err
		}
	}
	r.ofHits(b)
	opts := r.opts
	if r.embedder != nil {
		opts.Embedder = r.embedder
	}
	if r.mode == modeVectors {
		opts.VectorWeight, opts.KeywordWeight = 1, 0
	}
	answers, err := b.Ask(ctx, &opts, now)
	r.answers = append(r.answers, answers...)
	return err
}
