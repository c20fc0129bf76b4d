package relevance

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// report is the result of a set of questions.
type report struct {
	Metrics
	// Categories has the same figures by the category of the questions.
	Categories map[string]category `json:"categories"`
	// Intervals has the interval of each mean, by the mean's JSON name.
	Intervals map[string]interval `json:"intervals"`
}

// category is the result of the questions of a category.
type category struct {
	Metrics
	Intervals map[string]interval `json:"intervals"`
}

// interval is the 95 % confidence interval of a mean, by the normal distribution. It treats the
// questions as a sample of all questions that could be asked.
type interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// normal95 is the quantile of the normal distribution that leaves 2.5 % above it.
const normal95 = 1.96

// intervalOf returns the interval of the mean of values.
func intervalOf(values []float64) interval {
	n, sum, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := 0.0
	if n > 1 {
		half = normal95 * math.Sqrt(squares/(n-1)/n)
	}
	return interval{mean - half, mean + half}
}

// Sum makes a report of answers.
func Sum(answers []Answer) report {
	by := map[string][]Answer{}
	for _, a := range answers {
		by[a.Category] = append(by[a.Category], a)
	}
	all := sum(answers)
	r := report{all.Metrics, map[string]category{}, all.Intervals}
	for c, as := range by {
		r.Categories[c] = sum(as)
	}
	return r
}

// sum returns the means of answers with their intervals.
func sum(answers []Answer) category {
	var all Metrics
	for _, a := range answers {
		all.add(a.Metrics)
	}
	c := category{all.mean(), map[string]interval{}}
	for _, f := range figures {
		values := make([]float64, len(answers))
		for i := range answers {
			values[i] = f.Of(answers[i].Metrics)
		}
		c.Intervals[f.Name] = intervalOf(values)
	}
	return c
}

// figure is a figure of Metrics with its JSON name.
type figure struct {
	Name string
	Of   func(Metrics) float64
}

// figures lists the figures that have intervals and differences.
var figures = []figure{
	{"recall_at_1", func(m Metrics) float64 { return m.RecallAt1 }},
	{"recall_at_5", func(m Metrics) float64 { return m.RecallAt5 }},
	{"recall_at_10", func(m Metrics) float64 { return m.RecallAt10 }},
	{"mrr", func(m Metrics) float64 { return m.MRR }},
	{"ndcg_at_10", func(m Metrics) float64 { return m.NDCGAt10 }},
	{"file_hit_at_1", func(m Metrics) float64 { return m.FileHitAt1 }},
	{"file_ndcg_at_5", func(m Metrics) float64 { return m.FileNDCGAt5 }},
	{"recall_within_500", func(m Metrics) float64 { return m.WithinTokens["500"] }},
	{"recall_within_1000", func(m Metrics) float64 { return m.WithinTokens["1000"] }},
	{"recall_within_2000", func(m Metrics) float64 { return m.WithinTokens["2000"] }},
	{"recall_packed_2000", func(m Metrics) float64 { return m.Packed["2000"] }},
}

// difference is how much higher a figure is in a second run than in the first, compared question
// by question, with the 95 % interval of the paired bootstrap.
type difference struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	interval
}

// Mark returns * if the difference is beyond chance, and otherwise a space.
func (d difference) Mark() string {
	if d.Low > 0 || d.High < 0 {
		return "*"
	}
	return " "
}

// resamples is the number of samples that Compare draws. A sample has as many questions as a run.
const resamples = 1000

// differences holds the differences of all figures.
type differences []difference

// Of returns the difference of a figure, by its name.
func (ds differences) Of(figure string) difference {
	return ds[slices.IndexFunc(ds, func(d difference) bool { return d.Name == figure })]
}

// Compare returns how a second run over the same questions differs from the
// first. The same answers give the same intervals.
func Compare(first, second []Answer) differences {
	rows := make([][]float64, len(first))
	for i := range first {
		rows[i] = make([]float64, len(figures))
		for j, f := range figures {
			rows[i][j] = f.Of(second[i].Metrics) - f.Of(first[i].Metrics)
		}
	}
	means := make([][]float64, len(figures))
	rng := rand.New(rand.NewPCG(1, uint64(len(rows))))
	for range resamples {
		sums := make([]float64, len(figures))
		for range rows {
			for j, v := range rows[rng.IntN(len(rows))] {
				sums[j] += v
			}
		}
		for j, sum := range sums {
			means[j] = append(means[j], sum/float64(len(rows)))
		}
	}
	var out differences
	for j, f := range figures {
		sum := 0.0
		for _, r := range rows {
			sum += r[j]
		}
		slices.Sort(means[j])
		out = append(out, difference{f.Name, sum / float64(len(rows)), interval{means[j][resamples/40], means[j][resamples-1-resamples/40]}})
	}
	return out
}

// Metrics are means over questions. The package comment describes them.
type Metrics struct {
	Questions    int     `json:"questions"`
	RecallAt1    float64 `json:"recall_at_1"`
	RecallAt5    float64 `json:"recall_at_5"`
	RecallAt10   float64 `json:"recall_at_10"`
	MRR          float64 `json:"mrr"`
	NDCGAt10     float64 `json:"ndcg_at_10"`
	FileHitAt1   float64 `json:"file_hit_at_1"`
	FileNDCGAt5  float64 `json:"file_ndcg_at_5"`
	WithinTokens sizes   `json:"recall_within_tokens"`
	Packed       sizes   `json:"recall_packed"`
}

// sizes maps a number of tokens, in digits, to the recall within it.
type sizes map[string]float64

// tokenSizes holds the numbers of tokens within which recall is judged.
var tokenSizes = [...]int{500, 1000, 2000}

// key returns the key of a number of tokens in sizes.
func key(tokens int) string { return strconv.Itoa(tokens) }

// add adds o to the sums.
func (m *Metrics) add(o Metrics) {
	m.Questions += o.Questions
	m.RecallAt1 += o.RecallAt1
	m.RecallAt5 += o.RecallAt5
	m.RecallAt10 += o.RecallAt10
	m.MRR += o.MRR
	m.NDCGAt10 += o.NDCGAt10
	m.FileHitAt1 += o.FileHitAt1
	m.FileNDCGAt5 += o.FileNDCGAt5
	m.WithinTokens = m.WithinTokens.plus(o.WithinTokens)
	m.Packed = m.Packed.plus(o.Packed)
}

func (s sizes) plus(o sizes) sizes {
	out := sizes{}
	for _, n := range tokenSizes {
		out[key(n)] = s[key(n)] + o[key(n)]
	}
	return out
}

func (s sizes) over(n float64) sizes {
	out := sizes{}
	for k, v := range s {
		out[k] = v / n
	}
	return out
}

// mean returns the means of sums.
func (m Metrics) mean() Metrics {
	n := float64(m.Questions)
	m.RecallAt1, m.RecallAt5, m.RecallAt10 = m.RecallAt1/n, m.RecallAt5/n, m.RecallAt10/n
	m.MRR, m.NDCGAt10 = m.MRR/n, m.NDCGAt10/n
	m.FileHitAt1, m.FileNDCGAt5 = m.FileHitAt1/n, m.FileNDCGAt5/n
	m.WithinTokens, m.Packed = m.WithinTokens.over(n), m.Packed.over(n)
	return m
}
