package paging

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// A prompt that is judged from outside is judged as the engine judges its own: the same
// levels, demands, calls and events come to the same hits, alerts and faults. What is
// durable when is for whoever assembles to decide.
func TestJudgedAsThePolicyIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := drawPages(t)
		p, budget := drawPolicy(t), rapid.IntRange(1, 200).Draw(t, "budget")
		inside, outside := engineOf(t, p, budget, pages...), engineOf(t, p, budget, pages...)
		for n := 1; n <= 12; n++ {
			turn := drawTurn(t, n, pages)
			want := play(t, inside, *turn)
			shown := prompt{levels: map[string]pagevm.Level{}, tokens: want.Tokens}
			for _, en := range inside.sessions["s"].entries {
				shown.levels[en.ID] = en.next
				if en.starved {
					t.Skip("why a page is missing is for the policy to say where not all floors fit")
				}
			}
			added(t, outside, *turn)
			got := outside.judge(n-1, &shown)
			mine := slices.DeleteFunc(slices.Clone(want.Faults), func(f fault) bool { return f.Code == paging.FlushMiss })
			if d := cmp.Diff(mine, slices.Clone(got.Faults), cmpopts.EquateEmpty()); d != "" || want.Hits != got.Hits || len(want.Alerts) != len(got.Alerts) {
				t.Fatalf("turn %d: hits %d and %d, alerts %v and %v, faults (- own, + judged):\n%s", n, want.Hits, got.Hits, want.Alerts, got.Alerts, d)
			}
		}
	})
}

// What a boundary lost is lost, whatever the policy's knobs are.
func TestJudgeTellsWhatWasLost(t *testing.T) {
	e := engineOf(t, policies[kernelPolicy], 100, pageOf("plan", pagevm.Plan, 20, 0, 10, 2), pageOf("notes", pagevm.Plan, 20, 0, 10, 2))
	added(t, e, turn{Turn: 1, Dirty: []string{"plan", "notes"}, Events: []event{eventCompaction}})
	out := e.judge(0, &prompt{levels: map[string]pagevm.Level{"plan": pagevm.Full}, lost: []string{"plan"}})
	if len(out.Faults) != 1 || out.Faults[0].Code != paging.FlushMiss || out.Faults[0].Page != "plan" || len(out.Commits) != 1 {
		t.Errorf("%+v", out)
	}
}
