package relevance

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/retrieval"
)

// Weights that were chosen on a set look better on that set than on others. To measure the
// difference, weights are chosen on all sets except one, and judged on that set.

// fold is the result of one set that was left out when weights were chosen.
type fold struct {
	Set string `json:"set"`
	// Unseen has the figures with the weights chosen on the other sets. Given has the figures
	// with the weights in use. Bare has the figures of BM25 without any signal.
	Unseen Metrics `json:"unseen"`
	Given  Metrics `json:"given"`
	Bare   Metrics `json:"bare"`
	// Chosen has the weights chosen on the other sets, by the names of the knobs.
	Chosen map[string]float64 `json:"chosen"`
}

// LeaveOneOut makes a fold of each set. The choice does not know the weights in use.
func (t *tuner) LeaveOneOut(ctx context.Context, given retrieval.Signals) ([]fold, error) {
	if len(t.benches) < 2 {
		return nil, fmt.Errorf("to leave one set out takes two at least, there is %d", len(t.benches))
	}
	var out []fold
	for i, b := range t.benches {
		others := append(t.all()[:i], t.all()[i+1:]...)
		chosen, err := t.Choose(ctx, others)
		if err != nil {
			return nil, err
		}
		f := fold{Set: b.Name, Chosen: map[string]float64{}}
		for _, k := range knobs {
			f.Chosen[k.Name] = k.Of(chosen)
		}
		for _, x := range []struct {
			to *Metrics
			s  retrieval.Signals
		}{{&f.Unseen, chosen}, {&f.Given, given}, {&f.Bare, bare()}} {
			answers, err := t.Ask(ctx, []int{i}, x.s)
			if err != nil {
				return nil, err
			}
			*x.to = Sum(answers).Metrics
		}
		out = append(out, f)
	}
	return out, nil
}

// rounds is how often Choose goes through all knobs at most.
const rounds = 2

// Choose finds weights for some sets. It starts with bare BM25, and chooses for one knob after
// the other the value with the best goal. A single good value between bad values is chance, so
// the neighbours of a value on the grid count half each.
func (t *tuner) Choose(ctx context.Context, sets []int) (retrieval.Signals, error) {
	s := bare()
	for range rounds {
		before := s
		for _, k := range knobs {
			goals := make([]float64, len(k.Values))
			for i, v := range k.Values {
				answers, err := t.Ask(ctx, sets, k.At(s, v))
				if err != nil {
					return s, err
				}
				goals[i] = goal(answers)
			}
			s = k.At(s, k.Values[flattest(goals)])
		}
		if s == before {
			break
		}
	}
	return s, nil
}

// bare returns weights without any signal, with the textbook constants of BM25.
func bare() retrieval.Signals {
	var s retrieval.Signals
	for _, k := range knobs {
		s = k.At(s, k.Off)
	}
	s.K1, s.B = 1.2, .75
	return s
}

// goal returns the figure by which weights are chosen. It is the mean of the figures that matter.
func goal(answers []Answer) float64 {
	sum := 0.0
	for _, a := range answers {
		sum += a.RecallAt10 + a.WithinTokens["1000"] + a.NDCGAt10
	}
	return sum / float64(3*len(answers))
}

// flattest returns the index with the best weighted mean of its goal and its neighbours' goals.
// Each neighbour counts half.
func flattest(goals []float64) int {
	best, top := 0, -1.0
	for i, g := range goals {
		sum, weight := g, 1.0
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(goals) {
				sum, weight = sum+goals[j]/2, weight+.5
			}
		}
		if sum/weight > top {
			best, top = i, sum/weight
		}
	}
	return best
}
