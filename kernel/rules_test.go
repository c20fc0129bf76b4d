package kernel_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// boundModel binds its thinking to the prefix that it was made behind.
const boundModel = "claude-opus-5-5"

// levels maps every page of the conversation that stands to its level.
func levels(p *api.ContextPlan) map[string]pagevm.Level {
	out := map[string]pagevm.Level{}
	for _, row := range p.Debug.Included {
		out[row.ID] = row.Level
	}
	return out
}

// TestRule1AppendOnly: below the high-water mark nothing changes, whatever newer
// reads make stale.
func TestRule1AppendOnly(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(80)
	var last *api.ContextPlan
	for range 60 {
		c.user()
		c.loop(2, 3000)
		p := planned(t, k, request(c))
		f := p.Layout.Cut.Figures
		if p.Layout.Made != nil {
			if f.Planned <= f.HighWater || last == nil {
				t.Fatalf("cut at %d tokens, below the mark of %d", f.Planned, f.HighWater)
			}
			return
		}
		if f.Planned > f.HighWater && !p.Layout.Cold {
			if pl := c.msgs[len(c.msgs)-1]; !transcript.HasResults(pl) {
				t.Fatalf("%d tokens are above the mark of %d and nothing was cut", f.Planned, f.HighWater)
			}
		}
		if last != nil && !strings.HasPrefix(stream(p), stream(last)) {
			t.Fatal("bytes changed without a cut")
		}
		last = p
		c.say()
	}
	t.Fatal("the mark was never reached")
}

// TestRule2OneBatchCut: a cut goes down to the low-water mark at once, and then
// there is none for as long as it takes to grow up again.
func TestRule2OneBatchCut(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(81)
	since, cuts := 0, 0
	for range 50 {
		c.user()
		p := planned(t, k, request(c))
		since++
		if p.Layout.Made != nil {
			f := p.Layout.Cut.Figures
			left := p.Budgets.PlannedInputTokens - regionTokens(p, cachelayout.RegionRetrieval) // recalled behind the cut
			if left > f.LowWater {
				t.Errorf("the cut left %d tokens, the low-water mark is %d", left, f.LowWater)
			}
			if room := f.HighWater - f.LowWater; cuts > 0 && since*f.MedianGrowth < room/2 {
				t.Errorf("cut again after %d calls of %d tokens, with room for %d", since, f.MedianGrowth, room)
			}
			first := p.Messages[1]
			if p.Messages[0].Key != "memkernel:carry" || first.Role != memkernel.RoleAssistant && !transcript.PlainUser(first) {
				t.Errorf("what stands begins with %s", first.Key)
			}
			since = 0
			cuts++
		}
		c.loop(1, 5000)
		c.say()
	}
	if cuts < 2 {
		t.Fatalf("%d cuts", cuts)
	}
}

// TestRule2OpenLoop: inside an open tool loop only closed atoms change, and only
// when it must be; the message that opened the loop stays.
func TestRule2OpenLoop(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(82)
	c.user()
	cuts := 0
	for range 70 {
		c.loop(2, 4000)
		p := planned(t, k, request(c))
		if p.Messages[0].Key != "m0001" && p.Messages[1].Key != "m0001" {
			t.Fatalf("the opener left: %s %s", p.Messages[0].Key, p.Messages[1].Key)
		}
		newest := newestOf(p)
		for i := range newest.Parts {
			if newest.Parts[i].Result.Content[0].Text != c.msgs[len(c.msgs)-1].Parts[i].Result.Content[0].Text {
				t.Fatal("a result was degraded that the model has not seen")
			}
		}
		if m := p.Layout.Made; m != nil {
			if cuts++; m.Reason != string(pagevm.CutForced) {
				t.Errorf("a %s cut in an open loop", m.Reason)
			}
		}
	}
	if cuts == 0 {
		t.Fatal("nothing was cut")
	}
}

// TestRule3ColdOnce: a cold cache makes a pending cut free, once; with nothing
// pending there is none.
func TestRule3ColdOnce(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(83, 5, 2, 7000)
	big := func() api.PlanRequest { r := request(c); r.ContextWindow = 200_000; return r }
	if p := planned(t, k, big()); p.Layout.Made != nil || !p.Layout.Cold {
		t.Fatalf("the first plan: cold %v, cut %v", p.Layout.Cold, p.Layout.Made)
	}
	c.grow()
	if p := planned(t, k, big()); p.Layout.Made != nil || p.Layout.Cold {
		t.Fatalf("a warm plan: cold %v, cut %v", p.Layout.Cold, p.Layout.Made)
	}
	for range 3 {
		c.grow()
		c.gap(3 * time.Hour)
		made := 0
		for range 3 { // a host that tries the same call again
			p := planned(t, k, big())
			if m := p.Layout.Made; m != nil {
				if made++; m.Event == "" || m.Reason != string(pagevm.CutCold) {
					t.Errorf("a cut of a cold cache: %+v", m)
				}
			}
		}
		pending := len(c.msgs) > 0 && c.n < 70
		if pending && made != 1 || made > 1 {
			t.Errorf("%d cuts for one cold event", made)
		}
		c.n += 100 // nothing is pending any more
	}
	small := memoryKernel(t)
	defer small.Close()
	c = session(84, 2, 1, 900)
	planned(t, small, request(c))
	c.grow()
	c.gap(3 * time.Hour)
	if p := planned(t, small, request(c)); !p.Layout.Cold || p.Layout.Made != nil {
		t.Errorf("nothing is pending: cold %v, cut %v", p.Layout.Cold, p.Layout.Made)
	}
}

// TestRule3ColdInALoop: a pause inside an open tool loop takes nothing from the agent,
// whatever it lasted: what it read before stands when it goes on. Behind the loop's end
// a cold cache is cut as ever, and inside it what no longer fits, or what the host asks for.
func TestRule3ColdInALoop(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(86, 5, 2, 7000)
	big := func() api.PlanRequest { r := request(c); r.ContextWindow = 200_000; return r }
	planned(t, k, big())
	c.user()
	last := stream(planned(t, k, big()))
	for i := range 6 {
		c.gap(time.Duration(1+i*i) * 7 * time.Minute)
		c.loop(1+i%3, 3000)
		p := planned(t, k, big())
		if !p.Layout.Cold || p.Layout.Made != nil || !strings.HasPrefix(stream(p), last) {
			t.Fatalf("pause %d in the loop: cold %v, cut %+v", i, p.Layout.Cold, p.Layout.Made)
		}
		last = stream(p)
	}
	c.gap(time.Hour)
	if got := compact(t, k, api.Boundary{Now: c.now, Compact: &api.CompactWish{Tokens: 20_000}}); got.Reason != api.CompactOK {
		t.Errorf("asked for in a cold cache: %+v", got)
	}
	c.loop(4, 9000)
	r := big()
	r.ContextWindow = planned(t, k, r).Budgets.PlannedInputTokens + 3000
	r.Reserve = 4000
	c.gap(time.Hour)
	r.Now, r.Messages = c.now, request(c).Messages
	if p := planned(t, k, r); !p.Layout.Cold || p.Layout.Made == nil {
		t.Errorf("what does not fit is not cut: cold %v", p.Layout.Cold)
	}
	c.loop(2, 9000)
	c.say()
	c.user()
	if p := planned(t, k, big()); p.Layout.Cold || p.Layout.Made != nil {
		t.Errorf("a new turn in a warm cache: cold %v, cut %+v", p.Layout.Cold, p.Layout.Made)
	}
	c.loop(3, 9000)
	c.grow()
	c.gap(time.Hour)
	if p := planned(t, k, big()); p.Layout.Made == nil || p.Layout.Made.Reason != string(pagevm.CutCold) {
		t.Errorf("a cold cache behind the loop's end: %+v", p.Layout.Made)
	}
}

// TestRule4TailOnly: what is new stands behind the previous tail, and the
// breakpoints stand at both tails.
func TestRule4TailOnly(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(85, 2, 2, 6000)
	p := planned(t, k, request(c))
	for range 6 {
		tail := len(p.Messages) - 1
		c.loop(1, 2500)
		q := planned(t, k, request(c))
		if diff := cmp.Diff(p.Messages, q.Messages[:tail+1]); diff != "" {
			t.Fatalf("what was sent changed:\n%s", diff)
		}
		var at []int
		for _, m := range q.Markers {
			at = append(at, m.Message)
		}
		if n := len(at); n < 2 || at[n-1] != len(q.Messages)-1 || at[n-2] != tail {
			t.Errorf("breakpoints stand at %v, the tails are %d and %d", at, tail, len(q.Messages)-1)
		}
		p = q
	}
}

// TestRule5NoVoluntaryChange: in a warm cache nothing is changed that need not be,
// however much there is to save; what it would take to pay back is reported.
func TestRule5NoVoluntaryChange(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(86, 20, 3, 7000)
	req := request(c)
	req.ContextWindow = 1_000_000
	p := planned(t, k, req)
	for range 12 {
		c.loop(2, 7000)
		req := request(c)
		req.ContextWindow = 1_000_000
		q := planned(t, k, req)
		f := q.Layout.Cut.Figures
		if q.Layout.Made != nil || !strings.HasPrefix(stream(q), stream(p)) {
			t.Fatalf("changed a warm prefix: %+v", q.Layout.Cut)
		}
		if f.Saved > 0 && f.BreakEvenTurns <= 0 {
			t.Errorf("no payback is reported: %+v", f)
		}
		p = q
	}
}

// TestRule7FrozenBytes: what was sent stays as it was until a cut, though window,
// resolver, tools or system change.
func TestRule7FrozenBytes(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	c := newConversation(87)
	c.user()
	c.loop(1, 40_000) // larger than is shown in full
	p := planned(t, k, request(c))
	if len(p.Reduced) != 1 || p.Reduced[0].Level != pagevm.Pointer {
		t.Fatalf("reduced is %+v", p.Reduced)
	}
	for _, change := range []func(*api.PlanRequest){
		func(r *api.PlanRequest) { r.ContextWindow = 200_000 },
		func(r *api.PlanRequest) { r.Resolver = "" },
		func(r *api.PlanRequest) { r.Resolver = "read_page" },
		func(r *api.PlanRequest) { r.System = []memkernel.Part{words("Be brief.")} },
		func(r *api.PlanRequest) { r.Tools = []memkernel.Tool{{Name: "Read", Raw: `{"name":"Read"}`}} },
		func(r *api.PlanRequest) { r.Thinking, r.Effort, r.ToolChoice = "off", "low", "none" },
		func(r *api.PlanRequest) { r.Reserve = 20_000 },
	} {
		c.loop(1, 500)
		req := request(c)
		change(&req)
		q := planned(t, k, req)
		if !strings.HasPrefix(stream(q), stream(p)) || q.Layout.Made != nil {
			t.Fatalf("what was sent changed: %s", cmp.Diff(stream(p), stream(q)))
		}
		k.Close()
		k = openKernel(t, dir)
		p = q
	}
}

// TestNoPointersWithoutResolver: at a cut for a request that names no resolver,
// nothing stays below structured, though it was sent as a pointer before.
func TestNoPointersWithoutResolver(t *testing.T) {
	for _, reopen := range []bool{false, true} {
		dir := t.TempDir()
		k := openKernel(t, dir)
		c := session(88, 9, 3, 9000)
		if p := planned(t, k, request(c)); len(p.Reduced) == 0 {
			t.Fatal("nothing was reduced")
		}
		if reopen {
			k.Close()
			k = openKernel(t, dir)
		}
		for range 40 {
			c.say()
			c.user()
			c.loop(2, 7000)
			c.say()
			c.user()
			req := request(c)
			req.Resolver = ""
			p := planned(t, k, req)
			if p.Layout.Made == nil {
				continue
			}
			for id, l := range levels(p) {
				if l < pagevm.Structured && l != pagevm.Gone && !strings.HasPrefix(id, "cy-") {
					t.Errorf("page %s stands as %s", id, l)
				}
			}
			break
		}
		k.Close()
	}
}

// thinkingKeys are the messages that stand with their thinking.
func thinkingKeys(p *api.ContextPlan) map[string]bool {
	out := map[string]bool{}
	for i := range p.Messages {
		for _, part := range p.Messages[i].Parts {
			if part.Kind == memkernel.PartThinking || part.Kind == memkernel.PartRedactedThinking {
				out[p.Messages[i].Key] = true
			}
		}
	}
	return out
}

func bound(c *conversation) api.PlanRequest {
	req := request(c)
	req.Model = boundModel
	return req
}

// TestRule6BoundThinking: where thinking is bound to its prefix, no thinking that a
// cut made invalid is sent again, and what came behind the cut is.
func TestRule6BoundThinking(t *testing.T) {
	if m, ok := cachelayout.DefaultBook().Lookup(boundModel, time.Time{}); !ok || !m.PreservedThinking {
		t.Fatalf("%s does not bind its thinking", boundModel)
	}
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	c := newConversation(89)
	stale, cuts := map[string]bool{}, 0
	for i := range suite.Pick(24, 40) {
		c.user()
		c.loop(2, 5000)
		if i%9 == 4 { // a message that holds nothing but thinking
			c.msgs[len(c.msgs)-2].Parts = append([]memkernel.Part{c.msgs[len(c.msgs)-2].Parts[0]}, c.msgs[len(c.msgs)-2].Parts[2:]...)
		}
		c.say()
		c.add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartThinking, Text: "done?", Signature: "sig"})
		c.user()
		p := planned(t, k, bound(c))
		if p.Layout.Made != nil {
			cuts++
			for j := range c.msgs {
				stale[c.msgs[j].Key] = true
			}
		}
		for key := range thinkingKeys(p) {
			if stale[key] {
				t.Fatalf("message %s is sent with thinking that a cut made invalid", key)
			}
		}
		if p.Params.ThinkingOff || p.Params.DropOption {
			t.Errorf("params %+v at the start of a user turn", p.Params)
		}
		if i%6 == 5 {
			k.Close()
			k = openKernel(t, dir)
		}
		c.say()
	}
	if cuts < 2 {
		t.Fatalf("%d cuts", cuts)
	}
}

// TestRule6OpenLoop: in an open loop a cut waits; if it can't, thinking is off until
// the loop ends. With the provider's drop option the blocks stay.
func TestRule6OpenLoop(t *testing.T) {
	for name, drop := range map[string]bool{"without the drop option": false, "with it": true} {
		t.Run(name, func(t *testing.T) {
			k := memoryKernel(t)
			defer k.Close()
			c := session(90, 6, 2, 7000)
			plan := func() *api.ContextPlan {
				req := bound(c)
				req.DropOption, req.Thinking = drop, `{"type":"enabled","budget_tokens":4096}`
				return planned(t, k, req)
			}
			plan()
			loopStart := len(c.msgs)
			forced := false
			for range 40 {
				c.loop(2, 4000)
				c.gap(2 * time.Hour)
				p := plan()
				if m := p.Layout.Made; m != nil {
					if !drop && m.Reason != string(pagevm.CutForced) && !p.Layout.Cut.Force {
						t.Errorf("a %s cut did not wait for the loop's end", m.Reason)
					}
					forced = true
				}
				kept := thinkingKeys(p)
				for _, m := range c.msgs[loopStart:] {
					if m.Role == memkernel.RoleAssistant && drop && len(p.Layout.Cuts) > 0 && !kept[m.Key] && goneKeys(p)[m.Key] == "" {
						t.Fatalf("message %s lost its thinking though the provider can drop it", m.Key)
					}
				}
				if want := forced && !drop; p.Params.ThinkingOff != want {
					t.Fatalf("thinking off is %v, want %v", p.Params.ThinkingOff, want)
				}
				if want := drop && len(p.Layout.Cuts) > 0; p.Params.DropOption != want || (len(p.Params.Betas) > 0) != want {
					t.Fatalf("params %+v, want the drop option %v", p.Params, want)
				}
			}
			if !forced {
				t.Fatal("nothing was cut")
			}
			c.say()
			c.user()
			if p := plan(); p.Params.ThinkingOff {
				t.Error("thinking is still off after the loop's end")
			}
		})
	}
}

// TestLateResults: calls whose results come one by one, and late, are never sent
// open, and everything is right once they are in.
func TestLateResults(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(91, 1, 1, 900)
	c.call(3)
	ids := []string{}
	for _, part := range c.msgs[len(c.msgs)-1].Parts {
		if part.Call != nil {
			ids = append(ids, part.Call.ID)
		}
	}
	for i, id := range []string{"", ids[1], ids[0], ids[2]} {
		if id != "" {
			c.add(memkernel.RoleUser, result(id, words("result of "+id)))
		}
		req := request(c)
		p := mustPlan(t, k, req)
		healed, _ := transcript.Repair(c.msgs, false)
		checkPlan(t, p, healed)
		if n := strings.Count(stream(p), "[no result was recorded for this call]"); n != 3-i {
			t.Errorf("%d results in: %d calls have a synthetic one", i, n)
		}
		if hasFault(p, "missing_result") != (i < 3) {
			t.Errorf("%d results in: faults are %v", i, p.Faults)
		}
	}
	goesOn(t, k, dir, c, planned(t, k, narrow(c)))
}

// TestKilledInALongLoop: whatever was ingested in a loop is there after a kill, and
// costs no more than it holds.
func TestKilledInALongLoop(t *testing.T) {
	dir := t.TempDir()
	c := newConversation(92)
	c.user()
	loops := suite.Pick(16, 36)
	for i := range loops {
		k := openKernel(t, dir) // and never closed: it was killed
		c.loop(2, []int{300, 6000}[i%2])
		o, err := k.ObserveToolResult(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs})
		if err != nil || o.Outcome != api.OpenTurn {
			t.Fatalf("%+v, %v", o, err)
		}
		if want := 3; i > 0 && o.Ingested != want {
			t.Fatalf("call %d: %d pages were new, want %d", i, o.Ingested, want)
		}
	}
	k := openKernel(t, dir)
	defer k.Close()
	size := int64(0)
	if st, err := os.Stat(sessionFile(dir, "journal.jsonl")); err == nil {
		size = st.Size()
	}
	held := 0
	req := request(c)
	req.ContextWindow = 200_000 // which holds all results
	p := planned(t, k, req)
	if p.Stats.Ingested > 4*loops {
		t.Errorf("%d pages were ingested again", p.Stats.Ingested)
	}
	want := resultTexts(c.msgs)
	for _, row := range p.Debug.Included {
		if row.Kind == string(pagevm.Evidence) {
			content := get(t, k, row.ID)
			if content.Text != want[content.Page.CallID] {
				t.Errorf("%s does not restore", row.ID)
			}
			held += len(content.Text)
		}
	}
	if size > int64(4*held) {
		t.Errorf("the journal takes %d bytes for %d", size, held)
	}
	clean(t, k)
}

func regionTokens(p *api.ContextPlan, name string) int {
	for _, r := range p.Regions {
		if r.Name == name {
			return r.Tokens
		}
	}
	return 0
}
