package checkpoint_test

import (
	"fmt"
	"os"

	"github.com/memkernel/memkernel/internal/store"

	"github.com/memkernel/memkernel/checkpoint"
)

// What a kernel does around a call: read the gauge, capture what is new, write a
// checkpoint where a level is crossed, and go on from it later.
func Example() {
	dir, _ := os.MkdirTemp("", "session")
	defer os.RemoveAll(dir)
	store := checkpoint.NewStore(store.Files(dir))
	session, _ := store.Resume()

	state := captured(session.State, japan())
	_ = store.SaveState(state)

	level := checkpoint.LevelNone // kept from call to call
	reading := checkpoint.Reading{Window: 200_000, Tokens: 162_431}
	level, crossed := checkpoint.DefaultThresholds().Cross(level, reading)
	saved := false
	for _, l := range crossed {
		if l == checkpoint.LevelCheckpoint {
			w, err := store.Checkpoint(state, checkpoint.Input{SessionKey: "telegram:user123", Now: noon, Trigger: checkpoint.TriggerAuto, Reading: reading})
			state, saved = w.State, err == nil
		}
	}
	if len(crossed) > 0 {
		fmt.Println(checkpoint.NextCut{}.Line(reading, level, saved))
	}

	later, _ := store.Resume() // another process, another day
	fmt.Print(checkpoint.Restore(later.Latest, &checkpoint.RestoreOptions{
		Occasion: checkpoint.NewSession,
	}))
	// Output:
	// [Context: 81% | 162k/200k tokens | Checkpoint saved]
	// Older context will be compacted soon: finish the step at hand, and write down what must outlive it.
	// [Checkpoint cp_001, from an earlier conversation]
	// Saved: 2026-03-09 12:00Z, 162k/200k tokens, 0 compactions
	// Goal, as first stated: I want to go to Japan in March, budget-friendly
	// Last request: 现在签证怎么办？
	// Status: in_progress, interrupted at web_search {"query":"visa"}
	// The agent's last words: (before the request) Written to plan.md. Which hotels do you prefer?
	// Next action: the result of web_search {"query":"visa"}
	// Decisions, the user's first, each newest first:
	// - I propose two weeks: Tokyo, Kyoto, Osaka. Is that fine? → Looks good (11:54)
	// Files changed, newest first: plan.md
}
