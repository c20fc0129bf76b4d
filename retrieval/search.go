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

// search is one question on its way through the four stages: what the question means, the chunks and
// spans that may answer it, their ranking, and what is shown of the best.
type search struct {
	*Retriever
	meaning
	q      Query
	a      *analysis.Analyzer
	result Result
	// words and vectors report which searches answered.
	words, vectors bool
	// outdated is Outdated as the index returned it.
	outdated bool
	// ranked reports whether the order of the index's hits is kept. No hit then ages or moves
	// back.
	ranked bool
	// ended reports whether files that no longer hold were left out.
	ended bool
	// rejected is the best score below MinScore.
	rejected float64
	// asked are the words for which the index was searched.
	asked []string
	// holders are the numbers of chunks that hold each word of asked.
	holders []int64
	// also are the words of asked that the question does not hold.
	also []index.Also
	// chunks is the number of all chunks.
	chunks  int64
	wordsOf *termWords
	// calibrated reports whether the hits' scores are chances.
	calibrated bool
	// vectorShare is the weight of the vectors as a share of the maximum.
	vectorShare float64
}

// meaning is what the text of a question says other than by its words.
type meaning struct {
	// exact holds the parts of the question that a text can contain verbatim. It is empty for a
	// search without passages or words.
	exact asTyped
	// when is the time that the question names.
	when when
	// intent is implied by the question's form.
	intent intent
}

// understand is the first stage.
func understand(q *Query, verbatim bool) meaning {
	m := meaning{when: whenOf(q.Text, q.Now), intent: intentOf(q.Text)}
	if verbatim {
		m.exact = exactOf(q.Text)
	}
	return m
}

func (s *search) run(ctx context.Context) {
	s.meaning = understand(&s.q, s.q.Passages && s.opts.KeywordWeight > 0)
	chunks, hits, spans := s.gather(ctx)
	s.show(s.rank(chunks, &hits, spans))
	s.conclude()
}

// gather is the second stage. It returns the chunks that may answer, the hits of the index that they
// were made of, and the spans that may answer.
func (s *search) gather(ctx context.Context) (chunks []*candidate, hits index.Hits, spans []*candidate) {
	if s.may() {
		hits = s.memory(ctx)
		chunks = union(hits, s.weights(), s.q.Age)
		s.ranked = hits.Ranked
	}
	spans = s.session()
	if s.asked == nil {
		s.asked = s.a.Query(s.q.Text, nil)
	}
	return chunks, hits, spans
}

// rank is the third stage. It returns the candidates to show, the best first.
func (s *search) rank(chunks []*candidate, hits *index.Hits, spans []*candidate) []*candidate {
	cs := chunks
	if s.q.Passages && !s.ranked {
		cs = s.refine(cs, hits)
	}
	cs = append(cs, spans...)
	if !s.ranked {
		s.standing(cs)
	}
	cs = s.rate(cs)
	lambda := s.opts.Lambda
	if s.ranked || len(cs) > 0 && (cs[0].exact > 0 || cs[0].hit.passage && !cs[0].talk) {
		lambda = 1
	}
	picked := behindHolders(s.pick(cs, lambda))
	s.calibrate(picked)
	return s.sufficient(picked)
}

// show is the fourth stage. It makes the hits of the result.
func (s *search) show(picked []*candidate) {
	s.result.Hits = slices.Grow(s.result.Hits, len(picked))
	for _, c := range picked {
		if s.q.Lines {
			c.hit.Dates = datesOf(&c.hit)
		}
		if s.q.Lines && !s.q.NoSnippets {
			c.hit.show()
		}
		s.result.Hits = append(s.result.Hits, c.hit)
	}
	if !s.past() {
		behindNewer(s.result.Hits[:min(len(s.result.Hits), s.q.Limit)])
	}
	if !s.q.Lines {
		s.result.Hits = places(s.result.Hits, s.q.Limit)
	}
}

// behindNewer moves a superseded hit after its replacement, if both are among the hits.
func behindNewer(hits []Hit) {
	moves := len(hits) // more would go in circles
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

// covers reports whether a hit is named by a citation.
func (h *Hit) covers(citation string) bool {
	path, line, ok := refLine(citation)
	return ok && h.Path == path && h.StartLine <= line && line <= h.EndLine
}

// pool returns how many candidates are looked at.
func (s *search) pool() int { return max(s.opts.Pool, s.q.Limit) }

// may reports whether the index should be searched. If not, the result holds the reason.
func (s *search) may() bool {
	switch {
	case s.q.Denied != "":
		s.report(Denied, "memory may not be searched: "+s.q.Denied, nil)
	case s.ix == nil && s.q.Spans == nil:
		s.report(Disabled, "there is no index", nil)
	case s.ix != nil && len(s.a.Query(s.q.Text, nil)) == 0:
		s.report(NoMatch, "the question holds no word", nil)
	default:
		return s.ix != nil
	}
	return false
}

// report sets the reason, and adds to detail and error.
func (s *search) report(reason Reason, detail string, err error) {
	r := &s.result
	r.Reason, r.Err = reason, errors.Join(r.Err, err)
	if r.Detail != "" {
		detail = r.Detail + "; " + detail
	}
	r.Detail = detail
}

// memory searches the index. Failures are in the result.
func (s *search) memory(ctx context.Context) index.Hits {
	q := index.Query{Text: s.q.Text, K: s.pool(), Want: s.q.Want}
	if s.q.Passages {
		q.K, q.KMany, q.Holders = leastChunks, max(mostChunks, s.opts.Pool), true
	}
	if s.opts.Embedder != nil && s.opts.VectorWeight > 0 {
		q.Model, q.Vector = s.embed(ctx)
	}
	q.Days = s.when.words(s.q.Now)
	if s.opts.KeywordWeight == 0 && q.Vector != nil {
		q.Text, q.Days = "", nil
	}
	hits, err := s.ix.Search(ctx, q)
	if err != nil {
		s.broken(err)
		return index.Hits{}
	}
	if s.q.Passages && q.Text != "" {
		s.deepen(ctx, q, &hits)
	}
	s.words = q.Text != "" && hits.KeywordErr == nil
	s.vectors = q.Vector != nil && hits.VectorErr == nil
	s.outdated = hits.Outdated
	for _, also := range hits.Also {
		if len(also.Asked) > 0 {
			s.result.Also = append(s.result.Also, Also{also.Typed, also.Asked})
		}
	}
	if hits.Note != "" {
		s.result.Note = hits.Note
		s.report(OK, hits.Note, nil)
	}
	s.halved(hits)
	s.rely(&hits)
	s.asked, s.holders, s.chunks, s.also = hits.Terms, hits.Holders, hits.Chunks, hits.Also
	if len(hits.Terms) == 0 {
		hits.Terms = s.a.Query(s.q.Text, nil)
	}
	return hits
}

// embed returns the question's vector, or nil if the Embedder fails or takes too long.
func (s *search) embed(ctx context.Context) (string, []float32) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.EmbedTimeout)
	defer cancel()
	v, err := s.opts.Embedder.EmbedQuery(ctx, s.q.Text)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		s.report(OK, fmt.Sprintf("searched by words alone: the embedder took more than %v", s.opts.EmbedTimeout), err)
	case err != nil:
		s.report(OK, "searched by words alone: the embedder failed: "+err.Error(), err)
	case len(v) == 0:
		s.report(OK, "searched by words alone: the embedder returned no vector", nil)
	default:
		return s.opts.Embedder.Model(), v
	}
	return "", nil
}

// halved records in the result which of the two searches failed.
func (s *search) halved(hits index.Hits) {
	if err := hits.VectorErr; err != nil {
		s.report(OK, "searched by words alone: "+index.Plain(err), err)
	}
	if err := hits.KeywordErr; err != nil {
		s.report(OK, "searched by vectors alone: "+index.Plain(err), err)
	}
}

// broken records in the result why the index could not be searched. The error holds the remedy,
// for users who can apply it.
func (s *search) broken(err error) {
	if errors.Is(err, index.ErrMissing) {
		s.report(Disabled, "there is no index yet", err)
		return
	}
	s.report(BackendError, "the index can't be searched: "+index.Plain(err), err)
}

// session searches the spans. They have no vectors, so words have all the
// weight.
func (s *search) session() []*candidate {
	if s.q.Spans == nil || s.opts.KeywordWeight == 0 && s.vectors {
		return nil
	}
	s.words = true
	most := s.pool()
	if s.q.MostSpans > 0 {
		most = min(most, s.q.MostSpans)
	}
	hits, terms := s.q.Spans.search(s.a, s.q.Text, most, s.q.WantSpan)
	hits = s.deepenSpans(hits, most)
	var out []*candidate
	for i, f := range hits {
		c := &candidate{hit: f.hit(i + 1), from: f.Time, digest: f.digest}
		c.hit.Parts.Merged, c.hit.terms = c.hit.Parts.Keyword, terms
		out = append(out, c)
	}
	return out
}

// rate ages and sorts the candidates, and drops those below MinShare. A search keeps the passages
// that hold every word that was asked for.
func (s *search) rate(cs []*candidate) []*candidate {
	if s.q.Prompt && !s.past() {
		cs = slices.DeleteFunc(cs, func(c *candidate) bool {
			over := overBy(c.over, c.hit.Citation) != ""
			s.ended = s.ended || over
			return over
		})
	}
	d := s.decay()
	for _, c := range cs {
		if s.ranked {
			c.from = time.Time{}
		} else if !c.hit.passage && c.hit.Kind == Memory && !s.past() {
			c.hit.Parts.Merged *= standing(c.hit.Path, c.over)
		}
		c.score(d, s.q.Now)
	}
	order(cs)
	s.protect(cs)
	if len(cs) == 0 {
		return nil
	}
	least := s.q.MinShare * cs[0].hit.Score
	cs = slices.DeleteFunc(cs, func(c *candidate) bool {
		return c.hit.Score <= 0 || c.hit.Score < least && (s.q.Prompt || !c.every)
	})
	return cs
}

// sufficient returns the candidates with a score of at least MinScore. It returns no candidates
// if the best score is below MinBest.
func (s *search) sufficient(cs []*candidate) []*candidate {
	if len(cs) == 0 {
		return nil
	}
	best := slices.MaxFunc(cs, byScore).hit.Score
	s.result.Weak = s.calibrated && best < DefaultMinBest
	least := s.q.MinScore
	if best < s.q.MinBest {
		least = max(least, s.q.MinBest)
	}
	if best < least {
		s.rejected = best
	}
	return slices.DeleteFunc(cs, func(c *candidate) bool { return c.hit.Score < least })
}

// digest analyses a candidate's text once.
func (s *search) digest(c *candidate) *digest {
	if c.digest == nil {
		c.digest = s.outlines.digest(s.a, c.hash, c.hit.Text)
	}
	return c.digest
}

func (s *search) terms(c *candidate) []uint32 { return s.digest(c).set }

// conclude settles mode and reason.
func (s *search) conclude() {
	r := &s.result
	switch {
	case s.words && s.vectors:
		r.Mode = Hybrid
	case s.vectors:
		r.Mode = Vector
	case s.words:
		r.Mode = Keyword
	default:
		r.Mode = NoSearch
	}
	if r.Reason == OK && len(r.Hits) == 0 {
		s.report(NoMatch, s.nothing(), nil)
	}
	if (r.Reason == OK || r.Reason == NoMatch && s.ix != nil) && (s.q.Stale || s.outdated) {
		s.report(StaleIndex, s.behind(), nil)
	}
}

// behind says in words which changes the index lacks.
func (s *search) behind() string {
	by := ""
	if s.q.StaleBy != "" {
		by = " (" + s.q.StaleBy + ")"
	}
	return "the index is behind the files" + by
}

// nothing returns why there are no hits.
func (s *search) nothing() string {
	switch {
	case s.rejected > 0:
		return fmt.Sprintf("the best hit scores %.2f, which is below %.2f", s.rejected, max(s.q.MinScore, s.q.MinBest))
	case s.words && len(s.a.Query(s.q.Text, nil)) == 0:
		return "the question holds no word"
	case s.words && !s.a.Tells(s.q.Text):
		return "the question has only words that nearly every text has: ask with a name or a thing"
	case s.ended:
		return "only files that no longer hold have the question's words"
	case s.words:
		return "nothing holds any of the question's words"
	}
	return "nothing is near the question"
}
