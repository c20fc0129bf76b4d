package kernel_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// recordedSession is a real session of some 480 calls, where the data stands
// beside the repository.
const recordedSession = "../../shared/data/transcripts/pi/pi-mono__packages-coding-agent-test-fixtures-before-compaction.jsonl"

// TestRecordedCallsReopened replays 300 recorded calls one by one, or every eighth of
// them in the quick suite, with a kernel that is opened anew for each, and compares
// each request with the one before, byte for byte.
func TestRecordedCallsReopened(t *testing.T) {
	if _, err := os.Stat(recordedSession); err != nil {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	s, err := transcript.LoadFile(recordedSession, nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, _ := transcript.Repair(s.View(transcript.Full), false)
	calls := transcript.Calls(msgs)
	if len(calls) < 300 {
		t.Fatalf("only %d calls", len(calls))
	}
	dir, last, cuts := t.TempDir(), "", 0
	for n, c := range suite.Some(calls[:300], 4) {
		k := openKernel(t, dir)
		p := mustPlan(t, k, api.PlanRequest{SessionKey: "s", Model: s.Model, ContextWindow: 200_000, FixedTokens: 30_000,
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
	if cuts == 0 {
		t.Error("no call made a cut")
	}
	t.Logf("%d cuts", cuts)
}

// TestRecordedTraces plans real sessions call by call, in windows that make them
// cut, and decides their traces again.
func TestRecordedTraces(t *testing.T) {
	paths := []string{recordedSession}
	if suite.Long() {
		paths, _ = filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Skip("no ../shared/data/transcripts beside the repository")
		}
		t.Run(filepath.Base(path), func(t *testing.T) { traceRecorded(t, path, suite.Pick(80, 400)) })
	}
}

func traceRecorded(t *testing.T, path string, most int) {
	s, err := transcript.LoadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, _ := transcript.Repair(s.View(transcript.Full), false)
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	plans, cuts := 0, 0
	for _, c := range transcript.Calls(msgs) {
		p, err := k.PlanContext(t.Context(), api.PlanRequest{SessionKey: "s", Model: s.Model, ContextWindow: 128_000, FixedTokens: 25_000,
			Messages: msgs[:c.Index:c.Index], Now: c.Start, Resolver: "memory_get"})
		var small *budget.TooSmallError
		if errors.As(err, &small) {
			continue
		}
		if err != nil || hasFault(p, "not_traced") {
			t.Fatalf("call of %s: %v, %v", c.Start, err, p)
		}
		if plans++; p.Layout.Made != nil {
			cuts++
		}
		if plans == most {
			break
		}
	}
	trace := sessionFile(dir, "trace.jsonl")
	wantSame(t, trace, plans)
	sizes, sum := []int{}, 0
	for _, l := range traceLines(t, trace)[1:] {
		sizes, sum = append(sizes, len(l)+1), sum+len(l)+1
	}
	slices.Sort(sizes)
	t.Logf("%d plans, %d cuts; bytes per plan: mean %d, median %d, largest %d", plans, cuts, sum/plans, sizes[plans/2], sizes[plans-1])
}
