package retrieval

// diversify picks n candidates by maximal marginal relevance (Carbonell and
// Goldstein 1998): the next is the one with the largest
//
//	λ·relevance − (1−λ)·similarity to the most similar one picked
//
// where relevance is the score brought to 0 to 1 among the candidates, and
// similarity the Jaccard coefficient of their terms. Candidates come sorted by
// score. Similarity only takes away, so once λ·relevance is below the best value
// seen, the rest need not be looked at, nor their texts analysed.
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

// compare brings the candidate's similarity up to date with those picked since
// it was last compared.
func (c *candidate) compare(picked []*candidate, terms func(*candidate) []uint32) {
	for ; c.compared < len(picked); c.compared++ {
		s := jaccard(terms(c), terms(picked[c.compared]))
		c.hit.Parts.Similarity = max(c.hit.Parts.Similarity, s)
	}
}
