package relevance

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/retrieval"
)

// Each weight can be set by its name.
func TestKnobs(t *testing.T) {
	for _, k := range knobs() {
		var s retrieval.Signals
		*k.in(&s) = .25
		if named, err := knobNamed(string(k)); err != nil || named != k || s == (retrieval.Signals{}) {
			t.Errorf("%s: %v, %+v", k, err, s)
		}
	}
	for _, f := range factors {
		if !slices.Contains(knobs(), knob(f)) {
			t.Errorf("there is no weight %s", f)
		}
	}
	if _, err := knobNamed("luck"); err == nil || !strings.Contains(err.Error(), "before") {
		t.Errorf("an unknown name gives %v, want the names there are", err)
	}
}

func TestAblate(t *testing.T) {
	b := open(t, "testdata/tiny")
	out, err := ablate(retrieval.DefaultSignals(), func(s retrieval.Signals) ([]Answer, error) {
		return b.Ask(t.Context(), &retrieval.Options{Signals: s}, dayAfter(t, b))
	})
	if err != nil || len(out) != len(knobs())-2 {
		t.Fatalf("%d signals were taken out, want %d: %v", len(out), len(knobs())-2, err)
	}
	for _, x := range out {
		if len(x.Differences) != len(figures) || x.Value == x.Off {
			t.Errorf("%+v", x)
		}
	}
}
