package paging

import (
	"context"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/pagevm/paging"
)

// KernelRows adds to the tables of [Tables] what the kernel itself comes to in
// the same workloads (see kernelPolicy), and two tables of its own. It gets
// no demand, and its figures are not compared with any figure of the paper.
func KernelRows(ctx context.Context, tables []*Table) ([]*Table, error) {
	k := kernelRuns{ctx: ctx, done: map[string]*Result{}}
	for _, t := range tables {
		k.add(t)
	}
	tables = append(tables, k.tasks(), k.scripted())
	return tables, k.err
}

// kernelRuns keeps what was run: the same workload at the same budget is in several
// tables. After an error it runs nothing.
type kernelRuns struct {
	ctx  context.Context
	done map[string]*Result
	err  error
}

func (k *kernelRuns) run(w *Workload, budget int) *Result {
	name := fmt.Sprintf("%s %d", w.Name, budget)
	if r := k.done[name]; r != nil || k.err != nil {
		return r
	}
	p, err := paging.ByName(kernelPolicy)
	if err == nil {
		k.done[name], err = Run(k.ctx, w, p, budget, Options{NoOracle: true})
	}
	k.err = err
	return k.done[name]
}

func (k *kernelRuns) sum(ws []*Workload, budgets ...int) (s Sum) {
	for _, w := range ws {
		for _, b := range budgets {
			if r := k.run(w, b); r != nil {
				s.add(r)
			}
		}
	}
	return s
}

// add adds the kernel's rows to a table that has room for them.
func (k *kernelRuns) add(t *Table) {
	switch t.Name {
	case "Table 3":
		k.regressions(t)
	case "Table 4":
		s := k.sum(Families(), budgets()...)
		t.row(kernelPolicy, alone(s.mean(float64(s.Explicit))), alone(s.mean(s.Thrash)))
		t.Note += "\nclawvm and oracle are told each turn's demand before they assemble, and meet\nit by a pointer: their 0 is by construction. memkernel is told nothing."
	case "Table 5", "Table 6":
		s := k.sum(Families(), 180)
		t.row(kernelPolicy, alone(float64(s.Bootstrap)), alone(float64(s.Flush)), alone(float64(s.Repeated)), alone(float64(s.Explicit)))
	case "LRU":
		s := k.sum(Families(), 120, 180, 240, 300)
		t.row(kernelPolicy, alone(float64(s.Explicit)), alone(s.mean(s.Thrash)))
	case "Table 8":
		for _, budget := range []int{180, 300} {
			s := k.sum(tasks(), budget)
			t.row(fmt.Sprintf("%s %d", kernelPolicy, budget), alone(100*s.mean(float64(s.Clean))), alone(s.mean(float64(s.Explicit))), alone(s.mean(float64(s.Tokens))), alone(s.mean(s.Thrash)))
		}
	case "Table 9":
		for _, w := range adversarial() {
			s := k.sum([]*Workload{w}, BudgetOf(w.Name))
			t.row(strings.TrimSuffix(w.Name, "ation")+" "+kernelPolicy, alone(float64(s.Bootstrap)), alone(float64(s.Pinned)), alone(float64(s.Flush)), alone(float64(s.Repeated)))
		}
	}
}

// regressions adds what the kernel makes of the scenarios of Table 3: faults and
// rejections, each of which the scenario wants to see raised by the policy that it is for.
func (k *kernelRuns) regressions(t *Table) {
	t.Columns = append(t.Columns, kernelPolicy)
	t.Note = kernelPolicy + ": faults and rejections of the kernel in the same scenario. A denied\nrecall is one under every policy."
	for i, g := range regressions() {
		s := k.sum([]*Workload{g.workload()}, BudgetOf(g.Name))
		t.Rows[i].Cells = append(t.Rows[i].Cells, alone(float64(s.Explicit)))
	}
}

// tasks is Table 7 for the kernel.
func (k *kernelRuns) tasks() *Table {
	t := &Table{Name: "Table 7, " + kernelPolicy, Title: "tasks without explicit fault, by kind", Columns: []string{"180", "300"}}
	for _, kind := range kinds {
		some := tasksOf(kind.name)
		t.row(fmt.Sprintf("%s (%d)", kind.name, kind.n), alone(float64(k.sum(some, 180).Clean)), alone(float64(k.sum(some, 300).Clean)))
	}
	return t
}

// scripted replaces the paper's Table 11, twenty live tasks. They took a
// production agent and a live model, which no command here can give: what is
// run is the first twenty of Table 7's tasks, played by a script, and the
// paper's times have no counterpart.
func (k *kernelRuns) scripted() *Table {
	t := &Table{Name: "Table 11, scripted", Title: "20 tasks, played by a script in the place of a live model", Columns: []string{"success", "faults"},
		Note: "The paper's table takes a live model and is not reproducible: these are other\ntasks, at budget 300, without times."}
	for _, policy := range []string{"comp-hybrid", "clawvm"} {
		s, err := sumByName(k.ctx, tasks()[:20], policy, 300)
		if err != nil && k.err == nil {
			k.err = err
		}
		t.row(policy, alone(float64(s.Clean)), alone(float64(s.Explicit)))
	}
	s := k.sum(tasks()[:20], 300)
	t.row(kernelPolicy, alone(float64(s.Clean)), alone(float64(s.Explicit)))
	return t
}
