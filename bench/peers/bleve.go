package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
)

// bleveIndex is bleve in memory.
type bleveIndex struct{}

func (bleveIndex) name() string { return "bleve v2.6.1" }

func (bleveIndex) open(ctx context.Context, dir string) (searcher, error) {
	files, err := lines(dir)
	if err != nil {
		return nil, err
	}
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	ix, err := bleve.NewMemOnly(m)
	if err != nil {
		return nil, err
	}
	b := ix.NewBatch()
	for _, path := range sortedKeys(files) {
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

type bleveSearch struct{ ix bleve.Index }

func (s bleveSearch) ask(ctx context.Context, question string) ([]hit, error) {
	r, err := s.ix.SearchInContext(ctx, bleve.NewSearchRequestOptions(bleve.NewMatchQuery(question), asked, 0, false))
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, d := range r.Hits {
		path, line, _ := strings.Cut(d.ID, "#")
		n, _ := strconv.Atoi(line)
		out = append(out, hit{path, n, n})
	}
	return out, nil
}

func (s bleveSearch) close() error { return s.ix.Close() }
