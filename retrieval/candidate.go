package retrieval

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/memkernel/memkernel/index"
)

// candidate is a possible hit.
type candidate struct {
	hit Hit
	// from is the time from which the candidate ages, or zero if it doesn't age.
	from time.Time
	// hash is the hash of the chunk, or zero for a span.
	hash index.Hash
	// over is the Over of the chunk. changed is the time of its file.
	over    string
	changed time.Time
	// whole reports whether the chunk is all of its file.
	whole bool
	// facts are the facts about the candidate's lines. names are the names of its file.
	facts []index.Fact
	names []string
	// outline is the outline of the chunk, if the chunk was divided into passages.
	outline *outline
	// digest is made when it is first needed.
	digest *digest
	// exact is how much of the question the text contains verbatim. complete is as in a passage, and
	// every reports whether the text alone holds every word of the question, if only one.
	exact           int
	complete, every bool
	// called is the name of the file, if the candidate is the whole file.
	called string
	holds  holds
	// talk reports whether the candidate is a turn of a conversation.
	talk bool
	// compared counts the picked candidates with which this candidate was compared.
	compared int
	// held marks the question's terms that the candidate holds, including those of its headings
	// and its speaker. It is 0 if the candidate was not searched for them.
	held uint64
}

// weights mixes the scores of the two searches. If one search found nothing at all, the other
// search gets all the weight. If only one search found a chunk, the chunk's score in the other
// search is 0.
type weights struct{ vector, keyword float64 }

func (w weights) among(hits index.Hits) weights {
	switch {
	case len(hits.Vector) == 0:
		return weights{0, 1}
	case len(hits.Keyword) == 0:
		return weights{1, 0}
	}
	sum := w.vector + w.keyword
	return weights{w.vector / sum, w.keyword / sum}
}

// union makes one candidate of each chunk that either search found.
func union(hits index.Hits, w weights, age func(path, date string, mod time.Time) (time.Time, bool)) []*candidate {
	w = w.among(hits)
	terms := hashTerms(hits.Terms)
	byID := make(map[string]*candidate, len(hits.Keyword)+len(hits.Vector))
	var out []*candidate
	take := func(h index.Hit) *Parts {
		c, ok := byID[h.ID]
		if !ok {
			c = &candidate{hit: fileHit(h), hash: h.Hash, facts: h.Facts, names: h.Names, over: h.Over, whole: h.Whole, changed: h.ModTime}
			c.hit.terms = terms
			if age != nil {
				if from, ages := age(h.Path, h.Date, h.ModTime); ages {
					c.from = from
				}
			}
			byID[h.ID] = c
			out = append(out, c)
		}
		return &c.hit.Parts
	}
	for _, h := range hits.Keyword {
		p := take(h)
		p.Keyword, p.KeywordRank = h.Score, h.Rank
	}
	for _, h := range hits.Vector {
		p := take(h)
		p.Vector, p.VectorRank = h.Score, h.Rank
	}
	for _, c := range out {
		c.hit.Parts.Merged = w.vector*c.hit.Parts.Vector + w.keyword*c.hit.Parts.Keyword
	}
	return out
}

func fileHit(h index.Hit) Hit {
	citation := cite(h.Path, h.StartLine, h.EndLine)
	return Hit{
		Kind: Memory, ID: h.ID, Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Seq: h.Seq,
		Trail: h.Trail, Date: h.Date, Text: h.Text, Citation: citation, SupersededBy: overBy(h.Over, citation),
	}
}

// cite names lines of a file or of a span.
func cite(name string, from, to int) string {
	out := make([]byte, 0, len(name)+16)
	out = strconv.AppendInt(append(append(out, name...), "#L"...), int64(from), 10)
	if from != to {
		out = strconv.AppendInt(append(out, "-L"...), int64(to), 10)
	}
	return string(out)
}

// score ages a candidate.
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

// order sorts candidates by how much of the question they contain verbatim, then by whether they
// hold every word of it, then by score, then by position, and numbers them. A candidate never has a smaller score than one after it.
func order(cs []*candidate) {
	slices.SortFunc(cs, func(a, b *candidate) int {
		x, y := &a.hit, &b.hit
		if c := cmp.Or(cmp.Compare(b.exact, a.exact), compareBool(b.complete, a.complete), cmp.Compare(y.Score, x.Score)); c != 0 {
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

// Vectors count by their measured reliance on this index: below leastReliance they count for
// nothing, from fullReliance on they have the full Options.VectorWeight. If the reliance was not
// measured, they count in full.
const (
	leastReliance = .8
	fullReliance  = .95
)

// rely weighs the vectors' hits. It leaves out unreliable ones, so that words find the same as
// they would alone. The scores of the others are counted from the least near of them on, since a
// model gives some score to any two texts.
func (s *search) rely(hits *index.Hits) {
	if len(hits.Vector) == 0 || hits.Ranked {
		return
	}
	s.vectorShare = 1
	if !s.words || len(hits.Keyword) == 0 {
		return
	}
	if hits.Reliance == nil {
		return
	}
	s.vectorShare = min(max((*hits.Reliance-leastReliance)/(fullReliance-leastReliance), 0), 1)
	if s.vectorShare == 0 {
		hits.Vector, s.vectors = nil, false
		s.report(OK, "searched by words alone: the vectors don't find the index's own passages", nil)
		return
	}
	far := hits.Vector[len(hits.Vector)-1].Score
	for i := range hits.Vector {
		v := &hits.Vector[i].Score
		*v = max(*v-far, 0) / max(1-far, 1e-9)
	}
}

func (s *search) weights() weights {
	return weights{s.opts.VectorWeight * s.vectorShare, s.opts.KeywordWeight}
}

// protect moves hits that only vectors found and that hold none of the words after the hits that
// hold all words.
func (s *search) protect(cs []*candidate) {
	if !s.words || !s.vectors || len(s.asked) == 0 || s.ranked {
		return
	}
	terms, words := hashTerms(s.asked), s.askedWords()
	least := -1.0
	heldBy := make([]uint64, len(cs))
	for i, c := range cs {
		held, all := s.heldBy(c, terms), true
		heldBy[i] = held
		for _, w := range words {
			all = all && held&w.forms != 0
		}
		if all {
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
