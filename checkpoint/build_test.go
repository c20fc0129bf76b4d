package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
)

func TestRedundant(t *testing.T) {
	latest := checkpoint.Build(captured(checkpoint.State{}, japan()), nil, input(checkpoint.TriggerCompaction, 160_000))
	for _, c := range []struct {
		name        string
		trigger     checkpoint.Trigger
		tokens      int
		compactions int
		want        bool
	}{
		{"same size", checkpoint.TriggerAuto, 160_000, 0, true},
		{"just under", checkpoint.TriggerAuto, 167_999, 0, true},
		{"five percent", checkpoint.TriggerAuto, 168_000, 0, false},
		{"smaller", checkpoint.TriggerAuto, 152_000, 0, false},
		{"a compaction between", checkpoint.TriggerAuto, 160_000, 1, false},
		{"compaction", checkpoint.TriggerCompaction, 160_000, 0, false},
		{"session end", checkpoint.TriggerSessionEnd, 160_000, 0, false},
		{"asked for", checkpoint.TriggerManual, 160_000, 0, false},
	} {
		in := input(c.trigger, c.tokens)
		in.Compactions = c.compactions
		if got := checkpoint.Redundant(latest, in); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if checkpoint.Redundant(nil, in) {
			t.Errorf("%s: the first checkpoint is redundant", c.name)
		}
	}
}

func TestInterrupted(t *testing.T) {
	s := captured(checkpoint.State{}, talk(user("fix it"), bash("1", "make all"), answers("1", "ok", false)))
	in := input(checkpoint.TriggerCompaction, 1000)
	if w := checkpoint.Build(s, nil, in).Working; w.Interrupted || w.SplitTurn || w.LastToolCall != nil {
		t.Errorf("between calls: %+v", w)
	}
	s = captured(s, talk(user("a"), user("b"), user("c"), bash("2", "make test"))[3:])
	if w := checkpoint.Build(s, nil, input(checkpoint.TriggerManual, 1000)).Working; !w.Interrupted || w.SplitTurn || w.LastToolCall.ParamsSummary != "make test" {
		t.Errorf("interrupted: %+v", w)
	}
}

// TestCarried keeps the open items of an earlier conversation until the user has spoken twice in the
// new one.
func TestCarried(t *testing.T) {
	before := checkpoint.Build(captured(checkpoint.State{}, talk(user("fix it"),
		calls("p", "TodoWrite", `{"todos":[{"content":"mend it","status":"in_progress"},{"content":"test it","status":"pending"}]}`), answers("p", "ok", false),
		bash("1", "go test ./a"), answers("1", "Exit code 1\n--- FAIL: TestA", true), says("Shall I go on?"))), nil, input(checkpoint.TriggerSessionEnd, 1000))
	const all4 = "unanswered: Shall I go on? | failing: go test ./a (--- FAIL: TestA) | in_progress: mend it | pending: test it"
	if got := all(before.OpenItems); got != all4 {
		t.Fatalf("before: %s", got)
	}
	s := checkpoint.Begin(checkpoint.State{}, before)
	if got := all(checkpoint.Build(s, before, input(checkpoint.TriggerManual, 1000)).OpenItems); got != all4 {
		t.Errorf("nothing said: %s", got)
	}
	msgs := talk(user("hello again"), bash("2", "go test ./b"), answers("2", "Exit code 1\n--- FAIL: TestB", true), user("and now?"))
	for i := range msgs {
		msgs[i].Key = "new-" + msgs[i].Key
	}
	if got := all(checkpoint.Build(captured(s, msgs[:3]), before, input(checkpoint.TriggerManual, 1000)).OpenItems); got != "failing: go test ./b (--- FAIL: TestB) | "+all4 {
		t.Errorf("a word of the user: %s", got)
	}
	if got := all(checkpoint.Build(captured(s, msgs), before, input(checkpoint.TriggerManual, 1000)).OpenItems); got != "failing: go test ./b (--- FAIL: TestB)" {
		t.Errorf("the new conversation: %s", got)
	}
}

// TestCarriedOn: decisions keep their ids over checkpoints, nothing is doubled by
// messages that are captured again, and what nobody mentions any more ends.
func TestCarriedOn(t *testing.T) {
	first := checkpoint.Build(captured(checkpoint.State{}, japan()), nil, input(checkpoint.TriggerAuto, 160_000))
	s := captured(checkpoint.Begin(checkpoint.State{}, first), japan()) // the state was lost, the host repeats all
	second := checkpoint.Build(s, first, input(checkpoint.TriggerAuto, 170_000))
	if a, b := decisions(first), decisions(second); a != b || second.Decisions[0].ID != "d1" {
		t.Errorf("captured again: %q, was %q", b, a)
	}
	if m := second.Meta; m.PreviousCheckpoint != "cp_001" || m.CheckpointID != "cp_002" || m.Captured <= first.Meta.Captured {
		t.Errorf("meta: %+v", m)
	}
	s = checkpoint.Begin(s, second)
	if len(s.Decisions.Items)+len(s.Resources.Tools)+len(s.Learnings.Items) > 0 {
		t.Errorf("what the checkpoint holds is still in the state: %+v", s)
	}
	if s.Changed(second) || !captured(s, []memkernel.Message{user("and now?")}).Changed(second) {
		t.Error("Changed is wrong")
	}
	third := checkpoint.Build(s, second, input(checkpoint.TriggerSessionEnd, 10))
	if decisions(third) != decisions(first) || all(third.Resources.ToolsUsed) != all(first.Resources.ToolsUsed) {
		t.Errorf("not carried on: %q %q", decisions(third), all(third.Resources.ToolsUsed))
	}
}

// TestThreadExtraction: a user's message is a pivot behind more than 500 columns,
// of which a wide character takes two.
func TestThreadExtraction(t *testing.T) {
	msgs := talk(user("first "+strings.Repeat("x", 200)), says(strings.Repeat("x", 500)), user("second"), says(strings.Repeat("选", 251)), user("pivot"), says("e"), user("fourth"), says("f"), user("fifth"), says("g"), user("last"), says("h"))
	th := checkpoint.Build(captured(checkpoint.State{}, msgs), nil, input(checkpoint.TriggerSessionEnd, 9)).Thread
	var got []string
	for _, e := range th.KeyExchanges {
		got = append(got, string(e.Gist))
	}
	first := "first " + strings.Repeat("x", 113) + "…"
	if want := first + " | pivot | fifth | g | last | h"; all(got) != want {
		t.Errorf("%s\nwant\n%s", all(got), want)
	}
	if want := "first " + strings.Repeat("x", 93) + "… ... last"; string(th.Summary) != want {
		t.Errorf("summary %q", th.Summary)
	}
}
