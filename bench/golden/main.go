package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/retrieval"
)

func main() {
	sealed := flag.Bool("sealed", false, "ask the half of the questions that is kept from tuning")
	sets := flag.String("set", "", "folders with Markdown files and qa.jsonl")
	flag.Parse()
	if err := table(context.Background(), *sealed, strings.FieldsFunc(*sets, func(r rune) bool { return r == ',' })); err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
}

// table prints a row for each genre and each set.
func table(ctx context.Context, sealed bool, sets []string) error {
	fmt.Printf("%-14s %5s  %22s  %22s  %-9s  %20s\n", "", "", "search", "FTS5", "", "difference")
	fmt.Printf("%-14s %5s  %s  %s  %-9s  %20s %20s %20s\n", "%", "n", head, head, "rows", "R@10", "nDCG@10", "1k t")
	for _, g := range genres {
		ours, plain, rows, err := g.judge(ctx, ".", sealed)
		if err != nil {
			return err
		}
		row(g.name, ours, plain, rows)
	}
	for _, dir := range sets {
		set, err := relevance.Read(dir, filepath.Join(dir, "qa.jsonl"))
		if err != nil {
			return err
		}
		ours, plain, rows, err := ask(ctx, set)
		if err != nil {
			return err
		}
		row(set.Name, ours, plain, rows)
	}
	fmt.Println("1k t, 2k t: recall of the first hits that fit into 1,000 and 2,000 tokens; * beyond chance")
	return nil
}

const head = " R@10  nDCG  1k t  2k t"

func row(name string, ours, plain []relevance.Answer, rows string) {
	fmt.Printf("%-14s %5d", name, len(ours))
	for _, answers := range [][]relevance.Answer{ours, plain} {
		m := relevance.Sum(answers).Metrics
		fmt.Printf("  %5.1f %5.1f %5.1f %5.1f", 100*m.RecallAt10, 100*m.NDCGAt10, 100*m.WithinTokens["1000"], 100*m.WithinTokens["2000"])
	}
	fmt.Printf("  %-9s", rows)
	diffs := relevance.Compare(plain, ours)
	for _, figure := range []string{"recall_at_10", "ndcg_at_10", "recall_within_1000"} {
		d := diffs.Of(figure)
		fmt.Printf("  %18s%s", fmt.Sprintf("%+.1f (%+.1f, %+.1f)", 100*d.Mean, 100*d.Low, 100*d.High), d.Mark())
	}
	fmt.Println()
}

// ask puts the questions of a set to search and to FTS5. rows is the kind of FTS5's rows.
func ask(ctx context.Context, set relevance.Set) (ours, plain []relevance.Answer, rows string, err error) {
	b, err := relevance.Open(ctx, set)
	if err != nil {
		return nil, nil, "", err
	}
	defer b.Close()
	b.Unpacked = true
	now, err := b.Moment(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	if ours, err = b.Ask(ctx, &retrieval.Options{}, now); err != nil {
		return nil, nil, "", err
	}
	plain, rows, err = b.AskPlain(ctx)
	return ours, plain, rows, err
}
