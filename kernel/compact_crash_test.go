package kernel_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// compactScript is a session that is compacted, refused by the provider, and planned
// again.
func compactScript() (first, last *conversation) {
	first = session(221, 6, 2, 6000)
	last = session(221, 6, 2, 6000)
	last.loop(3, 4000)
	return first, last
}

const overflowed = "prompt is too long: 26000 tokens > 22000 maximum"

// TestCompactCrashChild is the session that TestCompactKillAnywhere kills.
func TestCompactCrashChild(t *testing.T) {
	k := openKernel(t, suite.Child(t))
	first, last := compactScript()
	mustPlan(t, k, request(first))
	got := compact(t, k, api.Boundary{Messages: first.msgs, Now: first.now.Add(time.Second)})
	fmt.Printf("COMPACTED %d\n", got.TokensAfter)
	p := mustPlan(t, k, request(last))
	fmt.Printf("PLAN %s\n", p.ID)
	req := request(last)
	req.Overflow = &api.Overflow{Text: overflowed, PlanID: p.ID}
	q := mustPlan(t, k, req)
	fmt.Printf("REPLANNED %d\n", q.Budgets.PlannedInputTokens)
	k.Close()
}

// TestCompactKillAnywhere kills a session before each write of a compaction and of
// the answer to a refusal. What was acknowledged stands to the token, nothing was
// flushed twice, and the same calls again come to an end.
func TestCompactKillAnywhere(t *testing.T) {
	suite.EveryWrite(t, "TestCompactCrashChild", 30, func(dir string, n int, out []byte) {
		first, last := compactScript()
		k := openKernel(t, dir)
		defer k.Close()
		if f, err := k.Check(context.Background()); err != nil || len(f) > 0 {
			t.Fatalf("killed at %d: check says %v, %v", n, f, err)
		}
		replayTraces(t, dir, n)
		checkCompacted(t, k, n, out, first)
		if i := bytes.Index(out, []byte("REPLANNED ")); i >= 0 {
			p := mustPlan(t, k, request(last))
			if want := number(t, out[i:]); !shows(p, want) || p.Budgets.ContextWindow != 22_000 {
				t.Fatalf("killed at %d: %d tokens were acknowledged, the plan has %d in %d", n, want, p.Budgets.PlannedInputTokens, p.Budgets.ContextWindow)
			}
		}
		req := request(last)
		req.Overflow = &api.Overflow{Text: overflowed}
		p := mustPlan(t, k, req)
		checkPlan(t, p, last.msgs)
		if p.Budgets.ContextWindow != 22_000 {
			t.Fatalf("killed at %d: the refusal is forgotten: window %d", n, p.Budgets.ContextWindow)
		}
		compact(t, k, api.Boundary{Messages: last.msgs, Now: last.now.Add(2 * time.Second), Compact: &api.CompactWish{Force: true}})
		for line := range strings.Lines(dailyLogs(t, dir)) {
			if strings.HasPrefix(line, "- [") && strings.Count(dailyLogs(t, dir), line) != 1 {
				t.Fatalf("killed at %d: flushed twice: %s", n, line)
			}
		}
		replayTraces(t, dir, n)
	})
}

// checkCompacted: a compaction that was acknowledged is what the next plan shows, if
// nothing was planned behind it.
func checkCompacted(t *testing.T, k *kernel.Kernel, n int, out []byte, first *conversation) {
	t.Helper()
	i := bytes.Index(out, []byte("COMPACTED "))
	if i < 0 || bytes.Contains(out, []byte("PLAN ")) {
		return
	}
	if p := peek(t, k, request(first)); !shows(p, number(t, out[i:])) {
		t.Fatalf("killed at %d: %d tokens were acknowledged, the plan has %d", n, number(t, out[i:]), p.Budgets.PlannedInputTokens)
	}
}

// number reads the figure behind the first word.
func number(t *testing.T, line []byte) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(string(line), "%s %d", new(string), &n); err != nil {
		t.Fatal(err)
	}
	return n
}
