package relevance

import (
	"math"
	"slices"

	"github.com/memkernel/memkernel/retrieval"
)

// Judge rates the answer to one question: hits in order. Count counts tokens.
func Judge(q Question, hits []retrieval.Hit, count func(string) int) Metrics {
	ranks := ranksOf(q.Evidence, hits)
	m := Metrics{
		Questions: 1, RecallAt1: share(ranks, 1), RecallAt5: share(ranks, 5), RecallAt10: share(ranks, 10),
		NDCGAt10: ndcg(ranks, 10), WithinTokens: Sizes{}, Packed: Sizes{},
	}
	if first := firstOf(ranks); first > 0 {
		m.MRR = 1 / float64(first)
	}
	for _, n := range TokenSizes {
		m.WithinTokens[key(n)] = share(ranks, fit(hits, n, count))
		m.Packed[key(n)] = packed(q, hits, n, count)
	}
	return m
}

// ranksOf is the rank of the first hit that covers each line, 0 if none does.
func ranksOf(lines []Evidence, hits []retrieval.Hit) []int {
	out := make([]int, len(lines))
	for i, e := range lines {
		out[i] = 1 + slices.IndexFunc(hits, func(h retrieval.Hit) bool { return e.in(h.Path, h.StartLine, h.EndLine) })
	}
	return out
}

func (e Evidence) in(path string, from, to int) bool {
	return e.File == path && from <= e.Line && e.Line <= to
}

// share is how many of the ranks are among the first k.
func share(ranks []int, k int) float64 {
	n := 0
	for _, r := range ranks {
		if 0 < r && r <= k {
			n++
		}
	}
	return float64(n) / float64(len(ranks))
}

// firstOf is the best of the ranks, 0 if there is none.
func firstOf(ranks []int) int {
	best := 0
	for _, r := range ranks {
		if r > 0 && (best == 0 || r < best) {
			best = r
		}
	}
	return best
}

func ndcg(ranks []int, k int) float64 {
	got, ideal := 0.0, 0.0
	for i, r := range ranks {
		if 0 < r && r <= k {
			got += gain(r)
		}
		if i < k {
			ideal += gain(i + 1)
		}
	}
	return min(got/ideal, 1)
}

func gain(rank int) float64 { return 1 / math.Log2(1+float64(rank)) }

// fit is how many of the first hits have at most so many tokens together.
func fit(hits []retrieval.Hit, tokens int, count func(string) int) int {
	for i, h := range hits {
		if tokens -= count(h.Text); tokens < 0 {
			return i
		}
	}
	return len(hits)
}

func packed(q Question, hits []retrieval.Hit, tokens int, count func(string) int) float64 {
	items := retrieval.Pack(hits, &retrieval.PackOptions{Tokens: tokens, Count: count}).Items
	n := 0
	for _, e := range q.Evidence {
		if slices.ContainsFunc(items, func(it retrieval.Item) bool { return it.Path == e.File && it.Shows(e.Line) }) {
			n++
		}
	}
	return float64(n) / float64(len(q.Evidence))
}
