package kernel_test

import (
	"os"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// recordedSession is a real session of some 480 calls, where the data stands
// beside the repository.
const recordedSession = "../../shared/data/transcripts/pi/pi-mono__packages-coding-agent-test-fixtures-before-compaction.jsonl"

// TestRecordedCallsReopened replays 300 recorded calls one by one with a kernel
// that is opened anew for each, and compares each request with the one before,
// byte for byte.
func TestRecordedCallsReopened(t *testing.T) {
	if _, err := os.Stat(recordedSession); err != nil {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	s, err := transcript.LoadFile(recordedSession, nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, _ := transcript.Heal(s.View(transcript.Full), false)
	calls := transcript.Calls(msgs)
	if len(calls) < 300 {
		t.Fatalf("only %d calls", len(calls))
	}
	dir, last, cuts := t.TempDir(), "", 0
	for n, c := range calls[:300] {
		k := openKernel(t, dir)
		p := mustPlan(t, k, kernel.PlanRequest{SessionKey: "s", Model: s.Model, ContextWindow: 200_000, FixedTokens: 30_000,
			Messages: append([]memkernel.Message(nil), msgs[:c.Index]...), Now: c.Start, Resolver: "memory_get"})
		k.Close()
		checkPlan(t, p, msgs[:c.Index])
		sent := stream(p)
		if p.Layout.Made != nil {
			cuts++
		} else if !strings.HasPrefix(sent, last) {
			t.Fatalf("call %d: no cut, and not an extension of the request before", n+1)
		}
		last = sent
	}
	t.Logf("300 calls, %d cuts", cuts)
}
