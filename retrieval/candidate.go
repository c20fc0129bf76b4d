package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/memkernel/memkernel/index"
)

// candidate is a possible hit.
type candidate struct {
	hit Hit
	// found is the chunk as the index returned it, nil for a span.
	found *index.Hit
	// from is the time from which the candidate ages, or zero if it doesn't age.
	from time.Time
	// outline is the outline of the chunk, if the chunk was divided into passages.
	outline *outline
	// digest is made when it is first needed.
	digest *digest
	// exact is how much of the question the text contains verbatim.
	exact int
	holds holds
	// compared counts the picked candidates with which this candidate was compared.
	compared int
	// held marks the question's terms that the candidate holds, including those of its headings
	// and its speaker. It is 0 if the candidate was not searched for them.
	held uint64
}

// over returns the Over of the candidate's [index.Hit], or "" for a span.
func (c *candidate) over() string {
	if c.found == nil {
		return ""
	}
	return c.found.Over
}

// complete and every return the fields of the candidate's passage, or false for a candidate that is
// not a passage.
func (c *candidate) complete() bool { return c.hit.place != nil && c.hit.place.complete }
func (c *candidate) every() bool    { return c.hit.place != nil && c.hit.place.every }

// weights mixes the scores of the two searches. If one search found nothing at all, the other
// search gets all the weight. If only one search found a chunk, the chunk's score in the other
// search is 0.
type weights struct{ vector, keyword float64 }

func (w weights) among(hits *index.Hits) weights {
	switch {
	case len(hits.Vector) == 0:
		return weights{0, 1}
	case len(hits.Keyword) == 0:
		return weights{1, 0}
	}
	sum := w.vector + w.keyword
	return weights{w.vector / sum, w.keyword / sum}
}

// of returns the weighted mean of two scores.
func (w weights) of(p *parts) float64 { return w.vector*p.Vector + w.keyword*p.Keyword }

// union makes one candidate of each chunk that either search found. age is Query.Age.
func (g *gathered) union(age func(path, date string, mod time.Time) (time.Time, bool)) {
	byID := make(map[string]*candidate, len(g.hits.Keyword)+len(g.hits.Vector))
	take := func(h *index.Hit) *parts {
		c, ok := byID[h.ID]
		if !ok {
			c = &candidate{hit: fileHit(*h), found: h}
			c.hit.terms = g.terms
			if age != nil {
				if from, ages := age(h.Path, h.Date, h.ModTime); ages {
					c.from = from
				}
			}
			byID[h.ID] = c
			g.chunks = append(g.chunks, c)
		}
		return &c.hit.Parts
	}
	for i := range g.hits.Keyword {
		h := &g.hits.Keyword[i]
		p := take(h)
		p.Keyword, p.KeywordRank = h.Score, h.Rank
	}
	for i := range g.hits.Vector {
		h := &g.hits.Vector[i]
		p := take(h)
		p.Vector, p.VectorRank = h.Score, h.Rank
	}
	for _, c := range g.chunks {
		c.hit.Parts.Merged = g.weights.of(&c.hit.Parts)
	}
}

func fileHit(h index.Hit) Hit {
	citation := cite(h.Path, h.StartLine, h.EndLine)
	return Hit{
		Kind: Memory, ID: h.ID, Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Seq: h.Seq,
		Trail: h.Trail, Date: h.Date, Text: h.Text, Citation: citation, SupersededBy: overBy(h.Over, citation),
	}
}

// cite returns a citation such as "memory/2026-03-01.md#L3-L9". name is a path or a span's ID.
func cite(name string, from, to int) string {
	out := make([]byte, 0, len(name)+16)
	out = strconv.AppendInt(append(append(out, name...), "#L"...), int64(from), 10)
	if from != to {
		out = strconv.AppendInt(append(out, "-L"...), int64(to), 10)
	}
	return string(out)
}

// score sets the candidate's score: its merged score, multiplied by the decay for its age.
func (c *candidate) score(d decay, now time.Time) {
	p := &c.hit.Parts
	p.Decay = 1
	if !c.from.IsZero() {
		age := max(now.Sub(c.from), 0)
		p.AgeDays, p.Decay = age.Hours()/24, d.factor(age)
	}
	c.hit.Score = p.Merged * p.Decay
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// order sorts candidates and numbers their ranks. It compares how much of the question they contain
// verbatim, then whether they are complete, then their scores, then their positions. It raises
// scores where necessary so that they never increase from one candidate to the next.
func order(cs []*candidate) {
	slices.SortFunc(cs, func(a, b *candidate) int {
		x, y := &a.hit, &b.hit
		if c := cmp.Or(cmp.Compare(b.exact, a.exact), compareBool(b.complete(), a.complete()), cmp.Compare(y.Score, x.Score)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Seq, y.Seq),
			cmp.Compare(x.StartLine, y.StartLine), cmp.Compare(x.ID, y.ID))
	})
	for i := len(cs) - 2; i >= 0; i-- {
		cs[i].hit.Score = max(cs[i].hit.Score, cs[i+1].hit.Score)
	}
	for i, c := range cs {
		c.hit.Parts.Rank = i + 1
	}
}

// protect lowers the score of hits that hold no word of the question, so that they come after all
// hits that hold every word. Only the search by vectors finds such hits.
func (q *question) protect(g *gathered, cs []*candidate) {
	if !g.words || !g.vectors || len(g.terms) == 0 || g.hits.Ranked {
		return
	}
	words := g.askedWords()
	least := -1.0
	heldBy := make([]uint64, len(cs))
	for i, c := range cs {
		held := q.heldBy(c, g.terms)
		heldBy[i] = held
		if !slices.ContainsFunc(words, func(w sought) bool { return held&w.forms == 0 }) {
			least = c.hit.Score // the score of the last hit, since hits are in order
		}
	}
	if least < 0 {
		return
	}
	for i, c := range cs {
		if c.hit.Score >= least && heldBy[i] == 0 {
			c.hit.Score = least * (1 - 1e-9)
		}
	}
	order(cs)
}

// decay is the factor by which age reduces a score. It falls from 1 towards a floor, by half of
// the distance in each half-life. Exponential decay without a floor would reach 10⁻⁷ after two
// years, and would order old notes only by their dates.
type decay struct {
	halfLife time.Duration // 0 or less: nothing decays
	floor    float64
}

func (d decay) factor(age time.Duration) float64 {
	if d.halfLife <= 0 || age <= 0 {
		return 1
	}
	return d.floor + (1-d.floor)*math.Exp2(-float64(age)/float64(d.halfLife))
}

// presentFloor is the floor for questions about the present state.
const presentFloor = 0.5

// decay returns the decay for the answers to this question. Age has no effect if the question
// asks for a time or names a time. Age has more effect than usual if the question is about the
// present.
func (q *question) decay() decay {
	d := decay{q.opts.HalfLife, q.opts.Floor}
	switch {
	case q.when.named() || q.intent.when:
		d.halfLife = 0
	case q.intent.present:
		d.floor = min(d.floor, presentFloor)
	}
	return d
}

// diversify picks n candidates by maximal marginal relevance (Carbonell and Goldstein 1998). The
// next candidate is the one with the largest
//
//	λ·relevance − (1−λ)·largest similarity to a picked candidate
//
// where relevance is the score scaled to 0 to 1 among the candidates, and similarity is the Jaccard
// coefficient of the terms of two candidates. cs must be sorted by score. Similarity can only lower
// a value. So once λ·relevance is below the best value, diversify need not analyse the remaining
// texts.
func diversify(cs []*candidate, lambda float64, n int, terms func(*candidate) []uint32) []*candidate {
	if lambda >= 1 || len(cs) < 3 {
		return cs[:min(n, len(cs))]
	}
	low := cs[len(cs)-1].hit.Score
	span := cs[0].hit.Score - low
	relevance := func(c *candidate) float64 {
		if span <= 0 {
			return 1
		}
		return (c.hit.Score - low) / span
	}
	rest := append([]*candidate(nil), cs...)
	var picked []*candidate
	for len(picked) < n && len(rest) > 0 {
		best, top := -1, 0.0
		for i, c := range rest {
			r := lambda * relevance(c)
			if best >= 0 && r <= top {
				break
			}
			c.compare(picked, terms)
			if v := r - (1-lambda)*c.hit.Parts.Similarity; best < 0 || v > top {
				best, top = i, v
			}
		}
		picked = append(picked, rest[best])
		rest = append(rest[:best], rest[best+1:]...)
	}
	return picked
}

// compare raises the candidate's similarity to the largest similarity to any picked candidate. It
// only looks at candidates that were picked since the last call.
func (c *candidate) compare(picked []*candidate, terms func(*candidate) []uint32) {
	for ; c.compared < len(picked); c.compared++ {
		s := jaccard(terms(c), terms(picked[c.compared]))
		c.hit.Parts.Similarity = max(c.hit.Parts.Similarity, s)
	}
}
