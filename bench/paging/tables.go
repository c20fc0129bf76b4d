package paging

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// kind is the reason why a cell has its value.
type kind string

// The kinds of cells.
const (
	// structural cells follow from the rules of our workloads, which were chosen to give the
	// paper's figures. The sizes of pages and the order of upgrades do not change them.
	structural kind = "structural"
	// shaped cells have the paper's figures because the sizes of pages were chosen to give them.
	shaped kind = "shaped"
	// ours marks figures that were measured on workloads of our own.
	ours kind = "ours"
)

// cell is our figure and the paper's.
type cell struct {
	Ours float64 `json:"ours"`
	// Paper is nil if the paper has no figure.
	Paper *float64 `json:"paper"`
	Kind  kind     `json:"kind"`
}

// row is a line of a table.
type row struct {
	Label string `json:"label"`
	Cells []cell `json:"cells"`
}

// table is one of the paper's tables with our figures.
type table struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Columns []string `json:"columns"`
	Rows    []row    `json:"rows"`
	// Note is a remark that readers of the table need, "" for none.
	Note string `json:"note"`
	// digits holds the number of decimals of each column. kinds holds the kind of each column's
	// cells, for rows without kinds of their own. figures returns the figure of each column for a sum
	// of runs.
	digits  []int
	kinds   []kind
	figures func(*sum) []float64
}

// line is a row that has not been run: workloads, a policy, budgets, and the paper's figures.
type line struct {
	label   string
	of      []*workload
	under   policy
	budgets []int
	paper   []float64 // nil if the paper has none
	kinds   []kind    // the table's if nil
}

// sum adds up runs.
type sum struct {
	runs, explicit, pinned, insufficient int
	bootstrap, flush, repeated, clean    int
	thrash                               float64 // divide by runs
	tokens                               int64
}

func (s *sum) add(r *result) {
	s.runs++
	s.explicit += r.Explicit
	s.pinned += r.Faults[paging.PinnedInvariantMiss]
	s.insufficient += r.Insufficient
	s.bootstrap += r.Faults[paging.PostCompactionBootstrap]
	s.flush += r.Faults[paging.FlushMiss]
	s.repeated += r.Faults[paging.Refetch] + r.Faults[paging.DuplicateTool]
	s.thrash += r.Thrash
	s.tokens += r.Tokens
	if r.Explicit == 0 {
		s.clean++
	}
}

// mean returns a sum divided by the number of runs.
func (s *sum) mean(v float64) float64 { return v / float64(max(s.runs, 1)) }

// run runs the workloads of a line.
func (l *line) run(ctx context.Context) (s sum, err error) {
	for _, w := range l.of {
		for _, b := range l.budgets {
			r, err := run(ctx, w, l.under, b)
			if err != nil {
				return s, err
			}
			s.add(r)
		}
	}
	return s, nil
}

// fill runs lines, and adds their rows to the table.
func (t *table) fill(ctx context.Context, lines ...line) (*table, error) {
	for _, l := range lines {
		s, err := l.run(ctx)
		if err != nil {
			return nil, err
		}
		if l.kinds == nil {
			l.kinds = t.kinds
		}
		t.row(l.label, l.kinds, t.figures(&s), l.paper)
	}
	return t, nil
}

// row adds a row with our figures, their kinds, and the paper's figures or nil.
func (t *table) row(label string, kinds []kind, figures, paper []float64) {
	r := row{Label: label}
	for i, n := range figures {
		c := cell{Ours: n, Kind: ours}
		if paper != nil {
			c.Paper, c.Kind = &paper[i], kinds[i]
		}
		r.Cells = append(r.Cells, c)
	}
	t.Rows = append(t.Rows, r)
}

// columnWidth leaves room for labels of up to 18 columns next to four columns of figures.
const columnWidth = 15

// text formats the table for a terminal of 80 columns. Each of our figures is followed by the
// paper's figure in brackets. An equals sign marks a structural cell, and a tilde marks a shaped
// cell.
func (t *table) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", t.Name, t.Title)
	width := 0
	for _, r := range t.Rows {
		width = max(width, utf8.RuneCountInString(r.Label))
	}
	b.WriteString(strings.Repeat(" ", width+2))
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "%*s", columnWidth, c)
	}
	b.WriteString("\n")
	for _, r := range t.Rows {
		line := fmt.Sprintf("  %-*s", width, r.Label)
		for i, c := range r.Cells {
			line += fmt.Sprintf("%*s", columnWidth, t.figure(i, c))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if t.Note != "" {
		b.WriteString("  " + strings.ReplaceAll(t.Note, "\n", "\n  ") + "\n")
	}
	return b.String()
}

func (t *table) figure(column int, c cell) string {
	d := 0
	if column < len(t.digits) {
		d = t.digits[column]
	}
	mark := map[kind]string{structural: "=", shaped: "~", ours: " "}[c.Kind]
	if c.Paper == nil {
		return fmt.Sprintf("%.*f%s", d, c.Ours, strings.Repeat(" ", 8))
	}
	return fmt.Sprintf("%.*f %s%-7s", d, c.Ours, mark, fmt.Sprintf("(%.*f)", d, *c.Paper))
}

// tables runs the paper's evaluation without the trace-derived part. It returns the tables in
// order: 3 to 6, LRU, the weight sweep, and 7 to 9.
func tables(ctx context.Context) (out []*table, err error) {
	for _, make := range []func(context.Context) (*table, error){table3, table4, table5, table6, lru, sweep, table7, table8, table9} {
		t, err := make(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// table3 runs the regressions. A figure of 1 means that a regression raises its expected code, and
// 0 that it does not.
func table3(ctx context.Context) (*table, error) {
	t := &table{Name: "Table 3", Title: "Tier-1 regressions, raised with their code", Columns: []string{"passes"}}
	for _, g := range regressions {
		passes := 1.0
		if err := g.run(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			passes = 0
		}
		t.row(g.name, all, []float64{passes}, []float64{1})
	}
	return t, nil
}

// all marks every column of a row as structural.
var all = []kind{structural, structural, structural, structural}

// table4 averages over four families and six budgets.
func table4(ctx context.Context) (*table, error) {
	t := &table{Name: "Table 4", Title: "means over 4 families and 6 budgets", Columns: []string{"explicit", "thrash"}, digits: []int{1, 3}, kinds: []kind{structural, ours},
		Note:    "Fault counts of the first two rows are structural. Thrash is a property of\nthe workload: ours repeat fewer calls per demand than the paper's.",
		figures: func(s *sum) []float64 { return []float64{s.mean(float64(s.explicit)), s.mean(s.thrash)} }}
	for _, l := range []line{
		{label: "retrieval", paper: []float64{67.8, 3.993}}, {label: "retrieval+cache", paper: []float64{10.8, 1.642}},
		{label: "comp-hybrid", paper: []float64{1.5, 1.017}, kinds: []kind{ours, ours}},
		{label: "clawvm", paper: []float64{0, 0.901}}, {label: "oracle", paper: []float64{0, 0.901}},
	} {
		l.of, l.under, l.budgets = families(), policies[l.label], budgets()
		if _, err := t.fill(ctx, l); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// with returns a policy with one setting changed.
func with(base string, turn func(*policy)) policy {
	p := policies[base]
	turn(&p)
	return p
}

// upgradeBy sets a strategy with its weights.
func upgradeBy(u upgrade) func(*policy) {
	return func(p *policy) { p.upgrade, p.weights = u, weightsOf[u] }
}

// ablation returns a table of variants of a policy at the tight budget, summed over the families.
func ablation(name, title string) *table {
	return &table{Name: name, Title: title + " ablation at budget 180, summed over 4 families", Columns: []string{"bootstrap", "flush", "dup+refetch", "total"}, kinds: all,
		figures: func(s *sum) []float64 {
			return []float64{float64(s.bootstrap), float64(s.flush), float64(s.repeated), float64(s.explicit)}
		}}
}

// variant is a line of an ablation, with the paper's figures: bootstrap, flush, duplicate and
// refetch, total.
func variant(label string, p policy, paper []float64, kinds ...kind) line {
	return line{label, families(), p, []int{tightBudget}, paper, kinds}
}

var none = []float64{0, 0, 0, 0}

// table5 adds single features to the bare baseline.
func table5(ctx context.Context) (*table, error) {
	plus := func(turn func(*policy)) policy { return with("retrieval", turn) }
	return ablation("Table 5", "additive").fill(ctx,
		variant("baseline", policies["retrieval"], []float64{20, 23, 228, 271}),
		variant("+pin", plus(func(p *policy) { p.pin = true }), []float64{0, 23, 228, 251}),
		variant("+resolve", plus(func(p *policy) { p.resolve = true }), []float64{20, 23, 0, 43}),
		variant("+commit compact", plus(func(p *policy) { p.writebackCompaction = true }), []float64{20, 3, 228, 251}),
		variant("+commit reset", plus(func(p *policy) { p.writebackReset = true }), []float64{20, 20, 228, 268}),
		variant("+upgrade", plus(upgradeBy(upgradeUtility)), []float64{7, 23, 42, 72}, ours, structural, ours, ours),
		variant("clawvm", policies["clawvm"], none))
}

// table6 removes single features from ClawVM.
func table6(ctx context.Context) (*table, error) {
	minus := func(turn func(*policy)) policy { return with("clawvm", turn) }
	return ablation("Table 6", "subtractive").fill(ctx,
		variant("clawvm", policies["clawvm"], none),
		variant("-pin", minus(func(p *policy) { p.pin = false }), []float64{9, 0, 0, 9}, ours, structural, structural, ours),
		variant("-resolve", minus(func(p *policy) { p.resolve = false }), []float64{0, 0, 126, 126}, structural, structural, ours, ours),
		variant("-commit compact", minus(func(p *policy) { p.writebackCompaction = false }), []float64{0, 20, 0, 20}),
		variant("-commit reset", minus(func(p *policy) { p.writebackReset = false }), []float64{0, 3, 0, 3}),
		variant("-upgrade", minus(upgradeBy(upgradeNone)), none),
		variant("-prefetch", minus(func(p *policy) { p.prefetch = false }), none))
}

// lru compares recency order with utility order, at budgets 120 to 300.
func lru(ctx context.Context) (*table, error) {
	t := &table{Name: "LRU", Title: "ClawVM with pure recency order, budgets 120 to 300", Columns: []string{"explicit", "thrash"}, digits: []int{0, 3}, kinds: []kind{structural, ours},
		figures: func(s *sum) []float64 { return []float64{float64(s.explicit), s.mean(s.thrash)} }}
	of := func(name string) line {
		return line{label: name, of: families(), under: policies[name], budgets: []int{120, 180, 240, 300}, paper: []float64{0, 0.901}}
	}
	return t.fill(ctx, of("lru"), of("clawvm"))
}

// sweep varies each of the paper's four weights within its range: 21
// configurations on four workloads, which makes 84 runs.
func sweep(ctx context.Context) (*table, error) {
	t := &table{Name: "Weight sweep", Title: "21 configurations at budget 180, 84 runs", Columns: []string{"explicit", "thrash low", "thrash high"}, digits: []int{0, 3, 3}}
	for _, v := range sweeps {
		low, high, explicit := 1e300, 0.0, 0
		for _, x := range v.values {
			l := variant("", with("clawvm", func(p *policy) { v.set(&p.weights, x) }), nil)
			s, err := l.run(ctx)
			if err != nil {
				return nil, err
			}
			low, high, explicit = min(low, s.mean(s.thrash)), max(high, s.mean(s.thrash)), explicit+s.explicit
		}
		t.row(fmt.Sprintf("%s (%d)", v.name, len(v.values)), []kind{structural, ours, ours}, []float64{float64(explicit), low, high}, []float64{0, 0.901, 0.901})
	}
	return t, nil
}

// sweeps holds the values that each weight takes. The paper gives the ranges, and the steps
// within them are ours. The default weights have one row of their own.
var sweeps = []struct {
	name   string
	values []float64
	set    func(*weights, float64)
}{
	{"defaults", []float64{0}, func(*weights, float64) {}},
	{"pin hard", []float64{0.5, 1, 1.5, 3, 4}, func(w *weights, x float64) { w.pinHard = x }},
	{"pin soft", []float64{0, 0.3, 0.9, 1.2, 1.5}, func(w *weights, x float64) { w.pinSoft = x }},
	{"recency", []float64{0.1, 0.3, 0.5, 0.9, 1.2}, func(w *weights, x float64) { w.recency = x }},
	{"recompute", []float64{0, 0.2, 0.6, 0.9, 1.2}, func(w *weights, x float64) { w.recompute = x }},
}

// taskRuns are the runs of the thirty tasks. paper has the paper's success in percent, faults and
// tokens per task, and thrash.
var taskRuns = []struct {
	policy string
	budget int
	paper  []float64
}{
	{"comp-hybrid", 180, []float64{76.7, 0.23, 1607, 1.36}},
	{"comp-hybrid", 300, []float64{100, 0, 2649, 1.36}},
	{"clawvm", 180, []float64{100, 0, 1605, 1.36}},
	{"clawvm", 300, []float64{100, 0, 2639, 1.36}},
}

// table7 counts the tasks without an explicit fault, by kind.
func table7(ctx context.Context) (*table, error) {
	t := &table{Name: "Table 7", Title: "tasks without explicit fault, by kind", Columns: []string{"hybrid 180", "hybrid 300", "clawvm 180", "clawvm 300"},
		Note: "Which tasks are compacted is a rule of ours; that rules then do not fit at\n180 and do at 300 is a matter of sizes."}
	paper := map[string][]float64{"coding": {9, 9, 9, 9}, "debugging": {1, 8, 8, 8}, "writing": {2, 2, 2, 2}, "ops": {11, 11, 11, 11}}
	for _, k := range kinds {
		var clean []float64
		for _, c := range taskRuns {
			l := line{of: slices.DeleteFunc(tasks(), func(w *workload) bool { return !strings.HasPrefix(w.Name, k.name+"-") }), under: policies[c.policy], budgets: []int{c.budget}}
			s, err := l.run(ctx)
			if err != nil {
				return nil, err
			}
			clean = append(clean, float64(s.clean))
		}
		marks := all
		if k.compacts > 0 {
			marks = []kind{shaped, shaped, structural, structural}
		}
		t.row(fmt.Sprintf("%s (%d)", k.name, k.n), marks, clean, paper[k.name])
	}
	return t, nil
}

// table8 replays the thirty tasks.
func table8(ctx context.Context) (*table, error) {
	t := &table{Name: "Table 8", Title: "30 tasks at two budgets", Columns: []string{"success %", "faults/task", "tokens/task", "thrash"}, digits: []int{1, 2, 0, 2},
		kinds: []kind{structural, structural, ours, ours}, figures: func(s *sum) []float64 {
			return []float64{100 * s.mean(float64(s.clean)), s.mean(float64(s.explicit)), s.mean(float64(s.tokens)), s.mean(s.thrash)}
		}}
	for _, c := range taskRuns {
		l := line{label: fmt.Sprintf("%s %d", c.policy, c.budget), of: tasks(), under: policies[c.policy], budgets: []int{c.budget}, paper: c.paper}
		if c.policy == "comp-hybrid" {
			l.kinds = []kind{shaped, shaped, ours, ours}
		}
		if _, err := t.fill(ctx, l); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// table9 runs the stress tests. Its totals count pinned misses in addition to the explicit
// faults, as the paper's totals do.
func table9(ctx context.Context) (*table, error) {
	t := &table{Name: "Table 9", Title: "stress tests: explicit faults and pinned misses", Columns: []string{"bootstrap", "pinned", "flush", "dup+refetch"}, kinds: all,
		Note: "All pinned misses are marked budget_insufficient."}
	t.figures = func(s *sum) []float64 {
		if s.insufficient != s.pinned {
			t.Note = fmt.Sprintf("%d of %d pinned misses are marked budget_insufficient.", s.insufficient, s.pinned)
		}
		return []float64{float64(s.bootstrap), float64(s.pinned), float64(s.flush), float64(s.repeated)}
	}
	stress := func(label string, w *workload, policy string, budget int, paper []float64, boot kind) line {
		return line{label, []*workload{w}, policies[policy], []int{budget}, paper, []kind{boot, structural, structural, structural}}
	}
	return t.fill(ctx,
		stress("starv retrieval", starvation(), "retrieval", starvedBudget, []float64{0, 10, 0, 0}, structural),
		stress("starv hybrid", starvation(), "comp-hybrid", starvedBudget, []float64{0, 10, 0, 0}, structural),
		stress("starv clawvm", starvation(), "clawvm", starvedBudget, []float64{0, 10, 0, 0}, structural),
		stress("churn retrieval", churn(), "retrieval", tightBudget, []float64{9, 0, 9, 280}, structural),
		stress("churn hybrid", churn(), "comp-hybrid", tightBudget, []float64{9, 0, 0, 0}, shaped),
		stress("churn clawvm", churn(), "clawvm", tightBudget, none, structural),
		stress("cascade retrieval", cascade(), "retrieval", tightBudget, []float64{4, 0, 13, 60}, structural),
		stress("cascade hybrid", cascade(), "comp-hybrid", tightBudget, []float64{0, 0, 7, 0}, shaped),
		stress("cascade clawvm", cascade(), "clawvm", tightBudget, none, structural))
}

// table10 runs trace-derived workloads at the given lengths. A length of 0 means the whole
// session. If kernel is set, the kernel is among the policies. Sessions with fewer calls than a
// length are left out of its rows. A row has the median, the lowest and the highest number of explicit faults,
// and the mean thrash. For an even number of runs it has the upper median.
func table10(ctx context.Context, sessions []*transcript.Session, kernel bool, lengths ...int) (*table, error) {
	t := &table{Name: "Table 10", Title: fmt.Sprintf("explicit faults on %d recorded sessions, budget %d", len(sessions), traceBudget),
		Columns: []string{"median", "lowest", "highest", "thrash"}, digits: []int{0, 0, 0, 3}}
	names := []string{"retrieval", "comp-hybrid", "clawvm"}
	if kernel {
		names = append(names, kernelPolicy)
	}
	for _, n := range lengths {
		ws, label := traces(sessions, n), fmt.Sprint(n)
		if n == 0 {
			label = "all"
		}
		for _, name := range names {
			explicit, figures := []int{}, make([]float64, 4)
			for _, w := range ws {
				r, err := run(ctx, w, policies[name], traceBudget)
				if err != nil {
					return nil, err
				}
				explicit = append(explicit, r.Explicit)
				figures[3] += r.Thrash / float64(len(ws))
			}
			if slices.Sort(explicit); len(ws) > 0 {
				figures[0], figures[1], figures[2] = float64(explicit[len(ws)/2]), float64(explicit[0]), float64(explicit[len(ws)-1])
			}
			t.row(name+" "+label, []kind{ours, ours, ours, ours}, figures, paper10[name+" "+label])
		}
		t.Note += fmt.Sprintf("%s: %d sessions\n", label, len(ws))
	}
	t.Note += "other sessions than the paper's; budgets are units of 50 tokens"
	return t, nil
}

// paper10 is the paper's median, range and thrash.
var paper10 = map[string][]float64{
	"retrieval 100": {51, 49, 77, 0.677}, "retrieval 200": {83, 71, 109, 0.527},
	"comp-hybrid 100": {1, 1, 1, 0.047}, "comp-hybrid 200": {0, 0, 0, 0.029},
	"clawvm 100": {0, 0, 0, 0.032}, "clawvm 200": {0, 0, 0, 0.032},
}

func traces(sessions []*transcript.Session, turns int) (out []*workload) {
	for _, s := range sessions {
		w := fromTranscript(s, s.ID, turns)
		if len(w.Turns) >= turns && len(w.Turns) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// kernelTable returns the figures of the kernel itself in the same workloads (see kernelPolicy):
// families at all budgets, the stress tests, and the tasks. The kernel does not know a demand
// before it plans. Its figures are not compared with the paper's.
func kernelTable(ctx context.Context) (*table, error) {
	t := &table{Name: kernelPolicy, Title: "the kernel, driven through its public calls; sums over all runs",
		Columns: []string{"runs", "without fault", "explicit", "pinned"},
		Note:    "clawvm and oracle are told each turn's demand before they assemble, and meet\nit by a pointer: their 0 is by construction. memkernel is told nothing.",
		figures: func(s *sum) []float64 {
			return []float64{float64(s.runs), float64(s.clean), float64(s.explicit), float64(s.pinned)}
		}}
	var lines []line
	add := func(label string, ws []*workload, budgets ...int) {
		lines = append(lines, line{label: label, of: ws, under: policies[kernelPolicy], budgets: budgets})
	}
	for _, w := range families() {
		add(w.Name, []*workload{w}, budgets()...)
	}
	add("starvation", []*workload{starvation()}, starvedBudget)
	add("churn", []*workload{churn()}, tightBudget)
	add("cascade", []*workload{cascade()}, tightBudget)
	add("30 tasks at 180", tasks(), 180)
	add("30 tasks at 300", tasks(), 300)
	return t.fill(ctx, lines...)
}
