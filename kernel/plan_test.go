package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
	"pgregory.net/rapid"
)

const model = "claude-opus-4-5"

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func openKernel(t fataler, dir string) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatalf("open kernel: %v", err)
	}
	return k
}

func request(c *conversation) api.PlanRequest {
	return api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 64_000, Messages: c.msgs, Now: c.now.Add(time.Second), Resolver: "memory_get"}
}

// newestOf is the newest of a plan's messages that the host wrote: the gauge may stand
// behind it.
func newestOf(p *api.ContextPlan) memkernel.Message {
	m := p.Messages[len(p.Messages)-1]
	if strings.HasPrefix(m.Parts[0].Text, "[Context: ") {
		m = p.Messages[len(p.Messages)-2]
	}
	return m
}

func mustPlan(t fataler, k *kernel.Kernel, req api.PlanRequest) *api.ContextPlan {
	t.Helper()
	p, err := k.PlanContext(context.Background(), req)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	for _, f := range slices.Concat(p.Faults, p.Alerts) {
		if !code.MatchString(string(f.Code)) {
			t.Fatalf("a fault has the code %q", f.Code)
		}
	}
	return p
}

// code is how faults are named.
var code = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// stream is the prompt as the provider's cache sees it: every content block with
// its role, in order, without cache markers.
func stream(p *api.ContextPlan) string {
	var b []byte
	for i := range p.Messages {
		m := &p.Messages[i]
		for j := range m.Parts {
			b = append(b, string(m.Role)...)
			b = append(b, ' ')
			b = transcript.AppendPart(b, transcript.FormatAnthropic, m.Role, &m.Parts[j])
			b = append(b, '\n')
		}
	}
	return string(b)
}

// checkPlan holds a plan against everything that must be true of any plan.
func checkPlan(t fataler, p *api.ContextPlan, msgs []memkernel.Message) {
	t.Helper()
	checkPlanAs(t, transcript.FormatAnthropic, p, msgs)
}

func checkPlanAs(t fataler, provider transcript.Format, p *api.ContextPlan, msgs []memkernel.Message) {
	t.Helper()
	sum := 0
	for _, r := range p.Regions {
		sum += r.Tokens
	}
	if sum != p.Budgets.PlannedInputTokens {
		t.Fatalf("regions add up to %d, planned %d", sum, p.Budgets.PlannedInputTokens)
	}
	if b := p.Budgets; b.PlannedInputTokens+b.ReserveTokens > b.ContextWindow {
		t.Fatalf("planned %d + reserve %d > window %d", b.PlannedInputTokens, b.ReserveTokens, b.ContextWindow)
	}
	if v := transcript.Validate(provider, &transcript.Request{Model: p.Model, Messages: p.Messages, Markers: p.Markers}); len(v) > 0 {
		t.Fatalf("invalid request: %+v", v)
	}
	checkNewest(t, p, msgs)
	checkPages(t, p, msgs)
}

// checkNewest: the newest host message stands once, with only kernel blocks behind.
func checkNewest(t fataler, p *api.ContextPlan, msgs []memkernel.Message) {
	t.Helper()
	newest, at, n := &msgs[len(msgs)-1], -1, 0
	for i := range p.Messages {
		if m := &p.Messages[i]; m.Key == newest.Key || newest.Key == "" && m.Time.Equal(newest.Time) && sameStart(m, newest) {
			at = i
			n++
		}
	}
	if n != 1 {
		t.Fatalf("newest message %q stands %d times", newest.Key, n)
	}
	for _, m := range p.Messages[at+1:] {
		if !strings.HasPrefix(m.Key, "memkernel:") {
			t.Fatalf("message %s stands behind the newest", m.Key)
		}
	}
}

// sameStart compares messages of a host that gives them no keys.
func sameStart(a, b *memkernel.Message) bool {
	x, y := &a.Parts[0], &b.Parts[0]
	if x.Result != nil && y.Result != nil {
		return x.Result.CallID == y.Result.CallID
	}
	return a.Role == b.Role && x.Kind == y.Kind && x.Text == y.Text
}

// checkPages: no page twice, and every host message is shown or accounted for.
func checkPages(t fataler, p *api.ContextPlan, msgs []memkernel.Message) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range p.Debug.Included {
		if seen[row.ID] {
			t.Fatalf("page %s stands twice", row.ID)
		}
		seen[row.ID] = true
	}
	for _, row := range p.Debug.Excluded {
		if seen[row.ID] {
			t.Fatalf("page %s is included and excluded", row.ID)
		}
	}
	shown := map[string]bool{}
	for i := range p.Messages {
		shown[p.Messages[i].Key] = true
	}
	gone := map[string]bool{}
	for _, r := range p.Reduced {
		if r.Level == pagevm.Gone {
			gone[r.Key] = true
		}
	}
	for i := range msgs {
		if msgs[i].Key != "" && !shown[msgs[i].Key] && !gone[msgs[i].Key] {
			t.Fatalf("message %s is neither shown nor excluded", msgs[i].Key)
		}
	}
}

func TestPlanGrowsByAppending(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(1)
	c.user()
	last := ""
	for range 12 {
		p := mustPlan(t, k, request(c))
		checkPlan(t, p, c.msgs)
		if s := stream(p); !strings.HasPrefix(s, last) {
			t.Fatalf("not an extension of the request before:\n%s", cmp.Diff(last, s))
		} else {
			last = s
		}
		c.loop(2, 1500)
	}
}

func TestPlanCutsOnceAtTheHighWaterMark(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(2)
	cuts, last := 0, ""
	for range 40 {
		c.user()
		p := mustPlan(t, k, request(c))
		checkPlan(t, p, c.msgs)
		if p.Layout.Made != nil {
			cuts++
			if len(p.Debug.Excluded) == 0 && len(p.Reduced) == 0 {
				t.Error("a cut that took nothing out")
			}
		} else if s := stream(p); !strings.HasPrefix(s, last) {
			t.Fatal("bytes changed without a cut")
		}
		last = stream(p)
		c.loop(1, 9000)
		c.say()
	}
	if cuts < 2 || cuts > 12 {
		t.Errorf("%d cuts in 40 turns", cuts)
	}
}

func TestReopeningChangesNoByte(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	stay := openKernel(t, other)
	defer stay.Close()
	c := newConversation(3)
	for i := range suite.Pick(16, 30) {
		c.user()
		k := openKernel(t, dir)
		a := mustPlan(t, k, request(c))
		k.Close()
		b := mustPlan(t, stay, request(c))
		if diff := cmp.Diff(stream(b), stream(a)); diff != "" {
			t.Fatalf("turn %d: reopened kernel sends other bytes:\n%s", i, diff)
		}
		if diff := cmp.Diff(b.Layout.Bill, a.Layout.Bill); diff != "" {
			t.Fatalf("turn %d: reopened kernel predicts another bill:\n%s", i, diff)
		}
		c.loop(2, 6000)
		if i%7 == 6 {
			c.gap(2 * time.Hour)
		}
		c.say()
	}
}

func TestPeekWritesNothing(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(4, 6, 3, 9000)
	p, err := k.Peek(context.Background(), request(c))
	if err != nil {
		t.Fatal(err)
	}
	checkPlan(t, p, c.msgs)
	if files := tree(t, dir); len(files) != 0 {
		t.Errorf("peek wrote %v", files)
	}
	planned := mustPlan(t, k, request(c))
	if diff := cmp.Diff(stream(planned), stream(p)); diff != "" {
		t.Errorf("peek and plan differ:\n%s", diff)
	}
}

func TestTooSmallWindowSaysByHowMuch(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	req := request(session(5, 1, 1, 500))
	req.FixedTokens = 60_000
	_, err := k.PlanContext(context.Background(), req)
	var small *budget.TooSmallError
	if !errors.As(err, &small) || small.Over <= 0 || len(small.Largest) == 0 {
		t.Fatalf("got %v, want a TooSmallError", err)
	}
}

func TestUnknownModelIsUnpriced(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	req := request(session(6, 1, 1, 500))
	req.Model = "house-model-9"
	p := mustPlan(t, k, req)
	if p.Budgets.PlannedCostUSD != nil {
		t.Errorf("cost of an unknown model is %v, want none", *p.Budgets.PlannedCostUSD)
	}
}

// A model that no list knows gets memory and prompts that only grow, until a refusal names
// its window. That is kept for the next session.
func TestUnknownWindow(t *testing.T) {
	k, dir := workspaceKernel(t, nil)
	c := newConversation(91)
	ask := func(more func(*api.PlanRequest)) *api.ContextPlan {
		t.Helper()
		req := private(c)
		req.Model, req.ContextWindow, req.Reserve = "house-model-9", 0, 0
		if more != nil {
			more(&req)
		}
		return mustPlan(t, k, req)
	}
	last, recalled := "", false
	for range suite.Pick(20, 40) {
		c.user()
		c.loop(2, 9000)
		p := ask(nil)
		if b := p.Budgets; b.ContextWindow != 0 || b.WindowFrom != api.WindowUnknown || b.Utilization != 0 || b.MarginTokens != 0 || b.ReserveTokens != 8000 {
			t.Fatalf("%+v", b)
		}
		if sent := stream(p); !strings.HasPrefix(sent, last) {
			t.Fatal("a prompt is no extension of the one before")
		} else {
			last = sent
		}
		recalled = recalled || p.Retrieval.Items > 0
		c.say()
		c.now = c.now.Add(3 * time.Hour) // the provider's cache is cold
	}
	if !recalled || strings.Contains(last, "[Context: ") {
		t.Errorf("memory was recalled: %v; the prompt has a gauge: %v", recalled, strings.Contains(last, "[Context: "))
	}
	c.user()
	whole := ask(nil).Budgets.PlannedInputTokens
	cut := ask(func(r *api.PlanRequest) {
		r.Overflow = &api.Overflow{Text: fmt.Sprintf("This model's maximum context length is 64000 tokens, however you requested %d tokens", whole)}
	})
	if b := cut.Budgets; b.ContextWindow != 64_000 || b.WindowFrom != api.WindowRefusal || b.PlannedInputTokens > 56_000 {
		t.Errorf("after a refusal %+v", b)
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	c = newConversation(92)
	c.user()
	next := func(r *api.PlanRequest) { r.SessionKey, r.ServerWindow = "another", 200_000 }
	if b := ask(next).Budgets; b.ContextWindow != 64_000 || b.WindowFrom != api.WindowRefusal {
		t.Errorf("the next session has %+v", b)
	}
}

// A refusal without figures shows that the window is smaller than the refused prompt.
func TestUnknownWindowRefusedWithoutFigures(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(93, 12, 3, 4000)
	req := request(c)
	req.Model, req.ContextWindow = "house-model-9", 0
	whole := mustPlan(t, k, req).Budgets.PlannedInputTokens
	req.Overflow = &api.Overflow{Text: "the request is too large for model: context length exceeded"}
	if b := mustPlan(t, k, req).Budgets; b.WindowFrom != api.WindowRefusal || b.PlannedInputTokens >= whole {
		t.Errorf("of %d tokens: %+v", whole, b)
	}
}

// The window that a server lists counts where no list of ours has the model, and is kept.
func TestServerWindow(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	req := request(session(94, 1, 1, 500))
	req.Model, req.ContextWindow, req.ServerWindow = "house-model-9", 0, 32_768
	for _, key := range []string{"a", "b"} {
		req.SessionKey = key
		if b := mustPlan(t, k, req).Budgets; b.ContextWindow != 32_768 || b.WindowFrom != api.WindowServer {
			t.Errorf("session %s: %+v", key, b)
		}
		req.ServerWindow = 0
	}
	req.SessionKey, req.Model, req.ServerWindow = "c", "claude-opus-4-5", 32_768
	if b := mustPlan(t, k, req).Budgets; b.ContextWindow != 200_000 || b.WindowFrom != api.WindowPrices {
		t.Errorf("of a known model: %+v", b)
	}
}

// TestPlansHold plans random sessions with gaps, parallel calls, edits, forks,
// rewinds and host compactions, and holds every plan against checkPlan and
// against the request before it.
func TestPlansHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := tempDir(t)
		k := openKernel(t, dir)
		defer func() { k.Close() }()
		c := newConversation(rapid.Int64().Draw(t, "seed"))
		c.user()
		private := rapid.Bool().Draw(t, "private")
		if rapid.Bool().Draw(t, "workspace") {
			fillWorkspace(t, dir, nil)
			reindex(t, k)
		}
		resolver := rapid.SampledFrom([]string{"", "memory_get"}).Draw(t, "resolver")
		window := rapid.SampledFrom([]int{48_000, 64_000, 128_000}).Draw(t, "window")
		last, events := "", map[string]int{}
		for range rapid.IntRange(3, 18).Draw(t, "steps") {
			rewrote := step(t, c)
			if path := rapid.SampledFrom([]string{"", "", "", "AGENTS.md", "MEMORY.md", "SESSION-STATE.md", "TOOLS.md"}).Draw(t, "file"); path != "" {
				put(t, dir, path, fmt.Sprintf("# %s\n\n- Never touch worker %d.\n", path, c.rng.Intn(3)))
			}
			if rapid.IntRange(0, 5).Draw(t, "reopen") == 0 {
				k.Close()
				k = openKernel(t, dir)
			}
			req := request(c)
			req.Resolver, req.ContextWindow, req.Private = resolver, window, private
			p := mustPlan(t, k, req)
			checkPlan(t, p, c.msgs)
			s := stream(p)
			if p.Layout.Made == nil && !rewrote && !strings.HasPrefix(s, last) {
				t.Fatalf("off a cut the request is no extension of the one before")
			}
			if m := p.Layout.Made; m != nil && m.Event != "" {
				if events[m.Event]++; events[m.Event] > 1 {
					t.Fatalf("cold event %q made %d cuts", m.Event, events[m.Event])
				}
			}
			last = s
		}
	})
}

// step grows the conversation, or lets the host rewrite it, up to the next point
// at which a call would be planned. It tells whether what was sent changed.
func step(t *rapid.T, c *conversation) bool {
	if rapid.IntRange(0, 4).Draw(t, "gap") == 0 {
		c.gap(time.Duration(rapid.IntRange(1, 400).Draw(t, "minutes")) * time.Minute)
	}
	switch what := rapid.IntRange(0, 12).Draw(t, "step"); {
	case what == 0 && len(c.msgs) > 4: // the host takes back the last turn and asks anew
		c.msgs = c.msgs[:rapid.IntRange(1, len(c.msgs)-1).Draw(t, "rewind")]
		for len(c.msgs) > 0 && !transcript.PlainUser(c.msgs[len(c.msgs)-1]) {
			c.msgs = c.msgs[:len(c.msgs)-1]
		}
		if len(c.msgs) == 0 {
			c.user()
		}
		return true
	case what == 1 && len(c.msgs) > 2: // the host edits a message
		c.msgs = append([]memkernel.Message(nil), c.msgs...)
		i := rapid.IntRange(0, len(c.msgs)-1).Draw(t, "edit")
		if transcript.PlainUser(c.msgs[i]) {
			c.msgs[i].Parts = []memkernel.Part{words(fmt.Sprintf("edited %d", c.n))}
		}
		return true
	case what == 2 && len(c.msgs) > 8: // the host compacts
		keep := len(c.msgs) - 1
		for keep > 0 && !transcript.PlainUser(c.msgs[keep]) {
			keep--
		}
		c.n++
		sum := memkernel.Message{Key: fmt.Sprintf("m%04d", c.n), Role: memkernel.RoleUser, Origin: memkernel.OriginSummary,
			Parts: []memkernel.Part{words("Summary of the conversation so far.")}, Time: c.now}
		c.msgs = append([]memkernel.Message{sum}, c.msgs[keep:]...)
		return true
	case what < 6:
		if last := c.msgs[len(c.msgs)-1]; transcript.HasResults(last) {
			c.say()
			c.user()
		}
		return false
	}
	c.loop(rapid.IntRange(1, 4).Draw(t, "parallel"), rapid.SampledFrom([]int{10, 400, 3000, 20_000}).Draw(t, "bytes"))
	return false
}
