package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/retrieval"
)

// peer is a program to compare with.
type peer interface {
	// name is its name and version.
	name() string
	// open indexes the Markdown files of a folder.
	open(ctx context.Context, dir string) (searcher, error)
}

// searcher answers questions on one folder.
type searcher interface {
	ask(ctx context.Context, question string) ([]hit, error)
	close() error
}

// hit is a range of lines, inclusive.
type hit struct {
	path     string
	from, to int
}

// asked is how many hits are requested from a peer.
const asked = 50

// limit is how long indexing one folder may take.
const limit = 15 * time.Minute

type flags struct {
	dir, sets, only   string
	questions, chunks int
}

func main() {
	var f flags
	flag.StringVar(&f.dir, "dir", "", "folder with node_modules and bin/memkernel")
	flag.StringVar(&f.sets, "set", "", "question sets, separated by commas")
	flag.StringVar(&f.only, "only", "", "peers, separated by commas")
	flag.IntVar(&f.questions, "questions", 20, "questions of each set, evenly spread; 0 for all")
	flag.IntVar(&f.chunks, "chunks", 10000, "size of the corpus for times, in chunks; 0 for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	counter, err := budget.For(budget.O200k)
	if err != nil {
		return err
	}
	sets, err := read(strings.Split(f.sets, ","), f.questions)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "memkernel-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	big := ""
	if f.chunks > 0 {
		big = filepath.Join(tmp, "corpus")
		if err := shuffled(big, sets, f.chunks); err != nil {
			return err
		}
	}
	t := &table{}
	for _, p := range peers(f.dir, tmp) {
		if f.only != "" && !slices.Contains(strings.Split(f.only, ","), strings.Fields(p.name())[0]) {
			continue
		}
		r := row{name: p.name()}
		r.err = measure(ctx, p, sets, big, func(text string) int { return counter.Count(text).Tokens }, &r)
		t.rows = append(t.rows, r)
		fmt.Fprintln(os.Stderr, p.name(), "done", r.err)
	}
	t.print(os.Stdout, sets, f)
	return ctx.Err()
}

// measure fills a row.
func measure(ctx context.Context, p peer, sets []set, big string, count func(string) int, r *row) error {
	var times []time.Duration
	for _, s := range sets {
		began := time.Now()
		x, err := opened(ctx, p, s.Dir)
		if err != nil {
			return err
		}
		r.index += time.Since(began).Seconds() / float64(len(sets))
		warm(ctx, x, s)
		for _, q := range s.Questions {
			began := time.Now()
			hits, err := x.ask(ctx, q.Text)
			if err != nil {
				x.close()
				return fmt.Errorf("%s: %w", q.ID, err)
			}
			times = append(times, time.Since(began))
			r.add(relevance.Judge(q, s.lines(hits), count), hits)
		}
		if err := x.close(); err != nil {
			return err
		}
	}
	r.p50 = median(times)
	if big == "" {
		return nil
	}
	x, err := opened(ctx, p, big)
	if err != nil {
		r.note = "large corpus: " + err.Error()
		return nil
	}
	defer x.close()
	times = times[:0]
	warm(ctx, x, sets[0])
	for _, s := range sets {
		for _, q := range s.Questions {
			began := time.Now()
			if _, err := x.ask(ctx, q.Text); err != nil {
				r.note = "large corpus: " + err.Error()
				return nil
			}
			times = append(times, time.Since(began))
		}
	}
	r.large = median(times)
	return nil
}

// warm runs two questions that are not counted, so that what is read once is
// read then.
func warm(ctx context.Context, x searcher, s set) {
	for _, q := range s.Questions[:min(2, len(s.Questions))] {
		x.ask(ctx, q.Text) // what goes wrong will be seen when it counts
	}
}

func opened(ctx context.Context, p peer, dir string) (searcher, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	x, err := p.open(ctx, dir)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("indexing took more than %v", limit)
	}
	return x, err
}

func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	ds = slices.Clone(ds)
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// lines makes hits with the text of their lines.
func (s *set) lines(hits []hit) []retrieval.Hit {
	var out []retrieval.Hit
	for _, h := range hits {
		all := s.files[h.path]
		from, to := max(h.from, 1), min(h.to, len(all))
		if from > to {
			continue
		}
		out = append(out, retrieval.Hit{Path: h.path, StartLine: from, EndLine: to, Text: strings.Join(all[from-1:to], "\n")})
	}
	return out
}
