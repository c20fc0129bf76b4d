package relevance

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/retrieval"
)

// search returns the best lines or places for a text. The number of hits is Hits if it is set,
// and otherwise limit. Each run of lines in a place is a hit, and the best run of a place comes
// before its other runs.
func (b *bench) search(ctx context.Context, r *retrieval.Retriever, text string, limit int, now time.Time) ([]retrieval.Hit, error) {
	got := r.Search(ctx, retrieval.Query{Text: text, Limit: cmp.Or(b.Hits, limit), MinShare: b.MinShare, Passages: !b.Chunks, Lines: !b.Places, NoSnippets: !b.Places, Now: now, Age: b.age})
	if got.Err != nil || !b.Places {
		return got.Hits, got.Err
	}
	var out []retrieval.Hit
	for _, h := range got.Hits {
		out = append(out, retrieval.Hit{Kind: h.Kind, Path: h.Path, StartLine: h.SnippetStart, EndLine: h.SnippetEnd, Score: h.Score, Text: h.Snippet})
		for _, m := range h.More {
			out = append(out, retrieval.Hit{Kind: h.Kind, Path: h.Path, StartLine: m.StartLine, EndLine: m.EndLine, Score: m.Score, Text: m.Text})
		}
	}
	return out, nil
}

// linesWithin counts the lines that hold an item. It looks only at the first hits that together
// have at most tokens tokens.
func (b *bench) linesWithin(a *analysis.Analyzer, it KnownItem, hits []retrieval.Hit, tokens int) int {
	found := map[string]bool{}
	for _, h := range hits[:fit(hits, tokens, b.count)] {
		for i, text := range strings.Split(strings.TrimSuffix(h.Text, "\n"), "\n") {
			no := h.StartLine + i
			if b.holds(a, it, retrieval.Hit{Path: h.Path, StartLine: no, EndLine: no, Text: text}) {
				found[fmt.Sprint(h.Path, no)] = true
			}
		}
	}
	return len(found)
}
