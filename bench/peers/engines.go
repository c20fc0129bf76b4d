package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	_ "modernc.org/sqlite"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// now is the time of the questions to memkernel. A later day would age all notes alike.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type kernelSearch struct {
	*kernel.Kernel
	state string
}

func openKernel(ctx context.Context, dir string, _ map[string][]string) (searcher, error) {
	state, err := os.MkdirTemp("", "memkernel-peers-")
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: state})
	if err != nil {
		return nil, err
	}
	_, err = k.Reindex(ctx, nil)
	return kernelSearch{k, state}, err
}

func (k kernelSearch) ask(ctx context.Context, question string) ([]hit, error) {
	r, err := k.Search(ctx, api.SearchRequest{Query: question, Private: true, MaxResults: asked, Lines: true, Now: now}) // lines, because a peer has no places
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, h := range r.Hits {
		out = append(out, hit{h.Path, h.StartLine, h.EndLine})
	}
	return out, r.Err
}

func (k kernelSearch) Close() error { return errors.Join(k.Kernel.Close(), os.RemoveAll(k.state)) }

type table5 struct{ *relevance.Plain }

// openFTS5 returns what opens a table with rows of one kind.
func openFTS5(rows string) func(context.Context, string, map[string][]string) (searcher, error) {
	return func(ctx context.Context, _ string, files map[string][]string) (searcher, error) {
		p, err := relevance.OpenPlain(ctx, files, rows)
		return table5{p}, err
	}
}

func (t table5) ask(ctx context.Context, question string) (out []hit, err error) {
	hits, err := t.Find(ctx, question, asked)
	for _, h := range hits {
		out = append(out, hit{h.Path, h.StartLine, h.EndLine})
	}
	return out, err
}

type bleveSearch struct{ bleve.Index }

func openBleve(_ context.Context, _ string, files map[string][]string) (searcher, error) {
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
		if b.Size() > 2000 {
			if err := ix.Batch(b); err != nil {
				return nil, err
			}
			b.Reset()
		}
	}
	return bleveSearch{ix}, ix.Batch(b)
}

func (s bleveSearch) ask(ctx context.Context, question string) ([]hit, error) {
	r, err := s.SearchInContext(ctx, bleve.NewSearchRequestOptions(bleve.NewMatchQuery(question), asked, 0, false))
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, d := range r.Hits {
		path, line, _ := strings.Cut(d.ID, "#")
		n, _ := strconv.Atoi(line) // the engine wrote line as a number
		out = append(out, hit{path, n, n})
	}
	return out, nil
}
