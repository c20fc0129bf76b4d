package relevance

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/memkernel/memkernel/retrieval"
)

// knob is a weight of retrieval.Signals that can be changed.
type knob struct {
	// Name is the name of the field in small letters.
	Name string
	// Off is the value at which the signal has no effect.
	Off float64
	// Values are the values to try, in order. The grid is coarse, because the effect of smaller
	// steps would be chance.
	Values []float64
}

// knobs lists all weights of retrieval.Signals. K1 and B are not separate signals. With K1 at 0 a
// word counts once, and with B at 0 length doesn't count.
var knobs = []knob{
	{"before", 0, []float64{0, .3, .45, .6, .75, .9}},
	{"behind", 0, []float64{0, .2, .4, .6}},
	{"away", 0, []float64{0, .15, .3, .45}},
	{"repeat", 0, []float64{0, .25, .5, .75, 1}},
	{"answer", 0, []float64{0, .4, .8, 1.2}},
	{"question", 0, []float64{0, .15, .3, .45}},
	{"session", 0, []float64{0, .25, .5, .75, 1}},
	{"apart", 0, []float64{0, .15, .3, .5, 1}},
	{"chunk", 0, []float64{0, .1, .2, .4}},
	{"speaker", 1, []float64{1, 1.15, 1.3, 1.5, 1.7}},
	{"name", 0, []float64{0, .35, .7, .9}},
	{"time", 1, []float64{1, 1.15, 1.3, 1.5}},
	{"told", 1, []float64{1, 1.08, 1.15, 1.3}},
	{"tagged", 1, []float64{1, 1.08, 1.2}},
	{"superseded", 0, []float64{0, .5, .8}},
	{"heading", 0, []float64{0, 1, 2, 3}},
	{"fact", 0, []float64{0, .25, .5, 1, 2}},
	{"spread", 0, []float64{0, .03, .06, .1}},
	{"feedback", 0, []float64{0, .05, .1, .15, .2}},
	{"k1", 0, []float64{.6, .9, 1.2, 1.6}},
	{"b", 0, []float64{.2, .4, .6, .75}},
}

// knobNamed returns the knob with a name.
func knobNamed(name string) (knob, error) {
	var names []string
	for _, k := range knobs {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return knob{}, fmt.Errorf("there is no signal %q; there are %s", name, strings.Join(names, ", "))
}

// At returns a copy of the weights with this knob at value.
func (k knob) At(s retrieval.Signals, value float64) retrieval.Signals {
	*k.field(&s) = value
	return s
}

// Of returns the value of this knob in the weights.
func (k knob) Of(s retrieval.Signals) float64 { return *k.field(&s) }

func (k knob) field(s *retrieval.Signals) *float64 {
	v := reflect.ValueOf(s).Elem().FieldByNameFunc(func(n string) bool { return strings.ToLower(n) == k.Name })
	return v.Addr().Interface().(*float64)
}
