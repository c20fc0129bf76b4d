package retrieval

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/index"
)

// fakeIndex answers every query with the same hits.
type fakeIndex struct {
	hits index.Hits
	err  error
	got  []index.Query
}

func (f *fakeIndex) Search(ctx context.Context, q index.Query) (index.Hits, error) {
	f.got = append(f.got, q)
	if err := ctx.Err(); err != nil {
		return index.Hits{}, err
	}
	hits := f.hits
	if q.Vector == nil {
		hits.Vector = nil
	}
	return hits, f.err
}

type fakeEmbedder func(ctx context.Context, text string) ([]float32, error)

func (fakeEmbedder) Model() string { return "model" }

func (f fakeEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return f(ctx, text)
}

var works fakeEmbedder = func(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }

// ranked gives hits their ranks.
func ranked(hits ...index.Hit) []index.Hit {
	for i := range hits {
		hits[i].Rank = i + 1
	}
	return hits
}

func hit(id, path string, line int, score float64, text string) index.Hit {
	return index.Hit{ID: id, Path: path, StartLine: line, EndLine: line + len(splitLines(text)) - 1, Seq: line, Text: text, Score: score}
}

var now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// ids are the hits' IDs, for comparing.
func ids(hits []Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}
