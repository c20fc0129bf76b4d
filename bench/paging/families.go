package paging

import (
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// budgets returns the paper's six token budgets.
func budgets() []int { return []int{120, 180, 240, 300, 360, 500} }

// Families returns the four synthetic families.
func Families() []*Workload {
	return []*Workload{evidenceHeavy(), interruptionHeavy(), lifecycleTorture(), multiSession()}
}

// adversarial returns the three stress tests of Table 9.
func adversarial() []*Workload { return []*Workload{starvation(), churn(), cascade()} }

// Names lists the built-in workloads: families first, then stress tests, then tasks.
func Names() []string {
	var out []string
	for _, w := range builtIn() {
		out = append(out, w.Name)
	}
	return out
}

func builtIn() []*Workload { return slices.Concat(Families(), adversarial(), tasks()) }

// ByName returns a built-in workload.
func ByName(name string) (*Workload, error) {
	for _, w := range builtIn() {
		if w.Name == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("no workload %q is built in", name)
}

// BudgetOf returns the paper's default budget for a built-in workload. It is 40 for starvation.
// For all others it is 180, the tightest budget that is not trivial.
func BudgetOf(name string) int {
	if name == "starvation" {
		return 40
	}
	return 180
}

// Repeated counts, per family: calls of known signatures (D) and demands of known
// evidence in turns that do not call for it (R).
//
//	                       turns  compactions  resets    D    R
//	evidence-heavy            40            4       0   42   30
//	interruption-heavy        36            3       3   27   27
//	lifecycle-torture         31           10       0   23   22
//	multi-session             48            3       0   36   21
//	sum                                    20       3  128  100

// evidenceHeavy rotates twelve tool signatures, two in each turn once all are known. Each turn
// looks back at the result from five turns before. Every eight turns there is a compaction.
func evidenceHeavy() *Workload {
	b := build("evidence-heavy", "main")
	plan, rule := b.frame("main", 70, 30)
	ev := b.evidence("main", 12, 18, 11, 6, 2)
	for n := 1; n <= 40; n++ {
		t := b.turn("main")
		t.call(ev[(n-1)%12])
		if n >= 14 && n%2 == 0 {
			t.call(ev[(n+3)%12])
		}
		if n >= 11 {
			t.demand(ev[(n-6)%12])
		}
		t.think(n, plan, rule)
		if n%8 == 0 && n < 40 {
			t.event(EventCompaction)
		}
	}
	return &b.w
}

// think makes a turn change the plan. Every third turn demands the plan, and every sixth turn
// demands the rule too.
func (t *Turn) think(n int, plan, rule string) {
	t.Dirty = append(t.Dirty, plan)
	if n%3 == 1 {
		t.demand(plan)
	}
	if n%6 == 4 {
		t.demand(rule)
	}
}

// interruptionHeavy switches between three tasks every three turns. Each task returns to its
// earlier evidence. Compactions and resets fall in between.
func interruptionHeavy() *Workload {
	b := build("interruption-heavy", "main")
	plan, rule := b.frame("main", 60, 24)
	ev := b.evidence("main", 9, 18, 11, 6, 2)
	for n := 1; n <= 36; n++ {
		t := b.turn("main")
		task, at := (n-1)/3%3, (n-1)%3
		t.call(ev[3*task+at])
		if n >= 10 {
			t.demand(ev[3*task+(at+1)%3])
		}
		t.think(n, plan, rule)
		switch n {
		case 9, 18, 27:
			t.event(EventCompaction)
		case 13, 22, 31:
			t.event(EventReset)
		}
	}
	return &b.w
}

// lifecycleTorture compacts every three turns, always with a dirty page.
func lifecycleTorture() *Workload {
	b := build("lifecycle-torture", "main")
	plan, rule := b.frame("main", 50, 20)
	ev := b.evidence("main", 8, 12, 8, 5, 2)
	for n := 1; n <= 31; n++ {
		t := b.turn("main")
		t.call(ev[(n-1)%8])
		if n >= 10 {
			t.demand(ev[(n+3)%8])
		}
		t.think(n, plan, rule)
		if n%3 == 0 {
			t.event(EventCompaction)
		}
	}
	return &b.w
}

// multiSession interleaves two sessions, which share a preference and are compacted
// at different times.
func multiSession() *Workload {
	b := build("multi-session", "a", "b")
	names := []string{"a", "b"}
	var plan, rule [2]string
	var ev [2][]string
	for i, s := range names {
		plan[i], rule[i] = b.frame(s, 50, 20)
		ev[i] = b.evidence(s, 6, 16, 10, 6, 2)
	}
	b.page("", "shared/preference", pagevm.Preference, paging.PinNone, 1, 14, 9, 5, 2)
	b.w.Pages[len(b.w.Pages)-1].Scope = "project"
	for n := 1; n <= 48; n++ {
		i, at := (n-1)%2, (n+1)/2
		t := b.turn(names[i])
		t.call(ev[i][(at-1)%6])
		if at >= 14+i {
			t.demand(ev[i][(at+2)%6])
		}
		t.think(at, plan[i], rule[i])
		if i == 0 && (at == 8 || at == 16) || i == 1 && at == 12 {
			t.event(EventCompaction)
		}
	}
	return &b.w
}

// starvation pins three pages of 20 tokens for a budget of 40.
func starvation() *Workload {
	b := build("starvation", "main")
	for i := range 3 {
		b.page("main", fmt.Sprintf("main/pinned-%d", i), pagevm.Constraint, paging.PinHard, 1, 30, 0, 20, 0)
	}
	for range 10 {
		b.turn("main")
	}
	return &b.w
}

// churn makes fifty pages of evidence in fifty turns. From the eleventh turn on, each turn looks
// back at seven of these pages. Every five turns there is a compaction. The rules are too long to
// fit next to five results in full.
func churn() *Workload {
	b := build("churn", "main")
	b.page("main", "main/bootstrap", pagevm.Bootstrap, paging.PinNone, 1, 120, 0, 72, 0)
	plan := b.page("main", "main/plan", pagevm.Plan, paging.PinNone, 2, 20, 0, 10, 2)
	ev := b.evidence("main", 50, 18, 11, 6, 1)
	for n := 1; n <= 50; n++ {
		t := b.turn("main")
		t.call(ev[n-1])
		for back := 4; n >= 11 && back <= 10; back++ {
			t.demand(ev[n-1-back])
		}
		t.Dirty = append(t.Dirty, plan)
		if n%5 == 0 && n < 50 {
			t.event(EventCompaction)
		}
	}
	return &b.w
}

// cascade resets nine times in thirty turns and compacts four times. Two of the compactions find
// a second dirty page, and two resets find no dirty page. That makes 6 + 7 losses.
func cascade() *Workload {
	b := build("cascade", "main")
	plan, _ := b.frame("main", 40, 16)
	notes := b.page("main", "main/notes", pagevm.Conversation, paging.PinNone, 1, 14, 9, 5, 2)
	ev := b.evidence("main", 5, 9, 7, 4, 2)
	compactions, resets, clean := []int{5, 12, 19, 26}, []int{3, 6, 9, 11, 15, 17, 20, 23, 28}, []int{6, 20}
	for n := 1; n <= 30; n++ {
		t := b.turn("main")
		if n <= 5 {
			t.call(ev[n-1])
		}
		if n > 6 && n%2 == 0 {
			for i := range 5 {
				t.demand(ev[i])
			}
		}
		if !slices.Contains(clean, n) {
			t.Dirty = append(t.Dirty, plan)
		}
		if n == 12 || n == 26 {
			t.Dirty = append(t.Dirty, notes)
		}
		if slices.Contains(compactions, n) {
			t.event(EventCompaction)
		}
		if slices.Contains(resets, n) {
			t.event(EventReset)
		}
	}
	return &b.w
}
