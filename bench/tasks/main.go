// Tasks has a real model work on tasks whose success is checked mechanically, with memkernel
// and without, and tells how many it solved and what was billed:
//
//	ANTHROPIC_API_KEY=… go run -C bench ./tasks --model claude-haiku-4-5 --budget 2
//	OPENAI_API_KEY=… go run -C bench ./tasks --api openai --model gpt-5.4-mini --budget 2
//
// What is done stands in the file of --out. The same command goes on from there, also after
// it was killed or its budget was spent.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/bench/draw"
	"github.com/memkernel/memkernel/bench/solve"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "tasks: error:", err)
		os.Exit(1)
	}
}

// apis are the APIs that a model can be behind.
var apis = map[string]struct {
	format     transcript.Format
	url, key   string
	authorize  func(h http.Header, key string)
	parseReply func(body []byte) (*solve.Answer, json.RawMessage, error)
}{
	"anthropic": {transcript.FormatAnthropic, "https://api.anthropic.com/v1/messages", "ANTHROPIC_API_KEY", func(h http.Header, key string) {
		h.Set("X-Api-Key", key)
		h.Set("Anthropic-Version", "2023-06-01")
	}, readAnthropic},
	"openai": {transcript.FormatOpenAI, "https://api.openai.com/v1/chat/completions", "OPENAI_API_KEY", func(h http.Header, key string) {
		h.Set("Authorization", "Bearer "+key)
	}, readOpenAI},
}

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	f := flag.NewFlagSet("tasks", flag.ContinueOnError)
	f.SetOutput(out)
	name := f.String("api", "anthropic", "anthropic or openai: what the endpoint speaks")
	url := f.String("url", "", "the endpoint, if not the provider's own")
	model := f.String("model", "claude-haiku-4-5", "the model's id")
	window := f.Int("window", 64_000, "context window in tokens: tasks are as long as it takes to fill it more than once")
	variants := f.Int("variants", 1, "tasks of each kind in each of the four languages")
	kinds := f.String("task", strings.Join(solve.Kinds(), ","), "kinds of tasks")
	policies := f.String("policy", replay.Memkernel+","+replay.AppendLate, "policies to compare, as in memkernel replay")
	budget := f.Float64("budget", 0, "dollars after which nothing more is asked; must be given")
	file := f.String("out", "tasks.jsonl", "file of what is done, from which a run goes on")
	if err := f.Parse(args); err != nil {
		return err
	}
	api, known := apis[*name]
	m, priced := cachelayout.DefaultBook().Lookup(*model, now())
	switch {
	case !known:
		return fmt.Errorf("--api %s: give anthropic or openai", *name)
	case f.NArg() > 0:
		return fmt.Errorf("%q: there are no arguments, only flags", f.Arg(0))
	case *budget <= 0:
		return errors.New("--budget is missing: say how many dollars may be spent")
	case *window < 32_000 || *variants < 1:
		return errors.New("give --window of at least 32000 and --variants of at least 1")
	case !priced || !m.Priced():
		return fmt.Errorf("--model %s: its price is not known, so that no budget can be held; memkernel prices lists those that are", *model)
	case env(api.key) == "":
		return fmt.Errorf("set %s to your key", api.key)
	}
	if *url == "" {
		*url = api.url
	}
	client := &client{url: *url, model: m, authorize: func(h http.Header) { api.authorize(h, env(api.key)) }, read: api.parseReply}
	tasks := slices.DeleteFunc(solve.Tasks(*window, *variants), func(t *solve.Task) bool { return !slices.Contains(strings.Split(*kinds, ","), t.Kind) })
	if len(tasks) == 0 {
		return fmt.Errorf("--task %s: give some of %s", *kinds, strings.Join(solve.Kinds(), ", "))
	}
	return work(ctx, solve.Options{PriceModel: *model, Model: client, API: api.format}, client, plan{
		tasks: tasks, policies: strings.Split(*policies, ","), budget: *budget, file: *file}, out)
}

// plan is what is to be done, and with how much.
type plan struct {
	tasks    []*solve.Task
	policies []string
	budget   float64
	file     string
}

// row is a line of the file of what is done.
type row struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	solve.Outcome
}

// errSpent ends a run whose budget is spent: the task at hand does not count.
var errSpent = errors.New("the budget is spent")

// work does what is not done yet, a task under each policy in turn, so that a run that ends
// early has the same tasks of all.
func work(ctx context.Context, o solve.Options, c *client, p plan, out io.Writer) error {
	done, err := read(p.file, o.PriceModel)
	if err != nil {
		return err
	}
	r := &solve.Report{}
	ended := ""
tasks:
	for _, t := range p.tasks {
		for _, policy := range p.policies {
			got, was := done[t.Name()+" "+policy]
			if !was {
				c.left = p.budget - total(r)
				if got, err = solve.Run(ctx, t, policy, o); errors.Is(err, errSpent) {
					ended = fmt.Sprintf("$%.2f of $%.2f are spent: give more to go on\n", p.budget-c.left, p.budget)
					break tasks
				}
				if err != nil {
					return fmt.Errorf("%s under %s: %w; what is done stands in %s", t.Name(), policy, err, p.file)
				}
				if err := write(p.file, row{t.Name(), o.PriceModel, got}); err != nil {
					return err
				}
			}
			got.Task = t
			r.Add(got)
		}
	}
	if err := draw.Tasks(out, r, display.Style{}); err != nil {
		return err
	}
	_, err = io.WriteString(out, ended)
	return err
}

func total(r *solve.Report) (usd float64) {
	for i := range r.Rows {
		usd += r.Rows[i].CostUSD
	}
	return usd
}

// read reads what is done with a model. A last line that a kill cut short is not done.
func read(file, model string) (map[string]solve.Outcome, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	done := map[string]solve.Outcome{}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, l := range lines {
		var r row
		if err := json.Unmarshal(l, &r); err != nil || r.Name == "" {
			if i == len(lines)-1 {
				break
			}
			return nil, fmt.Errorf("%s:%d is no line of this command's: give --out another file", file, i+1)
		}
		if r.Model == model {
			done[r.Name+" "+r.Policy] = r.Outcome
		}
	}
	return done, nil
}

// write appends a line, in the place of one that was cut short.
func write(file string, r row) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text = append(text[:bytes.LastIndexByte(text, '\n')+1], append(line, '\n')...)
	return atomicfile.WriteFile(filepath.Clean(file), text, 0o600)
}
