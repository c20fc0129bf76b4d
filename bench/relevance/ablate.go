package relevance

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/retrieval"
)

// factors are the weights that have no effect at 1. All other weights have none at 0.
var factors = []string{"speaker", "time", "told", "tagged"}

// knob is a weight of retrieval.Signals, by the name of its field in small letters.
type knob string

// knobs lists the weights. K1 and B are not separate signals. With K1 at 0 a word counts once, and
// with B at 0 length doesn't count.
func knobs() (out []knob) {
	t := reflect.TypeFor[retrieval.Signals]()
	for i := range t.NumField() {
		out = append(out, knob(strings.ToLower(t.Field(i).Name)))
	}
	return out
}

// knobNamed returns the knob with a name.
func knobNamed(name string) (knob, error) {
	all := knobs()
	if !slices.Contains(all, knob(name)) {
		return "", fmt.Errorf("there is no signal %q; there are %s", name, strings.Trim(fmt.Sprint(all), "[]"))
	}
	return knob(name), nil
}

// off is the value at which the signal has no effect.
func (k knob) off() float64 {
	if slices.Contains(factors, string(k)) {
		return 1
	}
	return 0
}

// in returns the value of this knob in the weights.
func (k knob) in(s *retrieval.Signals) *float64 {
	v := reflect.ValueOf(s).Elem().FieldByNameFunc(func(n string) bool { return strings.ToLower(n) == string(k) })
	return v.Addr().Interface().(*float64)
}

// ablation holds the differences of the figures that leaving out one signal makes.
type ablation struct {
	Signal string `json:"signal"`
	// Value is the weight of the signal. Off is the value that replaces it when the signal is
	// taken out.
	Value       float64     `json:"value"`
	Off         float64     `json:"off"`
	Differences differences `json:"differences"`
}

// ablate takes each signal of s except K1 and B out once. It skips signals that are already off. ask
// returns the answers to all questions with given weights.
func ablate(s retrieval.Signals, ask func(retrieval.Signals) ([]Answer, error)) ([]ablation, error) {
	with, err := ask(s)
	if err != nil {
		return nil, err
	}
	out := []ablation{}
	for _, k := range knobs() {
		value := *k.in(&s)
		if k == "k1" || k == "b" || value == k.off() {
			continue
		}
		less := s
		*k.in(&less) = k.off()
		without, err := ask(less)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", k, err)
		}
		out = append(out, ablation{string(k), value, k.off(), Compare(with, without)})
	}
	return out, nil
}
