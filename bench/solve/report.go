package solve

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Suite names the tasks and the policies of a run.
type Suite struct {
	// Windows are context windows in tokens. Variants is the number of tasks of each kind in each
	// language.
	Windows  []int
	Variants int
	Policies []string
	Options
	// Progress is called with the number of finished tasks and of all tasks. It may be nil.
	Progress func(done, all int)
}

// Report is the result of a suite.
type Report struct {
	Rows     []Row     `json:"rows"`
	Outcomes []Outcome `json:"tasks"`
}

// Row sums up the outcomes of a policy in a window.
type Row struct {
	Window int    `json:"window"`
	Policy string `json:"policy"`
	Tasks  int    `json:"tasks"`
	Solved int    `json:"solved"`
	// ByKind has the number of solved tasks of each kind, in the order of [Kinds].
	ByKind     []int   `json:"solved_by_task"`
	Calls      int     `json:"calls"`
	Expansions int     `json:"expansions"`
	Cuts       int     `json:"cuts"`
	Overflows  int     `json:"overflows"`
	CostUSD    float64 `json:"cost_usd"`
}

// RunAll runs the tasks of a suite, several at once.
func RunAll(ctx context.Context, s Suite) (*Report, error) {
	type job struct {
		task   *Task
		policy string
	}
	var jobs []job
	for _, w := range s.Windows {
		tasks := Tasks(w, s.Variants)
		for _, p := range s.Policies {
			for _, t := range tasks {
				jobs = append(jobs, job{t, p})
			}
		}
	}
	out := make([]Outcome, len(jobs))
	errs := make([]error, len(jobs))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var next, done atomic.Int32
	var all sync.WaitGroup
	var told sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		all.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(jobs) && ctx.Err() == nil; n = int(next.Add(1)) - 1 {
				if out[n], errs[n] = Run(ctx, jobs[n].task, jobs[n].policy, s.Options); errs[n] != nil {
					errs[n] = fmt.Errorf("%s under %s: %w", jobs[n].task.Name(), jobs[n].policy, errs[n])
					stop()
				}
				if d := int(done.Add(1)); s.Progress != nil {
					told.Lock()
					s.Progress(d, len(jobs))
					told.Unlock()
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := &Report{}
	for i := range out {
		r.Add(out[i])
	}
	return r, nil
}

// Add counts an outcome.
func (r *Report) Add(o Outcome) {
	r.Outcomes = append(r.Outcomes, o)
	i := slices.IndexFunc(r.Rows, func(w Row) bool { return w.Window == o.Window && w.Policy == o.Policy })
	if i < 0 {
		i = len(r.Rows)
		r.Rows = append(r.Rows, Row{Window: o.Window, Policy: o.Policy, ByKind: make([]int, len(taskKinds))})
	}
	w := &r.Rows[i]
	w.Tasks++
	w.Calls, w.Expansions, w.Cuts, w.Overflows, w.CostUSD = w.Calls+o.Calls, w.Expansions+o.Expansions, w.Cuts+o.Cuts, w.Overflows+o.Overflows, w.CostUSD+o.CostUSD
	if o.Solved {
		w.Solved++
		w.ByKind[slices.Index(Kinds(), o.Kind)]++
	}
}

// Markdown returns the report as a table. The bill includes the answers. The column over counts
// requests that no provider would accept.
func (r *Report) Markdown() string {
	var b strings.Builder
	b.WriteString("| window | policy | solved | " + strings.Join(Kinds(), " | ") + " | bill | calls | pages fetched | cuts | over |\n|---|---|---|" + strings.Repeat("---|", len(taskKinds)+5) + "\n")
	for _, w := range r.Rows {
		fmt.Fprintf(&b, "| %dk | %s | %d of %d |", w.Window/1000, w.Policy, w.Solved, w.Tasks)
		for _, n := range w.ByKind {
			fmt.Fprintf(&b, " %d |", n)
		}
		fmt.Fprintf(&b, " $%.2f | %d | %d | %d | %d |\n", w.CostUSD, w.Calls, w.Expansions, w.Cuts, w.Overflows)
	}
	return b.String()
}
