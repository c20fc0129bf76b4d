package paging

import (
	"slices"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// The kernel loses no change at a boundary and no rule at a compaction, and whatever
// stays of a result that it was shown can be followed up to a reset.
func TestKernelPolicy(t *testing.T) {
	for _, w := range families() {
		if !suite.Long() && w.Name != "interruption-heavy" && w.Name != "lifecycle-torture" {
			continue
		}
		r := ran(t, w, kernelPolicy, 180)
		if r.Faults[paging.FlushMiss]+r.Faults[paging.PostCompactionBootstrap]+r.Faults[paging.PinnedInvariantMiss] > 0 {
			t.Errorf("%s: %v", w.Name, r.Faults)
		}
		if !resets(w) && r.Explicit > 0 {
			t.Errorf("%s: %+v", w.Name, r.Events)
		}
		if r.Turns != len(w.Turns) || r.Tokens > 180*int64(r.Turns) || r.Hits == 0 {
			t.Errorf("%s: %d turns, %.0f tokens a turn, %d hits", w.Name, r.Turns, float64(r.Tokens)/float64(r.Turns), r.Hits)
		}
	}
}

func resets(w *workload) bool {
	return slices.ContainsFunc(w.Turns, func(t turn) bool { return slices.Contains(t.Events, eventReset) })
}

// The player sees a page where its words are, and nowhere else.
func TestWritten(t *testing.T) {
	p := &page{ID: "rule", Type: pagevm.Constraint, Tokens: paging.Tokens{Full: 4, Structured: 2}}
	main, rest := lines(p, "main", 2), lines(p, "rest", 2)
	join := func(ls ...[]string) (text string) {
		for _, l := range ls {
			for _, s := range l {
				text += s + "\n"
			}
		}
		return text
	}
	for want, text := range map[pagevm.Level]string{
		pagevm.Full: join(main, rest), pagevm.Structured: join(main), pagevm.Gone: join(main[1:], rest),
	} {
		if got := written(p, text); got != want {
			t.Errorf("%v, want %v:\n%s", got, want, text)
		}
	}
}

// What must be pinned and does not fit anywhere is missed, by whoever assembles.
func TestKernelUnderStarvation(t *testing.T) {
	r := ran(t, starvation(), kernelPolicy, starvedBudget)
	if n := r.Faults[paging.PinnedInvariantMiss]; n == 0 || n != r.Insufficient {
		t.Errorf("%d pinned misses, %d for want of room", n, r.Insufficient)
	}
}

// The kernel's own table has no pinned page missing but where the budget is too small.
func TestKernelTable(t *testing.T) {
	if !suite.Long() {
		t.Skip("some ten seconds; MEMKERNEL_LONG=1")
	}
	own, err := kernelTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + own.text())
	narrow(t, own)
}
