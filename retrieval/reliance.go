package retrieval

import "github.com/memkernel/memkernel/index"

// Vectors count by what they were found to be worth on this index: all below leastReliance
// nothing, and from fullReliance on as much as Options.VectorWeight says. Where that was not
// measured they count in full.
const (
	leastReliance = .3
	fullReliance  = .7
)

// rely weighs the vectors' hits. Those that can't be relied on are left out, so that words
// find what they would have found alone; the others' scores are counted from the least near
// of them on, since what a model gives to any two texts says nothing.
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

// protect puts what only vectors found, holding none of the words, behind what holds all
// of them.
func (s *search) protect(cs []*candidate) {
	if !s.words || !s.vectors || len(s.asked) == 0 || s.ranked {
		return
	}
	terms, words := hashTerms(s.asked), s.askedWords()
	least := -1.0
	for _, c := range cs {
		held, all := s.heldBy(c, terms), true
		for _, w := range words {
			all = all && held&w.forms != 0
		}
		if all {
			least = c.hit.Score // of the last, they are in order
		}
	}
	if least < 0 {
		return
	}
	for _, c := range cs {
		if c.hit.Score >= least && s.heldBy(c, terms) == 0 {
			c.hit.Score = least * (1 - 1e-9)
		}
	}
	order(cs)
}
