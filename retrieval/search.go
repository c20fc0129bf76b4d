package retrieval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// Search answers a question in four stages: understand the question, gather the chunks and spans
// that may answer it, rank them, and show the best. It always returns a Result. If the context
// ended, Err of the Result reports that.
func (r *Retriever) Search(ctx context.Context, query Query) Result {
	a := analyzers.Lend()
	defer analyzers.Give(a)
	q := r.understand(a, query)
	g := q.gather(ctx)
	return q.answer(g, q.rank(g))
}

// question is a query with everything that was read from its text.
type question struct {
	*Retriever
	Query
	a *analysis.Analyzer
	// exact holds the parts of the question that a text can contain verbatim. It is empty for a
	// search without passages or words.
	exact asTyped
	// when is the time that the question names.
	when when
	// intent is implied by the question's form.
	intent intent
}

// understand is the first stage. It finds what the question's wording implies.
func (r *Retriever) understand(a *analysis.Analyzer, query Query) *question {
	q := &question{Retriever: r, Query: query, a: a}
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	if q.Now.IsZero() {
		q.Now = time.Now()
	}
	q.when, q.intent = whenOf(q.Text, q.Now), intentOf(q.Text)
	if q.Passages && q.opts.KeywordWeight > 0 {
		q.exact = exactOf(q.Text)
	}
	return q
}

// pool returns the number of candidates that are considered.
func (q *question) pool() int { return max(q.opts.Pool, q.Limit) }

// gathered holds the chunks and spans that may answer, and how they were found.
type gathered struct {
	// hits is the answer of the index. If the index was not searched, its Terms are the question's
	// own words.
	hits          index.Hits
	chunks, spans []*candidate
	// terms are the hashes of the searched words. wordOf has the word of the question to which each
	// belongs.
	terms  []uint32
	wordOf []int
	// words and vectors report which searches answered.
	words, vectors bool
	// vectorShare is the weight of the vectors as a share of the maximum. weights mixes the scores of
	// both searches.
	vectorShare float64
	weights     weights
	// said is the Result so far.
	said Result
}

// gather is the second stage. It searches the index and the spans.
func (q *question) gather(ctx context.Context) *gathered {
	g := &gathered{said: Result{Reason: OK}}
	switch {
	case q.Denied != "":
		g.said.report(Denied, "memory may not be searched: "+q.Denied, nil)
	case q.ix == nil && q.Spans == nil:
		g.said.report(Disabled, "there is no index", nil)
	case q.ix == nil:
	case len(q.a.Query(q.Text, nil)) == 0:
		g.said.report(NoMatch, "the question holds no word", nil)
	default:
		g.search(ctx, q)
	}
	if len(g.hits.Terms) == 0 {
		g.hits.Terms = q.a.Query(q.Text, nil)
	}
	g.terms = hashTerms(g.hits.Terms)
	g.wordOf = q.wordsOf(g.hits.Terms[:len(g.terms)], g.hits.Also)
	g.weights = weights{q.opts.VectorWeight * g.vectorShare, q.opts.KeywordWeight}.among(&g.hits)
	g.union(q.Age)
	if q.Spans != nil && (q.opts.KeywordWeight > 0 || !g.vectors) {
		g.words, g.spans = true, q.searchSpans()
	}
	return g
}

// report sets the reason and adds the detail and the error to the Result.
func (r *Result) report(reason Reason, detail string, err error) {
	r.Reason, r.Err = reason, errors.Join(r.Err, err)
	if r.Detail != "" {
		detail = r.Detail + "; " + detail
	}
	r.Detail = detail
}

// search searches the index. It records failed searches in said.
func (g *gathered) search(ctx context.Context, q *question) {
	ask := index.Query{Text: q.Text, K: q.pool(), Want: q.Want, Days: q.when.words(q.Now)}
	if q.Passages {
		ask.K, ask.KMany, ask.Holders = leastChunks, max(mostChunks, q.opts.Pool), true
	}
	if q.opts.Embedder != nil && q.opts.VectorWeight > 0 {
		ask.Model, ask.Vector = q.embed(ctx, &g.said)
	}
	if q.opts.KeywordWeight == 0 && ask.Vector != nil {
		ask.Text, ask.Days = "", nil
	}
	hits, err := q.ix.Search(ctx, ask)
	switch {
	case errors.Is(err, index.ErrMissing):
		g.said.report(Disabled, "there is no index yet", err)
		return
	case err != nil: // err says how to remedy this
		g.said.report(BackendError, "the index can't be searched: "+index.Plain(err), err)
		return
	}
	if q.Passages && ask.Text != "" {
		q.deepen(ctx, ask, &hits)
	}
	g.words = ask.Text != "" && hits.KeywordErr == nil
	g.vectors = ask.Vector != nil && hits.VectorErr == nil
	for _, also := range hits.Also {
		if len(also.Asked) > 0 {
			g.said.Also = append(g.said.Also, Also{also.Typed, also.Asked})
		}
	}
	if hits.Note != "" {
		g.said.Note = hits.Note
		g.said.report(OK, hits.Note, nil)
	}
	if err := hits.VectorErr; err != nil {
		g.said.report(OK, "searched by words alone: "+index.Plain(err), err)
	}
	if err := hits.KeywordErr; err != nil {
		g.said.report(OK, "searched by vectors alone: "+index.Plain(err), err)
	}
	g.hits = hits
	g.rely()
}

// embed returns the question's vector, or nil if the Embedder fails or takes too long.
func (q *question) embed(ctx context.Context, said *Result) (string, []float32) {
	ctx, cancel := context.WithTimeout(ctx, q.opts.EmbedTimeout)
	defer cancel()
	v, err := q.opts.Embedder.EmbedQuery(ctx, q.Text)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		said.report(OK, fmt.Sprintf("searched by words alone: the embedder took more than %v", q.opts.EmbedTimeout), err)
	case err != nil:
		said.report(OK, "searched by words alone: the embedder failed: "+err.Error(), err)
	case len(v) == 0:
		said.report(OK, "searched by words alone: the embedder returned no vector", nil)
	default:
		return q.opts.Embedder.Model(), v
	}
	return "", nil
}

// Vectors count by their measured reliance on this index: below leastReliance they count for
// nothing, from fullReliance on they have the full Options.VectorWeight. If the reliance was not
// measured, they count in full.
const (
	leastReliance = .8
	fullReliance  = .95
)

// rely weighs the hits of the vectors by their reliance. It removes all of them if they are
// unreliable, so that the result is that of words alone. It subtracts the lowest score from the
// scores, since a model gives any two texts some score.
func (g *gathered) rely() {
	near := g.hits.Vector
	if len(near) == 0 || g.hits.Ranked {
		return
	}
	g.vectorShare = 1
	if !g.words || len(g.hits.Keyword) == 0 || g.hits.Reliance == nil {
		return
	}
	g.vectorShare = min(max((*g.hits.Reliance-leastReliance)/(fullReliance-leastReliance), 0), 1)
	if g.vectorShare == 0 {
		g.hits.Vector, g.vectors = nil, false
		g.said.report(OK, "searched by words alone: the vectors don't find the index's own passages", nil)
		return
	}
	far := near[len(near)-1].Score
	for i := range near {
		near[i].Score = max(near[i].Score-far, 0) / max(1-far, 1e-9)
	}
}

// searchSpans searches the spans. They have no vectors, so words have all the weight.
func (q *question) searchSpans() (out []*candidate) {
	most := q.pool()
	if q.MostSpans > 0 {
		most = min(most, q.MostSpans)
	}
	hits, terms := q.Spans.search(q.a, q.Text, most, q.WantSpan)
	for i, f := range q.deepenSpans(hits, most) {
		c := &candidate{hit: f.hit(i + 1), from: f.Time, digest: f.digest}
		c.hit.Parts.Merged, c.hit.terms = c.hit.Parts.Keyword, terms
		out = append(out, c)
	}
	return out
}

// ranking is the order of the candidates.
type ranking struct {
	// best are the candidates to show, the best first.
	best    []*candidate
	grounds Grounds
	weak    bool
	// ended reports whether files that are no longer valid were left out.
	ended bool
	// rejected is the best score if it is below the least score of a hit, else 0.
	rejected float64
}

// rank is the third stage. If the index ranks hits itself, rank keeps its order: hits don't age and
// don't move.
func (q *question) rank(g *gathered) (out ranking) {
	cs, exact := g.chunks, q.exact
	if q.Passages && !g.hits.Ranked {
		cs, exact = q.refine(g)
	}
	cs = append(cs, g.spans...)
	if !g.hits.Ranked {
		standing(cs, &exact)
	}
	if q.Prompt && !q.past() {
		all := len(cs)
		cs = slices.DeleteFunc(cs, func(c *candidate) bool { return overBy(c.over(), c.hit.Citation) != "" })
		out.ended = len(cs) < all
	}
	aging := q.decay()
	for _, c := range cs {
		if g.hits.Ranked {
			c.from = time.Time{}
		} else if c.hit.place == nil && c.hit.Kind == Memory && !q.past() {
			c.hit.Parts.Merged *= finishedFactor(c.hit.Path, c.over())
		}
		c.score(aging, q.Now)
	}
	order(cs)
	q.protect(g, cs)
	if len(cs) > 0 { // a search, unlike a prompt, keeps every passage that holds all words of the question
		least := q.MinShare * cs[0].hit.Score
		cs = slices.DeleteFunc(cs, func(c *candidate) bool {
			return c.hit.Score <= 0 || c.hit.Score < least && (q.Prompt || !c.every())
		})
	}
	lambda := q.opts.Lambda
	if g.hits.Ranked || len(cs) > 0 && (cs[0].exact > 0 || cs[0].hit.place != nil && !cs[0].hit.talk()) {
		lambda = 1
	}
	out.best = behindHolders(q.pick(cs, lambda))
	if len(out.best) == 0 {
		return out
	}
	best := slices.MaxFunc(out.best, byScore).hit.Score
	if q.Passages && !g.hits.Ranked && len(g.terms) > 0 {
		// The best hit's score is the chance. The other scores are in proportion.
		out.grounds = q.grounds(g, out.best)
		sure := out.grounds.chance()
		for _, c := range out.best {
			c.hit.Score *= sure / best
		}
		best = slices.MaxFunc(out.best, byScore).hit.Score
		out.weak = best < DefaultMinBest
	}
	least := q.MinScore
	if best < q.MinBest {
		least = max(least, q.MinBest)
	}
	if best < least {
		out.rejected = best
	}
	out.best = slices.DeleteFunc(out.best, func(c *candidate) bool { return c.hit.Score < least })
	return out
}

// digest returns the digest of a candidate's text, which it makes only once.
func (q *question) digest(c *candidate) *digest {
	if c.digest == nil {
		c.digest = q.outlines.digest(q.a, c.found.Hash, c.hit.Text)
	}
	return c.digest
}

func (q *question) wordSet(c *candidate) []uint32 { return q.digest(c).set }

// answer is the fourth stage. It makes the Result from the best candidates.
func (q *question) answer(g *gathered, r ranking) Result {
	out := g.said
	out.Grounds, out.Weak, out.Hits = r.grounds, r.weak, make([]Hit, 0, len(r.best))
	for _, c := range r.best {
		if q.Lines {
			c.hit.Dates = datesOf(&c.hit)
		}
		if q.Lines && !q.NoSnippets {
			c.hit.show()
		}
		out.Hits = append(out.Hits, c.hit)
	}
	if !q.past() {
		behindNewer(out.Hits[:min(len(out.Hits), q.Limit)])
	}
	if !q.Lines {
		out.Hits = places(out.Hits, q.Limit)
	}
	switch {
	case g.words && g.vectors:
		out.Mode = Hybrid
	case g.vectors:
		out.Mode = byVector
	case g.words:
		out.Mode = Keyword
	default:
		out.Mode = NoSearch
	}
	if out.Reason == OK && len(out.Hits) == 0 {
		out.report(NoMatch, q.nothing(g, &r), nil)
	}
	if (out.Reason == OK || out.Reason == NoMatch && q.ix != nil) && (q.StaleBy != "" || g.hits.Outdated) {
		by := ""
		if q.StaleBy != "" {
			by = " (" + q.StaleBy + ")"
		}
		out.report(StaleIndex, "the index is behind the files"+by, nil)
	}
	return out
}

// behindNewer moves each superseded hit after its replacement, if both are among the hits.
func behindNewer(hits []Hit) {
	moves := len(hits) // a limit, in case hits replace each other in a circle
	for i := 0; i < len(hits) && moves > 0; i++ {
		to := slices.IndexFunc(hits, func(h Hit) bool { return hits[i].SupersededBy != "" && h.covers(hits[i].SupersededBy) })
		if to > i {
			h := hits[i]
			copy(hits[i:to], hits[i+1:to+1])
			hits[to] = h
			i--
			moves--
		}
	}
}

// covers reports whether a citation names lines of a hit.
func (h *Hit) covers(citation string) bool {
	path, line, ok := refLine(citation)
	return ok && h.Path == path && h.StartLine <= line && line <= h.EndLine
}

// nothing returns the reason why there are no hits.
func (q *question) nothing(g *gathered, r *ranking) string {
	switch {
	case r.rejected > 0:
		return fmt.Sprintf("the best hit scores %.2f, which is below %.2f", r.rejected, max(q.MinScore, q.MinBest))
	case g.words && len(q.a.Query(q.Text, nil)) == 0:
		return "the question holds no word"
	case g.words && !q.a.Tells(q.Text):
		return "the question has only words that nearly every text has: ask with a name or a thing"
	case r.ended:
		return "only files that no longer hold have the question's words"
	case g.words:
		return "nothing holds any of the question's words"
	}
	return "nothing is near the question"
}
