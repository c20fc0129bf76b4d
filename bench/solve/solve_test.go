package solve

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/bench/policies"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/replay"
)

const priced = "claude-opus-4-5"

// Whoever is shown everything solves every task: neither a task nor the reader asks for
// more than what was said.
func TestTasksCanBeSolved(t *testing.T) {
	r, err := RunAll(t.Context(), Suite{Windows: []int{16_000}, Variants: 1, Policies: []string{replay.Fullest}, Options: Options{PriceModel: priced}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Outcomes {
		if !o.Solved {
			t.Errorf("%s: %s", o.Name(), o.Why)
		}
	}
	if w := r.Rows[0]; w.Overflows == 0 || w.CostUSD <= 0 || w.Tasks != len(Kinds())*len(codes) {
		t.Errorf("%+v: all that is said has to be more than the window", w)
	}
}

// A task fails where what it needs was neither shown nor can be fetched.
func TestReaderKnowsNothingElse(t *testing.T) {
	for _, task := range Tasks(16_000, 1) {
		if task.Language != "en" || task.Kind == "plan" {
			continue
		}
		o, err := Run(t.Context(), task, policies.Turns+"-1", Options{PriceModel: priced})
		if err != nil || o.Solved != (task.Kind == "answer" && task.Seed%2 == 0) {
			t.Errorf("%s: solved %v, %v", task.Name(), o.Solved, err)
		}
	}
}

// The kernel solves as many as any policy that a provider would take.
func TestKernelSolvesAsManyAsAnyPolicy(t *testing.T) {
	policies := slices.DeleteFunc(replay.LivePolicies(), func(p string) bool { return p == replay.Fullest })
	s := Suite{Windows: []int{128_000}, Variants: 1, Policies: policies, Options: Options{PriceModel: priced}}
	if !suite.Long() {
		s.Policies = []string{replay.Memkernel}
	}
	r, err := RunAll(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Outcomes {
		if o.Policy == replay.Memkernel && !o.Solved {
			t.Errorf("%s: %s", o.Name(), o.Why)
		}
	}
	for _, w := range r.Rows {
		if w.Solved > r.Rows[0].Solved {
			t.Errorf("%s solves %d, the kernel %d", w.Policy, w.Solved, r.Rows[0].Solved)
		}
	}
	if md := r.Markdown(); !strings.Contains(md, "| 128k | memkernel | 24 of 24 | 4 | 4 |") {
		t.Error(md)
	}
}
