package paging

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/pagevm"
)

// A prompt that is judged from outside is judged as the engine judges its own: the same
// levels, demands, calls and events come to the same hits, alerts and faults. What is
// durable when is for whoever assembles to decide.
func TestObserveJudgesAsStepDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := drawPages(t)
		cfg := Config{Policy: drawPolicy(t), Budget: rapid.IntRange(1, 200).Draw(t, "budget")}
		inside, outside := mustNew(t, cfg, pages...), mustNew(t, cfg, pages...)
		for n := 1; n <= 12; n++ {
			turn := drawTurn(t, n, pages)
			want, err := inside.Step(turn)
			if err != nil {
				t.Fatal(err)
			}
			prompt := Prompt{Levels: map[string]pagevm.Level{}, Tokens: want.Tokens}
			starved := false
			for _, s := range inside.sessions {
				for i := range s.entries {
					prompt.Levels[inside.rows[s.entries[i].row].page.ID] = s.entries[i].next
					starved = starved || s.entries[i].starved
				}
			}
			got, err := outside.Observe(turn, prompt)
			if err != nil {
				t.Fatal(err)
			}
			if starved {
				t.Skip("why a page is missing is for the policy to say where not all floors fit")
			}
			mine := slices.DeleteFunc(slices.Clone(want.Faults), func(f Fault) bool { return f.Code == FlushMiss })
			if d := cmp.Diff(mine, slices.Clone(got.Faults), cmpopts.EquateEmpty()); d != "" || want.Hits != got.Hits || len(want.Alerts) != len(got.Alerts) {
				t.Fatalf("turn %d: hits %d and %d, alerts %v and %v, faults (- own, + judged):\n%s", n, want.Hits, got.Hits, want.Alerts, got.Alerts, d)
			}
		}
	})
}

// What a boundary lost is lost, whatever the policy's knobs are.
func TestObserveTellsWhatWasLost(t *testing.T) {
	p, err := ByName("memkernel")
	if err != nil {
		t.Fatal(err)
	}
	e := mustNew(t, Config{Policy: p, Budget: 100}, page("plan", pagevm.Plan, 20, 0, 10, 2), page("notes", pagevm.Plan, 20, 0, 10, 2))
	turn := Turn{Turn: 1, Session: "s", Dirty: []string{"plan", "notes"}, Events: []Event{EventCompaction}}
	out, err := e.Observe(&turn, Prompt{Levels: map[string]pagevm.Level{"plan": pagevm.Full}, Lost: []string{"plan"}})
	if err != nil || len(out.Faults) != 1 || out.Faults[0].Code != FlushMiss || out.Faults[0].Page != "plan" || len(out.Commits) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := e.Step(&Turn{Turn: 2, Session: "s"}); err == nil {
		t.Error("a policy that assembles nothing has a step")
	}
}
