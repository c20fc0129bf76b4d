package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
	"pgregory.net/rapid"
)

func compact(t fataler, k *kernel.Kernel, b api.Boundary) *api.Compaction {
	t.Helper()
	return compacted(t, k, b).Compaction
}

func compacted(t fataler, k *kernel.Kernel, b api.Boundary) *api.Passed {
	t.Helper()
	if b.SessionKey == "" {
		b.SessionKey = "s"
	}
	p, err := k.Compact(context.Background(), b)
	if err != nil {
		t.Fatalf("compact: %v", err)
	}
	if c := p.Compaction; (c.Reason == api.CompactOK) != (c.ReclaimedTokens > 0) || c.ReclaimedTokens != c.TokensBefore-c.TokensAfter || c.ReclaimedTokens < 0 {
		t.Fatalf("%s reclaims %d of %d to %d: %s", c.Reason, c.ReclaimedTokens, c.TokensBefore, c.TokensAfter, c.Detail)
	}
	return p
}

// What a compaction says is what the next plan shows, to the token, and the plan
// begins with it without a cut of its own.
func TestCompactNumbersAreTheNextPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := openKernel(t, tempDir(t))
		defer k.Close()
		c := newConversation(rapid.Int64Range(0, 1<<20).Draw(t, "seed"))
		for range rapid.IntRange(0, 5).Draw(t, "turns") {
			c.user()
			talk(t, c)
			c.say()
		}
		c.user()
		if rapid.Bool().Draw(t, "open") {
			talk(t, c)
		}
		handed := rapid.Bool().Draw(t, "handed in")
		if rapid.Bool().Draw(t, "planned") || !handed {
			mustPlan(t, k, request(c))
		}
		b := api.Boundary{Model: model, Now: c.now.Add(2 * time.Second), Compact: &api.CompactWish{Force: rapid.Bool().Draw(t, "force")}}
		req := request(c)
		b.Compact.Call = &req
		if handed {
			b.Messages = c.msgs
		}
		if rapid.Bool().Draw(t, "target") {
			b.Compact.Tokens = rapid.IntRange(1000, 30_000).Draw(t, "tokens")
		}
		before := peek(t, k, req)
		got := compact(t, k, b)
		if handed && got.Reason == api.CompactNextPlan {
			t.Fatalf("%+v", got)
		}
		if before.Layout.Made == nil && !shows(before, got.TokensBefore) {
			t.Fatalf("before: the plan has %d, the compaction says %d", standing(before), got.TokensBefore)
		}
		next := req
		next.Now = req.Now.Add(3 * time.Second)
		p := mustPlan(t, k, next)
		checkPlan(t, p, c.msgs)
		if p.Layout.Made == nil && !shows(p, got.TokensAfter) || p.Layout.Made != nil && got.Reason == api.CompactOK {
			t.Fatalf("after: the plan has %d (cut %v), the compaction says %+v", standing(p), p.Layout.Made, got)
		}
		if kept := got.FirstKept; kept != nil && c.msgs[kept.Index].Key != kept.Key {
			t.Fatalf("first kept %+v is %s", kept, c.msgs[kept.Index].Key)
		}
	})
}

// talk is a tool loop.
func talk(t *rapid.T, c *conversation) {
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		c.loop(rapid.IntRange(1, 2).Draw(t, "parallel"), rapid.IntRange(50, 8000).Draw(t, "bytes"))
	}
}

// shows tells whether a plan is of that size, but for what it recalled itself.
func shows(p *api.ContextPlan, tokens int) bool {
	return p.Budgets.PlannedInputTokens == tokens || standing(p) == tokens
}

// standing is a plan without what was recalled for its turn.
func standing(p *api.ContextPlan) int {
	n := p.Budgets.PlannedInputTokens
	for _, r := range p.Regions {
		if r.Name == cachelayout.RegionRetrieval {
			n -= r.Tokens
		}
	}
	return n
}

func peek(t fataler, k *kernel.Kernel, req api.PlanRequest) *api.ContextPlan {
	t.Helper()
	p, err := k.Peek(context.Background(), req)
	if err != nil {
		t.Fatalf("peek: %v", err)
	}
	return p
}

// A host that hands no messages gets a cut all the same, with the summary, the text
// to go on from, and the message from which on it may keep its own.
func TestCompactWithoutMessages(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(201, 9, 2, 2500)
	mustPlan(t, k, request(c))
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs})
	c.user()
	mustPlan(t, k, request(c))
	p := compacted(t, k, api.Boundary{Now: c.now.Add(2 * time.Second)})
	got := p.Compaction
	if got.Reason != api.CompactOK || got.Messages == 0 || got.Atoms == 0 || len(got.Spans) != 1 || got.FirstKept == nil || got.FirstKept.Index < got.Messages ||
		!strings.Contains(got.Summary, "Please look at service") || got.SummaryVersion == 0 || !strings.Contains(got.Restore, got.Checkpoint) || got.Checkpoint == "" || got.ContextWindow != 64_000 {
		t.Fatalf("%+v", got)
	}
	if r, err := k.Get(context.Background(), "s", got.Spans[0]); err != nil || r.Reason != api.GetOK {
		t.Errorf("what left restores as %+v %v", r, err)
	}
	k.Close()

	k = openKernel(t, dir) // the cut stands on disk
	defer k.Close()
	q := mustPlan(t, k, request(c))
	checkPlan(t, q, c.msgs)
	if q.Budgets.PlannedInputTokens != got.TokensAfter || q.Layout.Made != nil {
		t.Errorf("after a restart the plan has %d tokens, cut %v; want %d", q.Budgets.PlannedInputTokens, q.Layout.Made, got.TokensAfter)
	}
}

// In a process that does not know the conversation the wish is kept, and the next
// plan makes the cut, once.
func TestCompactIsKeptForTheNextPlan(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(202, 6, 2, 2500)
	before := mustPlan(t, k, request(c))
	k.Close()
	k = openKernel(t, dir)
	got := compact(t, k, api.Boundary{Now: c.now.Add(time.Second)})
	if got.Reason != api.CompactNextPlan || got.TokensBefore != before.Budgets.PlannedInputTokens {
		t.Fatalf("%+v, planned %d", got, before.Budgets.PlannedInputTokens)
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	p := mustPlan(t, k, request(c))
	if p.Layout.Made == nil || p.Layout.Made.Reason != "demand" || p.Budgets.PlannedInputTokens >= got.TokensBefore {
		t.Fatalf("cut %+v, %d tokens", p.Layout.Made, p.Budgets.PlannedInputTokens)
	}
	if q := mustPlan(t, k, request(c)); q.Layout.Made != nil {
		t.Error("the cut was made twice")
	}
}

// A compaction that can't reclaim anything says why, and changes nothing.
func TestCompactSaysWhyNot(t *testing.T) {
	t.Run("nothing closed", func(t *testing.T) {
		k := memoryKernel(t)
		defer k.Close()
		c := newConversation(203)
		c.user()
		mustPlan(t, k, request(c))
		if got := compact(t, k, api.Boundary{Messages: c.msgs, Now: c.now}); got.Reason != api.CompactNothing {
			t.Errorf("%+v", got)
		}
	})
	t.Run("open loop", func(t *testing.T) {
		k := memoryKernel(t)
		defer k.Close()
		c := newConversation(204)
		c.user()
		for range 8 {
			c.loop(1, 3000)
		}
		p := mustPlan(t, k, request(c))
		b := api.Boundary{Messages: c.msgs, Now: c.now.Add(2 * time.Second)}
		if got := compact(t, k, b); got.Reason != api.CompactOpenLoop || len(got.Largest) == 0 {
			t.Errorf("%+v", got)
		}
		if q := mustPlan(t, k, request(c)); stream(q) != stream(p) {
			t.Error("a compaction that was refused changed the prompt")
		}
		b.Compact = &api.CompactWish{Force: true}
		if got := compact(t, k, b); got.Reason != api.CompactOK {
			t.Errorf("forced: %+v", got)
		}
	})
	t.Run("never planned", func(t *testing.T) {
		k := memoryKernel(t)
		defer k.Close()
		c := session(205, 3, 2, 500)
		if _, err := k.Compact(context.Background(), api.Boundary{SessionKey: "s"}); !errors.Is(err, api.ErrNoSession) {
			t.Errorf("no session: %v", err)
		}
		observe(t, k, api.Turn{Messages: c.msgs})
		if got := compact(t, k, api.Boundary{}); got.Reason != api.CompactUnplanned {
			t.Errorf("no messages: %+v", got)
		}
		got := compact(t, k, api.Boundary{Messages: c.msgs, Model: "nobody-knows-this-model", Now: c.now})
		if got.Reason != api.CompactOK || got.Summary == "" || got.ReclaimedTokens <= 0 || got.ContextWindow != 0 {
			t.Errorf("on demand, of an unknown window: %+v", got)
		}
	})
}

// Compactions that come to nothing are refused after two, until the conversation has
// grown.
func TestBreaker(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(206)
	var got *api.Compaction
	small := 0
	for range 6 {
		c.user()
		c.loop(1, 50)
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs})
		c.user()
		mustPlan(t, k, request(c))
		if got = compact(t, k, api.Boundary{Messages: c.msgs, Now: c.now}); got.Reason == api.CompactOK {
			small++
		}
		if got.Reason == api.CompactNoProgress {
			break
		}
	}
	if small != 2 || got.Reason != api.CompactNoProgress || len(got.Largest) == 0 || !strings.Contains(got.Detail, "1000") {
		t.Fatalf("%d small ones, then %+v", small, got)
	}
	st, err := k.Status(context.Background(), nil)
	if err != nil || st.Sessions[0].Lines[0].FutileCuts != 2 {
		t.Errorf("status: %+v %v", st.Sessions, err)
	}
	c.loop(4, 9000)
	c.say()
	c.user()
	mustPlan(t, k, request(c))
	if got = compact(t, k, api.Boundary{Messages: c.msgs, Now: c.now}); got.Reason != api.CompactOK || got.ReclaimedTokens < 1000 {
		t.Errorf("after the conversation grew: %+v", got)
	}
}

// Three compactions within minutes are a death spiral, and said so.
func TestDeathSpiral(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(207)
	var warned []bool
	for range 3 {
		c.user()
		c.loop(4, 6000)
		c.say()
		c.user()
		mustPlan(t, k, request(c))
		got := compact(t, k, api.Boundary{Messages: c.msgs, Now: c.now.Add(time.Second)})
		warned = append(warned, got.Warning != "")
	}
	if warned[0] || warned[1] || !warned[2] {
		t.Errorf("warned %v", warned)
	}
	later := compact(t, k, api.Boundary{Messages: c.msgs, Now: c.now.Add(2 * time.Hour)})
	if later.Warning != "" {
		t.Errorf("two hours later: %q", later.Warning)
	}
}

// Real sessions, compacted at points along the way: each compaction reclaims, or says
// why not, and what is planned then is a valid request.
func TestCompactRecorded(t *testing.T) {
	paths, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	if len(paths) == 0 {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	done, reclaimed := 0, 0
	for i, path := range paths {
		if fi, err := os.Stat(path); err != nil || fi.Size() > 3<<20 || !suite.Long() && i%8 != 0 {
			continue
		}
		n, r := compactRecorded(t, path)
		done, reclaimed = done+n, reclaimed+r
	}
	t.Logf("%d compactions, %d reclaimed", done, reclaimed)
}

func compactRecorded(t *testing.T, path string) (done, reclaimed int) {
	t.Helper()
	s, err := transcript.LoadFile(path, nil)
	if err != nil {
		return 0, 0
	}
	msgs, _ := transcript.Repair(s.View(transcript.Full), false)
	calls := transcript.Calls(msgs)
	k := memoryKernel(t)
	defer k.Close()
	for i := 1; i <= 4; i++ {
		at := len(calls) * i / 5
		if at >= len(calls) || calls[at].Index == 0 {
			continue
		}
		head := msgs[:calls[at].Index:calls[at].Index]
		req := api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 128_000, Messages: head, Now: calls[at].Start, Resolver: "memory_get"}
		if _, err := k.PlanContext(t.Context(), req); err != nil {
			if !errors.As(err, new(*budget.TooSmallError)) && !errors.Is(err, api.ErrAnswered) {
				t.Fatalf("%s, call %d: %v", path, at, err)
			}
			continue
		}
		c := compact(t, k, api.Boundary{Messages: head, Model: model, Now: req.Now, Compact: &api.CompactWish{Force: i%2 == 0}})
		done++
		if c.Reason == api.CompactOK {
			reclaimed++
		}
		p := mustPlan(t, k, req)
		checkPlan(t, p, head)
		if p.Layout.Made == nil && !shows(p, c.TokensAfter) {
			t.Fatalf("%s, call %d: the plan has %d tokens, the compaction says %+v", path, at, standing(p), c)
		}
	}
	return done, reclaimed
}

// A compaction that is delivered again, at another process, cuts once.
func TestCompactDeliveredTwice(t *testing.T) {
	dir := t.TempDir()
	k, other := openKernel(t, dir), openKernel(t, dir)
	defer k.Close()
	defer other.Close()
	c := session(77, 8, 3, 3000)
	mustPlan(t, k, request(c))
	c.say()
	b := api.Boundary{SessionKey: "s", Model: model, Messages: c.msgs, Key: "c1", Now: c.now, Compact: &api.CompactWish{Share: 0.1}}
	first, err := k.Compact(context.Background(), b)
	if err != nil || first.Compaction.ReclaimedTokens == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	b.Now = b.Now.Add(time.Minute)
	again, err := other.Compact(context.Background(), b)
	if err != nil || again.Outcome != api.Duplicate || again.Compaction.Reason != first.Compaction.Reason || again.Compaction.Generation != first.Compaction.Generation || again.Compaction.ReclaimedTokens != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	// Who asks anew gets another.
	b.Key, b.Compact = "c2", &api.CompactWish{Share: 0.05}
	if more, err := k.Compact(context.Background(), b); err != nil || more.Outcome != api.Committed {
		t.Errorf("%+v, %v", more, err)
	}
}
