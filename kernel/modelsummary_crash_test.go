package kernel_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/summary"
)

// noting is a model that notes which of the two turns of noteScript it was shown.
var noting = stubModel(func(_ context.Context, p summary.Prompt) (string, error) {
	_, said, _ := strings.Cut(p.User, "NEWEST MESSAGES\n")
	var ops []string
	for i, mark := range []string{"Never push", "Now the second"} {
		if strings.Contains(said, mark) {
			ops = append(ops, fmt.Sprintf(`{"op":"add","field":"open_threads","text":"Turn %d was noted","evidence":"m1"},{"op":"remember","text":"Fact %d","evidence":"m1"}`, i+1, i+1))
		}
	}
	return `{"ops":[` + strings.Join(ops, ",") + `]}`, nil
})

// noteScript is a session at the ends of its two turns.
func noteScript() []*conversation {
	first, second := ruled(12), ruled(12)
	second.add("user", words("Now the second turn please."))
	second.say()
	return []*conversation{first, second}
}

// TestNotesCrashChild is the session that TestNotesKillAnywhere kills.
func TestNotesCrashChild(t *testing.T) {
	dir := suite.Child(t)
	for i, c := range noteScript() {
		observeNoted(t, dir, noting, newClock(), c.msgs)
		fmt.Printf("NOTED %d\n", i+1)
	}
}

// TestNotesKillAnywhere kills a session before each write operation while a model
// makes notes of it. What was acknowledged stands; delivering the last turn again
// brings what is missing, and nothing stands twice, neither a note nor a fact.
func TestNotesKillAnywhere(t *testing.T) {
	suite.EveryWrite(t, "TestNotesCrashChild", 15, func(dir string, n int, out []byte) {
		last := noteScript()[1]
		before := statusOf(t, dir)
		if acked := bytes.Count(out, []byte("NOTED")); acked > 0 && before.Sessions[0].ModelSummaries[0].Deltas < acked {
			t.Fatalf("killed at %d: %d deltas were acknowledged, status says %+v", n, acked, before.Sessions)
		}
		observeNoted(t, dir, noting, newClock(), last.msgs)
		observeNoted(t, dir, noting, newClock(), last.msgs)
		logs, text := dailyLogs(t, dir), cutText(t, dir, last)
		for i := 1; i <= 2; i++ {
			if f, note := fmt.Sprintf("Fact %d", i), fmt.Sprintf("Turn %d was noted", i); strings.Count(logs, f) != 1 || strings.Count(text, note) != 1 {
				t.Fatalf("killed at %d: fact %d stands %d times, its note %d times", n, i, strings.Count(logs, f), strings.Count(text, note))
			}
		}
	})
}
