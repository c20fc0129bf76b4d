package paging

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// regression is one of the six Tier-1 scenarios of Table 3. Each scenario is a known failure that
// must be reported with its code.
type regression struct {
	name string
	// code is the fault that the scenario must raise, and cause is the fault's reason. If code is "",
	// the scenario must have a writeback rejected instead.
	code     paging.Code
	cause    paging.Cause
	policy   policy
	workload func() *workload
}

// regressions lists the scenarios in the order of Table 3. Each runs under a policy that fails in
// it.
var regressions = []regression{
	{"post-compaction bootstrap", paging.PostCompactionBootstrap, paging.CauseCompaction, policies["retrieval"], lostRules},
	{"reset dirty-page flush miss", paging.FlushMiss, paging.Cause(eventReset), policies["comp-hybrid"], dirtyReset},
	{"threshold jump race", paging.FlushMiss, paging.CauseCompaction, with("clawvm", func(p *policy) { p.writebackCompaction = false }), thresholdJump},
	{"silent recall visibility", paging.SilentRecall, causeDenied, policies["clawvm"], deniedRecall},
	{"unsafe persistence rejection", "", "", policies["clawvm"], twoWriters},
	{"evidence churn duplicate tool", paging.DuplicateTool, paging.CauseSelection, policies["retrieval"], sameCall},
}

// run runs the scenario. It returns an error if the scenario's code is not raised exactly once,
// for its reason, or if there is another fault.
func (g *regression) run(ctx context.Context) error {
	r, err := run(ctx, g.workload(), g.policy, tightBudget)
	switch {
	case err != nil:
		return err
	case g.code == "" && r.Rejected == 1 && len(r.Events) == 0, g.code != "" && len(r.Events) == 1 && r.Events[0].Code == g.code && r.Events[0].Cause == g.cause:
		return nil
	}
	return fmt.Errorf("%s: %d rejected, faults %+v", g.name, r.Rejected, r.Events)
}

func lostRules() *workload {
	b := build("lost-rules", "main")
	b.frame("main", 60, 24)
	b.turn("main").event(eventCompaction)
	b.turn("main")
	return &b.w
}

func dirtyReset() *workload {
	b := build("dirty-reset", "main")
	plan, _ := b.frame("main", 60, 24)
	t := b.turn("main")
	t.Dirty = []string{plan}
	t.event(eventReset)
	return &b.w
}

// thresholdJump has a flush before the first compaction and no flush before the second, because
// the context grew past both thresholds at once.
func thresholdJump() *workload {
	b := build("threshold-jump", "main")
	plan, _ := b.frame("main", 60, 24)
	for n := range 2 {
		t := b.turn("main")
		t.Dirty = []string{plan}
		if n == 0 {
			t.event(eventFlush)
		}
		t.event(eventCompaction)
	}
	return &b.w
}

func deniedRecall() *workload {
	b := build("denied-recall", "main")
	b.turn("main").Recall = []string{recallNoMatch, recallDenied}
	return &b.w
}

// twoWriters makes two sessions change the same version of one shared page.
func twoWriters() *workload {
	b := build("two-writers", "a", "b")
	id := b.page("", "shared", pagevm.Preference, paging.PinNone, 1, 14, 9, 5, 2)
	for _, s := range []string{"a", "b"} {
		b.turn(s).Dirty = []string{id}
	}
	for _, s := range []string{"a", "b"} {
		b.turn(s).event(eventFlush)
	}
	return &b.w
}

// sameCall runs a tool again after a policy without upgrades dropped its result.
func sameCall() *workload {
	b := build("same-call", "main")
	ev := b.evidence("main", 1, 18, 11, 6, 2)
	b.turn("main").call(ev[0])
	b.turn("main").call(ev[0])
	return &b.w
}
