package relevance

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/retrieval"
)

// Each weight has its knob, whose grid holds the value in use.
func TestKnobs(t *testing.T) {
	fields := reflect.TypeFor[retrieval.Signals]()
	if len(knobs) != fields.NumField() {
		t.Errorf("%d knobs for %d weights", len(knobs), fields.NumField())
	}
	for i := range fields.NumField() {
		name := strings.ToLower(fields.Field(i).Name)
		k, err := knobNamed(name)
		if err != nil {
			t.Errorf("%s has no knob", name)
			continue
		}
		if got := k.Of(k.At(retrieval.Signals{}, .25)); got != .25 {
			t.Errorf("%s is %v after it was set to .25", name, got)
		}
		inUse, found := k.Of(retrieval.DefaultSignals()), false
		for _, v := range k.Values {
			found = found || v == inUse
		}
		if !found {
			t.Errorf("%s: %v is not on the grid %v", name, inUse, k.Values)
		}
	}
	if _, err := knobNamed("luck"); err == nil || !strings.Contains(err.Error(), "before") {
		t.Errorf("an unknown name gives %v, want the names there are", err)
	}
}

// The value between two good ones is taken before a better one between bad ones.
func TestFlattest(t *testing.T) {
	for _, tc := range []struct {
		goals []float64
		want  int
	}{{[]float64{.1, .9, .1, .8, .85, .8}, 4}, {[]float64{.5}, 0}, {[]float64{.3, .3, .3}, 0}, {[]float64{.1, .2, .9}, 2}} {
		if got := flattest(tc.goals); got != tc.want {
			t.Errorf("%v: %d, want %d", tc.goals, got, tc.want)
		}
	}
}

func TestTuner(t *testing.T) {
	a, b := open(t, "testdata/tiny"), open(t, "testdata/languages/vi")
	b.Questions = b.Questions[:8]
	tu := newTuner([]*Bench{a, b}, retrieval.Options{}, time.Time{})
	out, err := tu.Ablate(t.Context(), retrieval.DefaultSignals())
	if err != nil || len(out) != len(knobs)-2 {
		t.Fatalf("%d signals were taken out, want %d: %v", len(out), len(knobs)-2, err)
	}
	for _, x := range out {
		if len(x.Differences) != len(figures) || x.Value == x.Off {
			t.Errorf("%+v", x)
		}
	}
	folds, err := tu.LeaveOneOut(t.Context(), retrieval.DefaultSignals())
	if err != nil || len(folds) != 2 {
		t.Fatalf("%v: %v", folds, err)
	}
	if f := folds[0]; f.Set != "tiny" || f.Unseen.Questions != 4 || f.Given.RecallAt10 != 2.5/4 || len(f.Chosen) != len(knobs) {
		t.Errorf("%+v", f)
	}
	if _, err := newTuner([]*Bench{a}, retrieval.Options{}, time.Time{}).LeaveOneOut(t.Context(), retrieval.DefaultSignals()); err == nil {
		t.Error("one set alone can't be left out, and no error says so")
	}
	if a.Unpacked || b.Unpacked {
		t.Error("the sets are left as the tuner needs them")
	}
}
