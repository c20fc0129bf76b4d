package paging

import (
	"context"
	"fmt"
)

// KernelTable returns the figures of the kernel itself in the same workloads (see kernelPolicy):
// families at all budgets, the stress tests, and the tasks. The kernel does not know a demand
// before it plans. Its figures are not compared with the paper's.
func KernelTable(ctx context.Context) (*Table, error) {
	t := &Table{Name: kernelPolicy, Title: "the kernel, driven through its public calls; sums over all runs",
		Columns: []string{"runs", "without fault", "explicit", "pinned"},
		Note:    "clawvm and oracle are told each turn's demand before they assemble, and meet\nit by a pointer: their 0 is by construction. memkernel is told nothing."}
	p, err := PolicyByName(kernelPolicy)
	if err != nil {
		return nil, err
	}
	add := func(label string, ws []*Workload, budgets ...int) {
		s, bad := sumOf(ctx, ws, p, budgets...)
		if err == nil {
			err = bad
		}
		t.row(label, alone(float64(s.Runs)), alone(float64(s.Clean)), alone(float64(s.Explicit)), alone(float64(s.Pinned)))
	}
	for _, w := range Families() {
		add(w.Name, []*Workload{w}, budgets()...)
	}
	for _, w := range adversarial() {
		add(w.Name, []*Workload{w}, BudgetOf(w.Name))
	}
	for _, budget := range []int{180, 300} {
		add(fmt.Sprintf("30 tasks at %d", budget), tasks(), budget)
	}
	return t, err
}
