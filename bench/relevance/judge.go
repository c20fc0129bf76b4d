package relevance

import (
	"math"
	"slices"

	"github.com/memkernel/memkernel/retrieval"
)

// rate rates the answer to one question, but for packed notes. hits must be in order. count
// returns the number of tokens in a text.
func rate(q Question, hits []retrieval.Hit, count func(string) int) Metrics {
	ranks, files := ranksOf(q.Evidence, hits), fileRanks(q.Evidence, hits)
	m := Metrics{
		Questions: 1, RecallAt1: share(ranks, 1), RecallAt5: share(ranks, 5), RecallAt10: share(ranks, 10),
		NDCGAt10: ndcg(ranks, 10), FileNDCGAt5: ndcg(files, 5), WithinTokens: sizes{}, Packed: sizes{},
	}
	if first := firstOf(ranks); first > 0 {
		m.MRR = 1 / float64(first)
	}
	if firstOf(files) == 1 {
		m.FileHitAt1 = 1
	}
	for _, n := range tokenSizes {
		m.WithinTokens[key(n)] = share(ranks, fit(hits, n, count))
	}
	return m
}

func (m *Metrics) pack(q Question, hits []retrieval.Hit, count func(string) int) {
	for _, n := range tokenSizes {
		m.Packed[key(n)] = packed(q, hits, n, count)
	}
}

// fileRanks returns, for each file that holds evidence, its rank among the files of the hits. The
// files are ranked by their first hits. The rank is 0 if the file has no hit.
func fileRanks(lines []Evidence, hits []retrieval.Hit) []int {
	rank, wanted := map[string]int{}, map[string]bool{}
	for _, h := range hits {
		if rank[h.Path] == 0 {
			rank[h.Path] = len(rank) + 1
		}
	}
	var out []int
	for _, e := range lines {
		if !wanted[e.File] {
			wanted[e.File] = true
			out = append(out, rank[e.File])
		}
	}
	return out
}

// ranksOf returns, for each line, the rank of the first hit that covers the line, or 0 if no hit
// covers it.
func ranksOf(lines []Evidence, hits []retrieval.Hit) []int {
	out := make([]int, len(lines))
	for i, e := range lines {
		out[i] = 1 + slices.IndexFunc(hits, func(h retrieval.Hit) bool { return e.in(h.Path, h.StartLine, h.EndLine) })
	}
	return out
}

func (e Evidence) in(path string, from, to int) bool {
	return e.File == path && from <= max(e.Line, e.EndLine) && e.Line <= to
}

// share returns the share of the ranks that are among the first k.
func share(ranks []int, k int) float64 {
	n := 0
	for _, r := range ranks {
		if 0 < r && r <= k {
			n++
		}
	}
	return float64(n) / float64(len(ranks))
}

// firstOf returns the best of the ranks, or 0 if no line has a rank.
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

// fit returns how many of the first hits together have at most a number of tokens.
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
		if slices.ContainsFunc(items, func(it retrieval.Item) bool { return it.Path == e.File && e.shown(it) }) {
			n++
		}
	}
	return float64(n) / float64(len(q.Evidence))
}

// shown reports whether a note shows any line of the evidence.
func (e Evidence) shown(it retrieval.Item) bool {
	for line := e.Line; line <= max(e.Line, e.EndLine); line++ {
		if it.Shows(line) {
			return true
		}
	}
	return false
}
