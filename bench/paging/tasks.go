package paging

import (
	"fmt"
)

// kinds lists the kinds of tasks, how many tasks each kind has and how their turns run.
var kinds = []struct {
	name     string
	n        int
	evidence int // pages of evidence
	compacts int // how many of these tasks are compacted on the way
}{
	{"coding", 9, 4, 0}, {"debugging", 8, 9, 7}, {"writing", 2, 3, 0}, {"ops", 11, 5, 0},
}

// tasks returns thirty short tasks of 5 to 14 turns. Debugging tasks gather more evidence than
// the other tasks, and all debugging tasks except one are compacted on the way.
func tasks() []*Workload {
	var out []*Workload
	for _, k := range kinds {
		for i := range k.n {
			out = append(out, task(k.name, i, k.evidence, i < k.compacts))
		}
	}
	return out
}

// task makes a task that looks at its evidence, and then repeats its calls and demands the same
// evidence.
func task(kind string, i, evidence int, compacts bool) *Workload {
	b := build(fmt.Sprintf("%s-%02d", kind, i+1), "main")
	plan, rule := b.frame("main", 60, 24)
	ev := b.evidence("main", evidence, 18, 11, 6, 2)
	turns := evidence + 2 + i%3
	if compacts {
		turns = evidence + 3 + i%3
	}
	for n := 1; n <= turns; n++ {
		t := b.turn("main")
		t.call(ev[(n-1)%evidence])
		if n > 2 {
			t.demand(ev[(n-2)%evidence])
		}
		t.think(n, plan, rule)
		if compacts && n == evidence+1 {
			t.event(EventCompaction)
		}
	}
	return &b.w
}
