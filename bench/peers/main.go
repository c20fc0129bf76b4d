// Command peers asks memkernel and other search engines the same questions about the same files,
// and prints one table.
//
//	peers -set DIR,DIR... [-questions 20]
//
//	memkernel  by words alone
//	fts5       an FTS5 table, as package relevance makes it
//	bleve      an index of the lines, standard analyser, BM25, any word
//
// The columns:
//
//	R@10   share of a question's evidence lines that the first ten hits cover
//	R 1k   the same share, for the first hits that together fit into 1,000 tokens
//	       with their whole lines
//
// All engines run in this process. The command writes only to a temporary folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/retrieval"
)

func main() {
	sets := flag.String("set", "", "question sets, separated by commas")
	questions := flag.Int("questions", 20, "questions of each set, evenly spread")
	flag.Parse()
	if err := run(context.Background(), strings.Split(*sets, ","), *questions); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dirs []string, questions int) error {
	var all [3][]relevance.Answer
	for _, d := range dirs {
		s, err := relevance.Read(d, filepath.Join(d, "qa.jsonl"))
		if err != nil {
			return err
		}
		of, n := s.Questions, min(questions, len(s.Questions))
		s.Questions = nil
		for i := range n {
			s.Questions = append(s.Questions, of[i*len(of)/n])
		}
		b, err := relevance.Open(ctx, s)
		if err != nil {
			return err
		}
		defer b.Close()
		now, err := b.Moment(ctx)
		if err != nil {
			return err
		}
		ours, err1 := b.Ask(ctx, nil, now)
		fts5, _, err2 := b.AskPlain(ctx)
		other, err3 := b.AskOther(ctx, indexBleve)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		for i, answers := range [][]relevance.Answer{ours, fts5, other} {
			all[i] = append(all[i], answers...)
		}
	}
	fmt.Printf("%d questions of %d sets\n\n%-14s %6s %6s\n", len(all[0]), len(dirs), "%", "R@10", "R 1k")
	for i, name := range []string{"memkernel", "fts5", "bleve v2.6.1"} {
		m := relevance.Sum(all[i]).Metrics
		fmt.Printf("%-14s %6.1f %6.1f\n", name, 100*m.RecallAt10, 100*m.WithinTokens["1000"])
	}
	return nil
}

// indexBleve indexes the lines of files.
func indexBleve(files map[string][]string) (func(ctx context.Context, text string, limit int) ([]retrieval.Hit, error), error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	ix, err := bleve.NewMemOnly(m)
	if err != nil {
		return nil, err
	}
	b := ix.NewBatch()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for i, l := range files[path] {
			if err := b.Index(path+"#"+strconv.Itoa(i+1), map[string]string{"body": l}); err != nil {
				return nil, err
			}
		}
	}
	return func(ctx context.Context, text string, limit int) (out []retrieval.Hit, err error) {
		r, err := ix.SearchInContext(ctx, bleve.NewSearchRequestOptions(bleve.NewMatchQuery(text), limit, 0, false))
		if err != nil {
			return nil, err
		}
		for _, d := range r.Hits {
			path, line, _ := strings.Cut(d.ID, "#")
			n, _ := strconv.Atoi(line) // the engine wrote line as a number
			out = append(out, retrieval.Hit{Path: path, StartLine: n, EndLine: n, Text: files[path][n-1]})
		}
		return out, nil
	}, ix.Batch(b)
}
