package paging

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// regression is one of the six Tier-1 scenarios of Table 3. Each scenario is a known failure that
// must be reported with its code.
type regression struct {
	Name string
	// Code is the fault or rejection that the scenario must raise. Cause is its reason.
	Code, Cause string
	policy      string
	without     func(*Knobs) // takes the policy's feature away
	workload    func() *Workload
}

// regressions lists the scenarios in the order of Table 3. Each runs under the policy that has
// its failure.
func regressions() []regression {
	return []regression{
		{Name: "post-compaction bootstrap", Code: string(paging.PostCompactionBootstrap), Cause: string(paging.CauseCompaction), policy: "retrieval", workload: lostRules},
		{Name: "reset dirty-page flush miss", Code: string(paging.FlushMiss), Cause: string(EventReset), policy: "comp-hybrid", workload: dirtyReset},
		{Name: "threshold jump race", Code: string(paging.FlushMiss), Cause: string(paging.CauseCompaction), policy: "clawvm", workload: thresholdJump,
			without: func(k *Knobs) { k.WritebackCompaction = false }},
		{Name: "silent recall visibility", Code: string(paging.SilentRecall), Cause: string(causeDenied), policy: "clawvm", workload: deniedRecall},
		{Name: "unsafe persistence rejection", Code: journal.CodeDestructive, policy: "clawvm", workload: twoWriters},
		{Name: "evidence churn duplicate tool", Code: string(paging.DuplicateTool), Cause: string(paging.CauseSelection), policy: "retrieval", workload: sameCall},
	}
}

// run runs the scenario. It returns an error if the scenario's code is not raised exactly once,
// for its reason, or if there is another fault.
func (g *regression) run(ctx context.Context) error {
	p, err := PolicyByName(g.policy)
	if err != nil {
		return err
	}
	if g.without != nil {
		g.without(&p.Knobs)
	}
	r, err := Run(ctx, g.workload(), p, BudgetOf(g.Name), Options{NoOracle: true, Faults: true})
	if err != nil {
		return err
	}
	if g.Cause == "" {
		if r.Rejected[g.Code] != 1 || len(r.Events) != 0 {
			return fmt.Errorf("%s: %v rejected, faults %+v; want one %s", g.Name, r.Rejected, r.Events, g.Code)
		}
		return nil
	}
	if len(r.Events) != 1 || string(r.Events[0].Code) != g.Code || string(r.Events[0].Cause) != g.Cause {
		return fmt.Errorf("%s: faults %+v; want one %s by %s", g.Name, r.Events, g.Code, g.Cause)
	}
	return nil
}

func lostRules() *Workload {
	b := build("lost-rules", "main")
	b.frame("main", 60, 24)
	b.turn("main").event(EventCompaction)
	b.turn("main")
	return &b.w
}

func dirtyReset() *Workload {
	b := build("dirty-reset", "main")
	plan, _ := b.frame("main", 60, 24)
	t := b.turn("main")
	t.Dirty = []string{plan}
	t.event(EventReset)
	return &b.w
}

// thresholdJump has a flush before the first compaction and no flush before the second, because
// the context grew past both thresholds at once.
func thresholdJump() *Workload {
	b := build("threshold-jump", "main")
	plan, _ := b.frame("main", 60, 24)
	for n := range 2 {
		t := b.turn("main")
		t.Dirty = []string{plan}
		if n == 0 {
			t.event(EventFlush)
		}
		t.event(EventCompaction)
	}
	return &b.w
}

func deniedRecall() *Workload {
	b := build("denied-recall", "main")
	b.turn("main").Recall = []Recall{{Query: "nothing there", Outcome: RecallNoMatch}, {Query: "salary", Outcome: RecallDenied}}
	return &b.w
}

// twoWriters makes two sessions change the same version of one shared page.
func twoWriters() *Workload {
	b := build("two-writers", "a", "b")
	id := b.page("", "shared", pagevm.Preference, paging.PinNone, 1, 14, 9, 5, 2)
	b.w.Pages[0].Scope = memkernel.ScopeProject
	for _, s := range []string{"a", "b"} {
		b.turn(s).Dirty = []string{id}
	}
	for _, s := range []string{"a", "b"} {
		b.turn(s).event(EventFlush)
	}
	return &b.w
}

// sameCall runs a tool again after a policy without upgrades dropped its result.
func sameCall() *Workload {
	b := build("same-call", "main")
	ev := b.evidence("main", 1, 18, 11, 6, 2)
	b.turn("main").call(ev[0])
	b.turn("main").call(ev[0])
	return &b.w
}
