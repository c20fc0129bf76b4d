package relevance

import "strconv"

// Report is what a set of questions came to.
type Report struct {
	Metrics
	// Categories are the same by the questions' category.
	Categories map[string]Metrics `json:"categories"`
}

// Metrics are means over questions; see the package comment.
type Metrics struct {
	Questions    int     `json:"questions"`
	RecallAt1    float64 `json:"recall_at_1"`
	RecallAt5    float64 `json:"recall_at_5"`
	RecallAt10   float64 `json:"recall_at_10"`
	MRR          float64 `json:"mrr"`
	NDCGAt10     float64 `json:"ndcg_at_10"`
	WithinTokens Sizes   `json:"recall_within_tokens"`
	Packed       Sizes   `json:"recall_packed"`
}

// Sizes maps a number of tokens, in digits, to the recall within it.
type Sizes map[string]float64

// TokenSizes are the numbers of tokens within which recall is judged.
var TokenSizes = [...]int{1000, 2000}

// key is how a size is called in Sizes.
func key(tokens int) string { return strconv.Itoa(tokens) }

// add sums up.
func (m *Metrics) add(o Metrics) {
	m.Questions += o.Questions
	m.RecallAt1 += o.RecallAt1
	m.RecallAt5 += o.RecallAt5
	m.RecallAt10 += o.RecallAt10
	m.MRR += o.MRR
	m.NDCGAt10 += o.NDCGAt10
	m.WithinTokens = m.WithinTokens.plus(o.WithinTokens)
	m.Packed = m.Packed.plus(o.Packed)
}

func (s Sizes) plus(o Sizes) Sizes {
	out := Sizes{}
	for _, n := range TokenSizes {
		out[key(n)] = s[key(n)] + o[key(n)]
	}
	return out
}

func (s Sizes) over(n float64) Sizes {
	out := Sizes{}
	for k, v := range s {
		out[k] = v / n
	}
	return out
}

// mean turns sums into means.
func (m Metrics) mean() Metrics {
	n := float64(m.Questions)
	m.RecallAt1, m.RecallAt5, m.RecallAt10 = m.RecallAt1/n, m.RecallAt5/n, m.RecallAt10/n
	m.MRR, m.NDCGAt10 = m.MRR/n, m.NDCGAt10/n
	m.WithinTokens, m.Packed = m.WithinTokens.over(n), m.Packed.over(n)
	return m
}
