package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
)

// asked is one ended turn in which a memory is asked for.
func asked() *conversation {
	c := newConversation(81)
	c.add(memkernel.RoleUser, words("Remember this: the tide turns at six."))
	c.say()
	return c
}

// TestAskedCrashChild is the turn that TestAskedSurvivesAKillAnywhere kills.
func TestAskedCrashChild(t *testing.T) {
	k := openKernel(t, suite.Child(t))
	observe(t, k, api.Turn{Messages: asked().msgs, Now: time.Now()})
	fmt.Println("TURN")
	k.Close()
}

// A memory that the user asked for stands once, wherever the turn was killed: if the
// host delivers the turn again, and if it does not and the turn stands.
func TestAskedSurvivesAKillAnywhere(t *testing.T) {
	suite.EveryWrite(t, "TestAskedCrashChild", 8, func(dir string, n int, out []byte) {
		k := openKernel(t, dir)
		defer k.Close()
		later := asked()
		later.user()
		mustPlan(t, k, request(later))
		st, err := k.Status(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		count := strings.Count(logs(t, dir), "the tide turns at six")
		stood := len(st.Sessions) == 1 && st.Sessions[0].Turns == 1
		if count > 1 || stood && count != 1 || strings.Contains(string(out), "TURN") && !stood {
			t.Fatalf("killed at %d: the turn stands %v, the memory %d times", n, stood, count)
		}
		observe(t, k, api.Turn{Messages: asked().msgs, Now: time.Now()})
		if count := strings.Count(logs(t, dir), "the tide turns at six"); count != 1 {
			t.Fatalf("killed at %d: after the turn was delivered again the memory stands %d times", n, count)
		}
	})
}

// The same words stand once, and so does a decision that was taken twice.
func TestNothingIsFlushedTwice(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := asked()
	for range 2 {
		c.add(memkernel.RoleUser, words("Remember this: the tide turns at six."))
		c.add(memkernel.RoleAssistant, words("Noted.\n\nShall I look at the next service?"))
		c.add(memkernel.RoleUser, words("yes"))
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs})
	}
	pass(t, k.Compact, api.Boundary{Messages: c.msgs})
	text := logs(t, dir)
	if strings.Count(text, "[human] Remember this: the tide") != 1 || strings.Count(text, "Shall I look at the next service? → yes") != 1 {
		t.Errorf("the log says\n%s", text)
	}
}

// A host that puts a summary of its own in the place of its history gets the carry
// block with it, though the kernel has made no cut: one text with the rules that were told. The
// checkpoint of that moment is on disk.
func TestHostsOwnCompaction(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(82)
	c.add(memkernel.RoleUser, words("Fix the retry in pkg/queue please. Never push to main."))
	c.say()
	c.user()
	if text := stream(mustPlan(t, k, request(c))); strings.Contains(text, "[SESSION_SUMMARY") {
		t.Fatal("a cut was made: the test shows nothing")
	}
	c.say()
	pass(t, k.Compact, api.Boundary{Messages: c.msgs})
	c.msgs = []memkernel.Message{{Key: "sum", Role: memkernel.RoleUser, Origin: memkernel.OriginSummary, Time: c.now, Parts: []memkernel.Part{words("The host's summary says little.")}}}
	c.user()
	for range 2 {
		p := mustPlan(t, k, request(c))
		if text := stream(p); !strings.Contains(text, "constraints:\\n  - Never push to main.") || strings.Contains(text, "[Checkpoint") || len(checkpoints(t, dir)) == 0 {
			t.Errorf("the prompt says\n%.2000s", text)
		}
		checkPlan(t, p, c.msgs)
		before := stream(p)
		c.loop(1, 400)
		if q := mustPlan(t, k, request(c)); !strings.HasPrefix(stream(q), before) {
			t.Error("what stood was changed without a reason")
		}
		k.Close()
		k = openKernel(t, dir)
	}
	replayTraces(t, dir, 0)
}

// A checkpoint that a prompt names for longer than it is kept is answered by the one
// that goes on from it; an id that was never given by none.
func TestPrunedCheckpointIsAnswered(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(83, 1, 1, 800)
	for range 7 {
		pass(t, k.Compact, api.Boundary{Messages: c.msgs})
		c.loop(1, 400)
	}
	for id, want := range map[string]string{"cp_001": "cp_007", "cp_001.resources": "cp_007", "cp_007": "", "cp_008": api.GetNoMatch} {
		got, err := k.Get(context.Background(), "s", id)
		if err != nil {
			t.Fatal(err)
		}
		if want == api.GetNoMatch {
			if got.Reason != want {
				t.Errorf("%s: %+v", id, got)
			}
			continue
		}
		if got.Reason != api.GetOK || (want == "") != (got.Detail == "") || want != "" && !strings.Contains(got.Text, "# cp_00") {
			t.Errorf("%s: %+v", id, got)
		}
	}
}
