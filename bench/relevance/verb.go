package relevance

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/retrieval"
)

// The modes of search in eval.
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
	ablate    bool
	mode      cli.Choice
	vectors   cli.Choice
	known     bool
	seed      uint64
	n         int
}

// Verb is the verb eval of mkbench.
func Verb(a *cli.App) *cobra.Command {
	e := &evalFlags{mode: cli.Choice{Value: modeWords, Of: []string{modeWords, modeVectors, modeHybrid}}, vectors: cli.Choice{Of: vectorKinds}}
	cmd := &cobra.Command{
		Long: `eval indexes a folder of Markdown files in a temporary place, puts the questions
of its qa.jsonl to it, and says how much of the evidence the hits cover: among the
first 1, 5 and 10, and within 500, 1,000 and 2,000 tokens. Next to it are the figures
of an FTS5 table without function words; its rows are lines, paragraphs or sections,
whichever find most. Links in a folder are followed. A row of qa.jsonl is

  {"id","category","question","evidence":[{"file","line"}]}

A hit covers a line if it is of that file and its lines contain it; with
"end_line", any line from one to the other. Several sets are judged together.
Ages are counted to the day after the newest note.

--mode chooses words (the default), vectors or hybrid. Vectors come
from the provider that the configuration names, or are made of what is known of the
set: --vectors right puts a question near the chunks that answer it, adversarial near
others, noise and constant know nothing.

--with changes settings, written as name=value: unit (passage, chunk, or place: what a
search shows), and the weights of a passage's score, such as session=0 or before=0.

--ablate takes each signal out once and prints the loss.

--known-items needs no qa.jsonl: it looks for phrases of four words, single words,
identifiers, headings, dates, words with a letter wrong, names of notes and four words
of one line of --workspace, --n of each, chosen by --seed.`,
		Example: `  mkbench eval --set shared/questions
  mkbench eval --set a --with unit=chunk --json
  mkbench eval --set a --with feedback=0
  mkbench eval --set a,b,c --ablate
  mkbench eval --set a --mode hybrid --vectors adversarial
  mkbench eval --known-items --workspace ~/notes --n 100`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if e.known {
				return e.knownItems(cmd.Context(), a)
			}
			return e.run(cmd.Context(), a)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&e.sets, "set", nil, "`folders` with Markdown files and questions on them")
	f.StringVar(&e.questions, "questions", "", "`file` with the questions (default qa.jsonl in the folder)")
	f.StringSliceVar(&e.with, "with", nil, "judge with these `settings`, as name=value")
	f.Var(&e.mode, "mode", "what is searched by (default words)")
	f.Var(&e.vectors, "vectors", "make vectors of what is known of the set, instead of asking the provider")
	f.BoolVar(&e.known, "known-items", false, "look for what --workspace holds, as somebody would type it")
	f.Uint64Var(&e.seed, "seed", 1, "chooses the known items")
	f.IntVar(&e.n, "n", 100, "how many known items of each kind")
	f.BoolVar(&e.ablate, "ablate", false, "take each signal out once, and print what differs")
	return cmd
}

// evaluation is the document of eval.
type evaluation struct {
	Schema string   `json:"schema"`
	Sets   []string `json:"sets"`
	With   []string `json:"with"`
	// Mode is the mode of the search. Vectors is the kind of made vectors. It is "" if a provider
	// makes the vectors.
	Mode    string `json:"mode"`
	Vectors string `json:"vectors,omitempty"`
	report
	Plain    plainly    `json:"plain"`
	Ablation []ablation `json:"ablation,omitempty"`
}

// plainly is the result of an FTS5 table for the same questions. Differences has how much higher
// the figures of the search are.
type plainly struct {
	report
	// Rows names the kind of the table's rows, for each of Sets.
	Rows        []string     `json:"rows"`
	Differences []difference `json:"differences"`
}

// judging has the settings of a judged search.
type judging struct {
	opts           retrieval.Options
	chunks, places bool
	written        []string // the settings in the form name=value
}

func (e *evalFlags) settings(a *cli.App) (s judging, err error) {
	s = judging{opts: cli.Ranking(a.Config), written: []string{}}
	s.opts.Signals = retrieval.DefaultSignals()
	if e.mode.Value == modeVectors {
		s.opts.VectorWeight, s.opts.KeywordWeight = 1, 0
	}
	for _, w := range e.with {
		name, value, ok := strings.Cut(strings.ToLower(strings.ReplaceAll(w, " ", "")), "=")
		switch {
		case !ok:
			return s, cli.Usagef("setting %q: write name=value, as in session=0", w)
		case name == "unit" && (value == "passage" || value == "chunk" || value == "place"):
			s.chunks, s.places = value == "chunk", value == "place"
		case name == "unit":
			return s, cli.Usagef("setting %q: the unit is passage, chunk or place", w)
		default:
			v, bad := strconv.ParseFloat(value, 64)
			if bad != nil || v < 0 || v > 1e6 {
				return s, cli.Usagef("setting %q: %q is no number from 0 on", w, value)
			}
			k, err := knobNamed(name)
			if err != nil {
				return s, cli.Usagef("setting %q: there is no such setting; take unit or a weight: %s", w, err)
			}
			*k.in(&s.opts.Signals) = v
		}
		s.written = append(s.written, w)
	}
	return s, nil
}

// check returns an error for flags that contradict each other.
func (e *evalFlags) check() error {
	switch {
	case len(e.sets) == 0:
		return cli.Usagef("eval needs a folder of questions: --set DIR")
	case e.questions != "" && len(e.sets) > 1:
		return cli.Usagef("--questions names the file of one set, not of %d", len(e.sets))
	case e.vectors.Value != "" && e.mode.Value == modeWords:
		return cli.Usagef("--vectors %s: add --mode vectors or --mode hybrid", e.vectors.Value)
	case e.mode.Value != modeWords && e.ablate:
		return cli.Usagef("--ablate searches by words: leave out --mode")
	}
	return nil
}

func (e *evalFlags) run(ctx context.Context, a *cli.App) error {
	if err := e.check(); err != nil {
		return err
	}
	s, err := e.settings(a)
	if err != nil {
		return err
	}
	doc := evaluation{Schema: "memkernel/eval/v1", With: s.written, Mode: e.mode.Value, Vectors: e.vectors.Value}
	var benches []*bench
	var ours, plain []Answer
	var rows []string
	defer a.ProgressDone()
	for i, dir := range e.sets {
		a.Step("asking", i, len(e.sets), "set")
		b, err := e.open(ctx, dir)
		if err != nil {
			return cli.Hint(err, "a set is a folder of Markdown files with qa.jsonl; see 'mkbench eval --help'")
		}
		defer b.Close()
		b.Chunks, b.Places = s.chunks, s.places
		benches, doc.Sets = append(benches, b), append(doc.Sets, b.Name)
		opts := s.opts
		if opts.Embedder, err = e.embed(ctx, a, b); err != nil {
			return err
		}
		answers, err := ask(ctx, b, &opts)
		if err != nil {
			return err
		}
		ours = append(ours, answers...)
		answers, of, err := b.AskPlain(ctx)
		if err != nil {
			return err
		}
		plain, rows = append(plain, answers...), append(rows, of)
	}
	if e.ablate {
		a.Work("taking signals out")
		doc.Ablation, err = ablate(s.opts.Signals, func(signals retrieval.Signals) (out []Answer, err error) {
			opts := s.opts
			opts.Signals = signals
			for _, b := range benches {
				b.Unpacked = true
				answers, err := ask(ctx, b, &opts)
				if err != nil {
					return nil, err
				}
				out = append(out, answers...)
			}
			return out, nil
		})
		if err != nil {
			return err
		}
	}
	a.ProgressDone()
	doc.report, doc.Plain = Sum(ours), plainly{Sum(plain), rows, Compare(plain, ours)}
	if a.JSON {
		return a.WriteJSON(doc)
	}
	return doc.draw(a.Out, a.Style())
}

func (e *evalFlags) open(ctx context.Context, dir string) (*bench, error) {
	set, err := Read(dir, cmp.Or(e.questions, filepath.Join(dir, "qa.jsonl")))
	if err != nil {
		return nil, err
	}
	return Open(ctx, set)
}

// ask asks the questions of a set.
func ask(ctx context.Context, b *bench, opts *retrieval.Options) ([]Answer, error) {
	now, err := b.Moment(ctx)
	if err != nil {
		return nil, err
	}
	return b.Ask(ctx, opts, now)
}

// embed fills a set's index with the vectors that the mode needs, and returns their provider. The
// provider is nil if the mode uses only words.
func (e *evalFlags) embed(ctx context.Context, a *cli.App, b *bench) (p embed.Provider, err error) {
	if e.mode.Value == modeWords {
		return nil, nil
	}
	if e.vectors.Value != "" {
		p, err = b.Vectors(e.vectors.Value)
	} else if p, err = a.Embedder(); err == nil && p == nil {
		err = cli.Usagef("--mode %s needs vectors: name an embedding.provider in the configuration, or say --vectors right", e.mode.Value)
	}
	if err != nil {
		return nil, err
	}
	return p, b.Embed(ctx, p)
}

// knownEvaluation is the document of eval --known-items.
type knownEvaluation struct {
	Schema    string           `json:"schema"`
	Workspace string           `json:"workspace"`
	Seed      uint64           `json:"seed"`
	Known     map[string]known `json:"known_items"`
	Plain     map[string]known `json:"plain"`
}

// knownItems searches for items of the workspace. The time of the search is two days after the
// newest note, so that no daily log counts as the current session's.
func (e *evalFlags) knownItems(ctx context.Context, a *cli.App) error {
	s, err := e.settings(a)
	if err != nil {
		return err
	}
	switch {
	case len(e.sets) > 0 || e.questions != "" || e.ablate || e.mode.Value != modeWords:
		return cli.Usagef("--known-items judges --workspace by words: leave out --mode and what is about sets")
	case e.n < 1:
		return cli.Usagef("--n %d: give a number from 1 on", e.n)
	}
	if err := cli.NotInRows(&a.Settings, "--known-items judges the notes of a folder"); err != nil {
		return err
	}
	dir, err := filepath.Abs(a.Workspace)
	if err != nil {
		return err
	}
	b, err := Open(ctx, Set{Name: filepath.Base(dir), Dir: dir})
	if err != nil {
		return cli.Hint(err, "name a folder with notes with --workspace")
	}
	defer b.Close()
	b.Chunks, b.Places = s.chunks, s.places
	now, err := b.Moment(ctx)
	if err != nil {
		return err
	}
	ours, err := b.AskKnown(ctx, b.KnownItems(e.seed, e.n), &s.opts, now.AddDate(0, 0, 1))
	if err != nil {
		return err
	}
	plain, err := b.ComparePlain(ctx, ours)
	if err != nil {
		return err
	}
	doc := knownEvaluation{"memkernel/eval_known/v1", b.Name, e.seed, sumKnown(ours), plain}
	if a.JSON {
		return a.WriteJSON(doc)
	}
	return doc.draw(a.Out, a.Style())
}
