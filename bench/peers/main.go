// Command peers asks memkernel and other search engines the same questions about the same files,
// and prints one table. All engines run in this process.
//
//	peers -set DIR,DIR... [-questions 20] [-chunks 10000]
//
//	memkernel  by words alone
//	fts5       an FTS5 table of the lines and one of the paragraphs, porter and
//	           unicode61, any word that is no function word, ORDER BY bm25
//	bleve      an index of the lines, standard analyser, BM25, any word
//
// The columns:
//
//	R@10   share of a question's evidence lines that the first ten hits cover
//	R 1k   the same of as many first hits as fit into 1,000 tokens with their
//	       whole lines: hits of several lines cover more, and cost more
//	empty  share of questions without any hit
//	lines  mean length of a hit
//	index  seconds to index one set, mean
//	p50    ms for a question; on the sets, and on files of so many chunks made
//	       of all sets' lines in a fixed shuffle
//
// It starts no other program, and writes only to a temporary folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/retrieval"
)

// peer is an engine to compare with.
type peer struct {
	name string
	// open indexes the Markdown files of a folder. files has the lines of these files, by path.
	open func(ctx context.Context, dir string, files map[string][]string) (searcher, error)
}

var peers = []peer{{"memkernel", openKernel}, {"fts5 lines (modernc)", openFTS5(relevance.RowsLine)}, {"fts5 paragraphs", openFTS5(relevance.RowsParagraph)}, {"bleve v2.6.1", openBleve}}

// searcher answers questions about one folder.
type searcher interface {
	ask(ctx context.Context, question string) ([]hit, error)
	Close() error
}

// hit is a range of lines, inclusive.
type hit struct {
	path     string
	from, to int
}

// asked is how many hits are requested from a peer.
const asked = 50

func main() {
	sets := flag.String("set", "", "question sets, separated by commas")
	questions := flag.Int("questions", 20, "questions of each set, evenly spread; 0 for all")
	chunks := flag.Int("chunks", 10000, "size of the corpus for times, in chunks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, strings.Split(*sets, ","), *questions, *chunks); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// set is a set of questions with the lines of its files.
type set struct {
	relevance.Set
	files map[string][]string
}

func run(ctx context.Context, dirs []string, questions, chunks int) error {
	counter, err := budget.For(budget.O200k)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "memkernel-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var sets []set
	n := 0
	for i, d := range dirs {
		s, err := relevance.Read(d, filepath.Join(d, "qa.jsonl"))
		if err != nil {
			return err
		}
		if all := s.Questions; questions > 0 && questions < len(all) {
			s.Questions = nil
			for i := range questions {
				s.Questions = append(s.Questions, all[i*len(all)/questions])
			}
		}
		if s.Dir, err = relevance.Follow(d, filepath.Join(tmp, fmt.Sprint(i))); err != nil {
			return err
		}
		files, err := lines(s.Dir)
		if err != nil {
			return err
		}
		n += len(s.Questions)
		sets = append(sets, set{s, files})
	}
	large := set{Set: relevance.Set{Dir: filepath.Join(tmp, "corpus")}}
	if err := shuffled(large.Dir, sets, chunks); err != nil {
		return err
	}
	if large.files, err = lines(large.Dir); err != nil {
		return err
	}
	for _, s := range sets {
		large.Questions = append(large.Questions, s.Questions...)
	}
	fmt.Printf("%d questions of %d sets\n\n", n, len(sets))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "peer\tR@10\tR 1k\tempty\tlines\tindex s\tp50 ms\tp50 ms at %d chunks\t\n", chunks)
	for _, p := range peers {
		var r row
		for _, s := range sets {
			if err := p.measure(ctx, s, func(text string) int { return counter.Count(text).Tokens }, &r); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		var big row
		if err := p.measure(ctx, large, func(string) int { return 0 }, &big); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		q := float64(n)
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.0f %%\t%.1f\t%.1f\t%.1f\t%.1f\t\n", p.name, 100*r.r10/q, 100*r.r1k/q, 100*float64(r.empty)/q,
			float64(r.lines)/float64(max(r.hits, 1)), r.index/float64(len(sets)), median(r.times), median(big.times))
	}
	return w.Flush()
}

// row is the sum of a peer's answers.
type row struct {
	r10, r1k, index    float64
	empty, hits, lines int
	times              []time.Duration
}

// measure adds the answers to a set's questions. Two questions are asked before the time is
// measured.
func (p peer) measure(ctx context.Context, s set, count func(string) int, r *row) error {
	began := time.Now()
	x, err := p.open(ctx, s.Dir, s.files)
	if err != nil {
		return err
	}
	defer x.Close()
	r.index += time.Since(began).Seconds()
	for _, q := range s.Questions[:min(2, len(s.Questions))] {
		x.ask(ctx, q.Text) // an error occurs again in the measured run
	}
	for _, q := range s.Questions {
		began := time.Now()
		hits, err := x.ask(ctx, q.Text)
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		r.times = append(r.times, time.Since(began))
		m := relevance.Judge(q, s.texts(hits), count)
		r.r10, r.r1k = r.r10+m.RecallAt10, r.r1k+m.WithinTokens["1000"]
		if len(hits) == 0 {
			r.empty++
		}
		for _, h := range hits[:min(10, len(hits))] {
			r.hits, r.lines = r.hits+1, r.lines+h.to-h.from+1
		}
	}
	return nil
}

// median returns the median of ds in milliseconds.
func median(ds []time.Duration) float64 {
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return float64(ds[len(ds)/2].Microseconds()) / 1000
}

// texts returns hits with the texts of their lines.
func (s *set) texts(hits []hit) []retrieval.Hit {
	var out []retrieval.Hit
	for _, h := range hits {
		all := s.files[h.path]
		if from, to := max(h.from, 1), min(h.to, len(all)); from <= to {
			out = append(out, retrieval.Hit{Path: h.path, StartLine: from, EndLine: to, Text: strings.Join(all[from-1:to], "\n")})
		}
	}
	return out
}

// lines reads the Markdown files of a folder, by path.
func lines(dir string) (map[string][]string, error) {
	out := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = strings.Split(strings.TrimRight(string(b), "\n"), "\n")
		return err
	})
	return out, err
}

// The number of chunks in a file of the large corpus, and the approximate number of bytes in a
// chunk.
const (
	fileChunks = 10
	chunkBytes = 1600
)

// shuffled writes files with a number of chunks. The files have the lines of all sets in random
// order, which is the same each time.
func shuffled(dir string, sets []set, chunks int) error {
	var all []string
	for _, s := range sets {
		for _, path := range slices.Sorted(maps.Keys(s.files)) {
			for _, l := range s.files[path] {
				if l != "" && !strings.HasPrefix(l, "#") {
					all = append(all, strings.TrimPrefix(l, "- "))
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o755); err != nil {
		return err
	}
	for n := range max(1, chunks/fileChunks) {
		var b strings.Builder
		fmt.Fprintf(&b, "# Notes %d\n", n)
		for b.Len() < fileChunks*chunkBytes {
			fmt.Fprintf(&b, "- %s\n", all[r.IntN(len(all))])
		}
		if err := os.WriteFile(filepath.Join(dir, "memory", fmt.Sprintf("notes-%04d.md", n)), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
