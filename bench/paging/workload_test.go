package paging

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm/paging"
)

// everyWorkload lists all workloads that rules make.
func everyWorkload() []*workload {
	return slices.Concat(families(), []*workload{starvation(), churn(), cascade()}, tasks())
}

// TestTasks: there are thirty tasks of 5 to 14 turns.
func TestTasks(t *testing.T) {
	if n := len(tasks()); n != 30 {
		t.Errorf("%d tasks, want 30", n)
	}
	for _, w := range tasks() {
		if n := len(w.Turns); n < 5 || n > 14 && strings.HasSuffix(w.Name, "-01") {
			t.Errorf("task %s has %d turns, want 5 to 14", w.Name, n)
		}
	}
}

func ran(t *testing.T, w *workload, name string, budget int) *result {
	t.Helper()
	r, err := run(t.Context(), w, policies[name], budget)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClawVMHasNoGap: at every budget from starved to loose, where the minimum set
// fits there is no fault, and where it does not the oracle has as many.
func TestClawVMHasNoGap(t *testing.T) {
	for _, w := range everyWorkload() {
		for _, budget := range []int{40, 80, 120, 180, 240, 300, 360, 500} {
			r := ran(t, w, "clawvm", budget)
			if r.MinimumFits && (r.Explicit != 0 || r.Faults[paging.PinnedInvariantMiss] != 0) {
				t.Errorf("%s at %d: %v although the minimum set fits", w.Name, budget, r.Faults)
			}
			if best := ran(t, w, "oracle", budget); r.MinimumFits && r.Explicit != best.Explicit {
				t.Errorf("%s at %d: %d faults, the oracle has %d", w.Name, budget, r.Explicit, best.Explicit)
			}
			if r.Insufficient > 0 && r.MinimumFits {
				t.Errorf("%s at %d: %d faults blamed on a budget that is large enough", w.Name, budget, r.Insufficient)
			}
		}
	}
}

// TestSameInputSameResult: a run is a function of its input, turn by turn.
func TestSameInputSameResult(t *testing.T) {
	for _, w := range families() {
		first, second := newEngine(w, policies["oracle"], 180), newEngine(w, policies["oracle"], 180)
		for i := range w.Turns {
			if a, b := first.step(i), second.step(i); !reflect.DeepEqual(a, b) {
				t.Errorf("%s, turn %d: %+v and %+v", w.Name, i+1, a, b)
			}
		}
	}
}

func TestRegressions(t *testing.T) {
	for _, g := range regressions {
		if err := g.run(t.Context()); err != nil {
			t.Error(err)
		}
		if g.policy = policies["clawvm"]; g.code != paging.SilentRecall && g.code != "" {
			if err := g.run(t.Context()); err == nil {
				t.Errorf("%s is raised under the whole policy, too", g.name)
			}
		}
	}
}

// TestForetell: the oracle gets the demands of its session's next turns, no more.
func TestForetell(t *testing.T) {
	b := build("w", "m", "n")
	ev := b.evidence("m", 2, 9, 6, 4, 1)
	other := b.evidence("n", 1, 9, 6, 4, 1)
	for _, ids := range [][]string{{}, {ev[0]}, {ev[1]}, {ev[0], ev[1]}, {ev[0]}} {
		b.turn("m").demand(ids...)
		b.turn("n").demand(other[0])
	}
	for horizon, want := range map[int][2]int{1: {1, 0}, 3: {2, 2}, 9: {3, 2}} {
		e := newEngine(&b.w, with("oracle", func(p *policy) { p.horizon = horizon }), 100)
		e.step(0)
		if s := e.sessions["m"]; s.of[ev[0]].future != want[0] || s.of[ev[1]].future != want[1] {
			t.Errorf("horizon %d: %d and %d, want %v", horizon, s.of[ev[0]].future, s.of[ev[1]].future, want)
		}
	}
}
