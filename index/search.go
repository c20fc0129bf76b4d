package index

import (
	"context"
	"slices"
)

// Query is a search for candidates, of both kinds.
type Query struct {
	// Text is the question in the user's words. Nothing in it is syntax.
	Text string
	// Days are words for the days that Text names, as [analysis.Span.Words] returns them. The
	// search also finds chunks by these words. They are not among Hits.Terms.
	Days []string
	// Model and Vector are the question's embedding; a nil Vector skips the
	// search by vectors.
	Model  string
	Vector []float32
	// K is the largest number of hits that each search returns.
	K int
	// KMany, if not 0, replaces K in an index of more than 2·K chunks.
	KMany int
	// Want, if not nil, reports whether a file's chunks may be among the hits.
	Want func(path string) bool
	// Holders requests Hits.Holders and Hits.Also.
	Holders bool
}

// Words returns all words by which chunks are found: the terms of Text, and Days.
func (q *Query) Words(terms []string) []string {
	out := slices.Clip(terms)
	for _, d := range q.Days {
		if !slices.Contains(terms, d) {
			out = append(out, d)
		}
	}
	return out
}

// Hits are the candidates of both searches, each with its own scores and ranks.
type Hits struct {
	// Terms are the words that were searched. Terms is empty if the question had no words.
	Terms []string
	// Also lists the words of Terms that are not in the question: likely spellings of words that
	// no chunk holds, and pairs of words written as one word.
	Also []Also
	// Chunks counts the chunks of the index.
	Chunks int64
	// Holders counts, for each of Terms, the chunks that hold that term. It is nil if the query
	// didn't request the counts.
	Holders []int64
	// Keyword and Vector are the hits, best first.
	Keyword, Vector []Hit
	// Reliance is the share of the right chunks that the vectors find, 0 to 1, as Measure found
	// it. It is nil if the model of the vectors was not measured.
	Reliance *float64
	// KeywordErr is the error of the search by words, VectorErr the error of the search by
	// vectors. If only one search failed, the hits of the other search are still returned.
	KeywordErr, VectorErr error
	// Outdated reports whether the words or chunks were made by other rules than this program's.
	// A Sync makes them again. Lag reports whether files have changed.
	Outdated bool
	// Ranked reports whether the hits were ranked by more than their words and vectors. Callers
	// must then keep the order of the hits.
	Ranked bool
	// Note is a remark on how the hits were found, or "".
	Note string
}

// Search runs both searches. It returns an error if both searches failed. If only one
// failed, its error is in Hits.
func (ix *Index) Search(ctx context.Context, q Query) (Hits, error) {
	var out Hits
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	r, err := h.reader(ctx)
	if err != nil {
		return out, explain("search", ix.door.path, err)
	}
	defer r.tx.Rollback()
	if m := r.v.reliance; m.model != "" && m.model == r.v.model {
		out.Reliance = &m.share
	}
	out.Outdated = r.v.outdated(ix.door.opts.Chunker)
	if q.KMany > 0 && r.v.total > 2*int64(q.K) {
		q.K = q.KMany
	}
	if q.Vector != nil {
		out.Vector, out.VectorErr = r.nearestHits(ctx, ix.door.path, q.Model, q.Vector, q.K, q.Want)
	}
	out.Chunks = r.v.total
	switch out.Terms = terms(ix, r.v, q.Text); {
	case q.Holders && q.K > 0 && len(out.Terms) > 0 && len(out.Terms) <= MaxTerms:
		err = r.ask(ctx, ix, &q, &out)
	default:
		if out.Keyword, err = r.keyword(ctx, q.Words(out.Terms), q.K, q.Want); err == nil && q.Holders && len(out.Keyword) > 0 {
			out.Holders, err = r.holders(ctx, out.Terms)
		}
	}
	out.KeywordErr = explain("search", ix.door.path, err)
	out.VectorErr = explain("search vectors", ix.door.path, out.VectorErr)
	if out.KeywordErr != nil && (q.Vector == nil || out.VectorErr != nil) {
		return out, out.KeywordErr
	}
	return out, nil
}
