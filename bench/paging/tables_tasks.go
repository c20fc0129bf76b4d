package paging

import (
	"context"
	"fmt"
	"strings"
)

// table7 counts the tasks without an explicit fault, by kind.
func table7(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Table 7", Title: "tasks without explicit fault, by kind", Columns: []string{"hybrid 180", "hybrid 300", "clawvm 180", "clawvm 300"},
		Note: "Which tasks are compacted is a rule of ours; that rules then do not fit at\n180 and do at 300 is a matter of sizes."}
	paper := map[string][4]float64{"coding": {9, 9, 9, 9}, "debugging": {1, 8, 8, 8}, "writing": {2, 2, 2, 2}, "ops": {11, 11, 11, 11}}
	for _, k := range kinds {
		some := tasksOf(k.name)
		var cells []Cell
		for i, c := range taskRuns {
			s, err := sumByName(ctx, some, c.policy, c.budget)
			if err != nil {
				return nil, err
			}
			kind := Structural
			if k.compacts > 0 && c.policy == "comp-hybrid" {
				kind = Shaped
			}
			cells = append(cells, cell(kind, float64(s.Clean), paper[k.name][i]))
		}
		t.row(fmt.Sprintf("%s (%d)", k.name, k.n), cells...)
	}
	return t, nil
}

// tasksOf returns the tasks of a kind.
func tasksOf(kind string) (some []*Workload) {
	for _, w := range tasks() {
		if strings.HasPrefix(w.Name, kind+"-") {
			some = append(some, w)
		}
	}
	return some
}

var taskRuns = []struct {
	policy string
	budget int
	// paper has the paper's success in percent, faults and tokens per task, thrash, and median
	// time of a decision in microseconds.
	paper [5]float64
}{
	{"comp-hybrid", 180, [5]float64{76.7, 0.23, 1607, 1.36, 170}},
	{"comp-hybrid", 300, [5]float64{100, 0, 2649, 1.36, 164}},
	{"clawvm", 180, [5]float64{100, 0, 1605, 1.36, 167}},
	{"clawvm", 300, [5]float64{100, 0, 2639, 1.36, 166}},
}

// table8 replays the thirty tasks. Times depend on the machine and are left to the
// benchmarks and to the JSON of a single run.
func table8(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Table 8", Title: "30 tasks at two budgets", Columns: []string{"success %", "faults/task", "tokens/task", "thrash"}, digits: []int{1, 2, 0, 2}}
	for _, c := range taskRuns {
		s, err := sumByName(ctx, tasks(), c.policy, c.budget)
		if err != nil {
			return nil, err
		}
		kind := Structural
		if c.policy == "comp-hybrid" {
			kind = Shaped
		}
		t.row(fmt.Sprintf("%s %d", c.policy, c.budget), cell(kind, 100*s.mean(float64(s.Clean)), c.paper[0]), cell(kind, s.mean(float64(s.Explicit)), c.paper[1]),
			cell(Ours, s.mean(float64(s.Tokens)), c.paper[2]), cell(Ours, s.mean(s.Thrash), c.paper[3]))
	}
	return t, nil
}

// table9 runs the stress tests. Its totals count pinned misses in addition to the explicit
// faults, as the paper's totals do.
func table9(ctx context.Context) (*Table, error) {
	t := &Table{Name: "Table 9", Title: "stress tests: explicit faults and pinned misses", Columns: []string{"bootstrap", "pinned", "flush", "dup+refetch"},
		Note: "All pinned misses are marked budget_insufficient."}
	for _, r := range []struct {
		workload, policy string
		boot             Kind
		paper            [4]float64
	}{
		{"starvation", "retrieval", Structural, [4]float64{0, 10, 0, 0}},
		{"starvation", "comp-hybrid", Structural, [4]float64{0, 10, 0, 0}},
		{"starvation", "clawvm", Structural, [4]float64{0, 10, 0, 0}},
		{"churn", "retrieval", Structural, [4]float64{9, 0, 9, 280}},
		{"churn", "comp-hybrid", Shaped, [4]float64{9, 0, 0, 0}},
		{"churn", "clawvm", Structural, [4]float64{}},
		{"cascade", "retrieval", Structural, [4]float64{4, 0, 13, 60}},
		{"cascade", "comp-hybrid", Shaped, [4]float64{0, 0, 7, 0}},
		{"cascade", "clawvm", Structural, [4]float64{}},
	} {
		w, err := ByName(r.workload)
		if err != nil {
			return nil, err
		}
		s, err := sumByName(ctx, []*Workload{w}, r.policy, BudgetOf(r.workload))
		if err != nil {
			return nil, err
		}
		if s.Insufficient != s.Pinned {
			t.Note = fmt.Sprintf("%d of %d pinned misses are marked budget_insufficient.", s.Insufficient, s.Pinned)
		}
		t.row(strings.TrimSuffix(r.workload, "ation")+" "+strings.TrimPrefix(r.policy, "comp-"), cell(r.boot, float64(s.Bootstrap), r.paper[0]), cell(Structural, float64(s.Pinned), r.paper[1]),
			cell(Structural, float64(s.Flush), r.paper[2]), cell(Structural, float64(s.Repeated), r.paper[3]))
	}
	return t, nil
}
