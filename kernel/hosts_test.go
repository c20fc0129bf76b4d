package kernel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// narrow is a request for a window in which whole atoms leave soon.
func narrow(c *conversation) api.PlanRequest {
	req := request(c)
	req.ContextWindow = 32_000
	return req
}

// cutSession is a session of which a part left at a cut, and the plan that cut it.
func cutSession(t *testing.T, k *kernel.Kernel, seed int64) (*conversation, *api.ContextPlan) {
	t.Helper()
	c := session(seed, 12, 6, 2500)
	p := planned(t, k, narrow(c))
	if p.Layout.Made == nil || len(goneKeys(p)) == 0 {
		t.Fatal("the window is too large for this test: nothing left")
	}
	return c, p
}

// newestStands cuts sessions until nothing of the newest turn has left, nor the message before it.
func newestStands(t *testing.T, seed *int64) (string, *kernel.Kernel, *conversation, *api.ContextPlan) {
	t.Helper()
	for ; ; *seed++ {
		dir := t.TempDir()
		k := openKernel(t, dir)
		c, p := cutSession(t, k, *seed)
		at := len(c.msgs) - 2
		for ; !transcript.PlainUser(c.msgs[at]); at-- {
		}
		gone := goneKeys(p)
		if !slices.ContainsFunc(c.msgs[at-1:], func(m memkernel.Message) bool { return gone[m.Key] != "" }) {
			return dir, k, c, p
		}
		k.Close()
	}
}

// goneKeys are the messages that left the prompt.
func goneKeys(p *api.ContextPlan) map[string]string {
	gone := map[string]string{}
	for _, r := range p.Reduced {
		if r.Level == pagevm.Gone {
			gone[r.Key] = r.Handle
		}
	}
	return gone
}

// grow asks the model and the user for another turn.
func (c *conversation) grow() {
	c.say()
	c.user()
}

// goesOn plans another turn, which must extend the plan before, also by a kernel
// that is opened anew.
func goesOn(t *testing.T, k *kernel.Kernel, dir string, c *conversation, p *api.ContextPlan) {
	t.Helper()
	c.grow()
	q := planned(t, k, narrow(c))
	if q.Layout.Made == nil && !strings.HasPrefix(stream(q), stream(p)) {
		t.Error("the next plan does not extend the one before")
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	if diff := cmp.Diff(stream(q), stream(planned(t, k, narrow(c)))); diff != "" {
		t.Errorf("a reopened kernel sends other bytes:\n%s", diff)
	}
	clean(t, k)
}

// TestHostRewrites: each way of a host to change what it sent before has a name,
// keeps every byte that it can, and loses nothing that was stored.
func TestHostRewrites(t *testing.T) {
	compact := func(c *conversation, keep int) {
		c.n++
		sum := memkernel.Message{Key: fmt.Sprintf("m%04d", c.n), Role: memkernel.RoleUser, Origin: memkernel.OriginSummary, Time: c.now,
			Parts: []memkernel.Part{words("The host's own summary.")}}
		c.msgs = append([]memkernel.Message{sum}, c.msgs[len(c.msgs)-keep:]...)
	}
	edit := func(c *conversation, i int, text string) {
		c.msgs = append([]memkernel.Message(nil), c.msgs...)
		c.msgs[i].Parts = []memkernel.Part{words(text)}
	}
	tests := []struct {
		name  string
		fault pagevm.Rewrite
		// do changes the host's messages; keep is up to which of them every byte
		// that was sent must stand, "" for all of the request.
		do func(c *conversation, gone map[string]string) (keep string)
	}{
		{"sends the same again", pagevm.RewriteNone, func(c *conversation, _ map[string]string) string { return "" }},
		{"goes on", pagevm.RewriteNone, func(c *conversation, _ map[string]string) string { c.grow(); return "" }},
		{"edits what left", pagevm.RewriteUnder, func(c *conversation, gone map[string]string) string {
			for i := range c.msgs {
				if m := c.msgs[i]; gone[m.Key] != "" && !transcript.HasResults(m) && !transcript.HasCalls(m) {
					edit(c, i, "edited")
					break
				}
			}
			c.grow()
			return ""
		}},
		{"clears results that left", pagevm.RewriteUnder, func(c *conversation, gone map[string]string) string {
			for i := range c.msgs {
				if gone[c.msgs[i].Key] != "" && transcript.HasResults(c.msgs[i]) {
					c.msgs = append([]memkernel.Message(nil), c.msgs...)
					c.msgs[i].Parts = []memkernel.Part{result(c.msgs[i].Parts[0].Result.CallID, words("[cleared]"))}
					break
				}
			}
			c.grow()
			return ""
		}},
		{"drops what left", pagevm.RewriteUnder, func(c *conversation, gone map[string]string) string {
			kept := c.msgs[:0:0]
			for _, m := range c.msgs {
				if gone[m.Key] == "" {
					kept = append(kept, m)
				}
			}
			c.msgs = kept
			c.grow()
			return ""
		}},
		{"edits what stands", pagevm.RewriteBehind, func(c *conversation, _ map[string]string) string {
			edit(c, len(c.msgs)-1, "something else entirely")
			return c.msgs[len(c.msgs)-2].Key
		}},
		{"clears results that stand", pagevm.RewriteBehind, func(c *conversation, gone map[string]string) string {
			i := len(c.msgs) - 2
			for ; !transcript.HasResults(c.msgs[i]); i-- {
			}
			c.msgs = append([]memkernel.Message(nil), c.msgs...)
			c.msgs[i].Parts = append([]memkernel.Part(nil), c.msgs[i].Parts...)
			for j := range c.msgs[i].Parts {
				c.msgs[i].Parts[j] = result(c.msgs[i].Parts[j].Result.CallID, words("[cleared]"))
			}
			return c.msgs[i-1].Key
		}},
		{"takes the last turn back", pagevm.RewriteRewind, func(c *conversation, _ map[string]string) string {
			for c.msgs = c.msgs[:len(c.msgs)-1]; !transcript.PlainUser(c.msgs[len(c.msgs)-1]); {
				c.msgs = c.msgs[:len(c.msgs)-1]
			}
			return c.msgs[len(c.msgs)-1].Key
		}},
		{"forks", pagevm.RewriteBehind, func(c *conversation, _ map[string]string) string {
			at := len(c.msgs) - 1
			for at--; !transcript.PlainUser(c.msgs[at]); at-- {
			}
			c.msgs = c.msgs[:at:at]
			last := c.msgs[at-1].Key
			c.user()
			c.loop(2, 900)
			return last
		}},
		{"compacts", pagevm.RewriteBehind, func(c *conversation, _ map[string]string) string { compact(c, 1); return "-" }},
		{"starts over", pagevm.RewriteBehind, func(c *conversation, _ map[string]string) string {
			c.msgs = nil
			c.user()
			return "-"
		}},
	}
	seed := int64(73)
	for i, tt := range tests {
		if i%2 == 0 && !suite.Long() { // the odd ones have each fault
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			dir, k, c, p := newestStands(t, &seed)
			defer k.Close()
			stored := restoreAll(t, k, p)
			keep := tt.do(c, goneKeys(p))
			q := planned(t, k, narrow(c))
			for _, f := range []pagevm.Rewrite{pagevm.RewriteUnder, pagevm.RewriteBehind, pagevm.RewriteRewind} {
				if hasFault(q, fault.Code(f)) != (f == tt.fault) {
					t.Errorf("faults are %v, want %q", q.Faults, tt.fault)
				}
			}
			if want := upTo(p, keep); !strings.HasPrefix(stream(q), want) {
				t.Errorf("bytes up to %q changed that could have stayed", keep)
			}
			if tt.fault != pagevm.RewriteNone && q.Layout.Made != nil {
				t.Error("a rewrite triggered a cut")
			}
			for id, text := range stored {
				if got := get(t, k, id); got.Text != text {
					t.Errorf("%s restores to something else now", id)
				}
			}
			goesOn(t, k, dir, c, q)
		})
	}
}

// restoreAll reads everything that a plan reduced.
func restoreAll(t *testing.T, k *kernel.Kernel, p *api.ContextPlan) map[string]string {
	t.Helper()
	out := map[string]string{}
	for i, r := range p.Reduced {
		if out[r.Handle] == "" && i < suite.Pick(12, 60) {
			out[r.Handle] = get(t, k, r.Handle).Text
		}
	}
	if len(out) == 0 {
		t.Fatal("nothing was reduced")
	}
	return out
}

// upTo is the stream of a plan up to the message with key, "" for all, "-" for
// nothing.
func upTo(p *api.ContextPlan, key string) string {
	switch key {
	case "":
		return stream(p)
	case "-":
		return ""
	}
	for i := range p.Messages {
		if p.Messages[i].Key == key {
			return stream(&api.ContextPlan{Messages: p.Messages[:i+1]})
		}
	}
	return stream(p)
}

// TestForkedArmsInTurn: a host that goes back and forth between two arms of a fork
// gets each arm right.
func TestForkedArmsInTurn(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	a := session(71, 2, 2, 6000)
	planned(t, k, narrow(a))
	b := *a
	b.msgs = a.msgs[: len(a.msgs)-1 : len(a.msgs)-1]
	a.msgs = a.msgs[:len(a.msgs):len(a.msgs)]
	b.n += 1000
	b.user()
	var last *api.ContextPlan
	for i := range 6 {
		for _, arm := range []*conversation{a, &b} {
			arm.loop(1, 3000)
			last = planned(t, k, narrow(arm))
			if i > 0 && !hasFault(last, "host_rewrite") {
				t.Errorf("faults are %v", last.Faults)
			}
		}
	}
	goesOn(t, k, dir, &b, last)
}

// TestBranchesInTurn: a sidechain has a prompt and pages of its own, whatever ids
// its host gives.
func TestBranchesInTurn(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	arms := map[string]*conversation{"": newConversation(72), "agent-7": newConversation(73)} // equal keys and call ids
	last := map[string]*api.ContextPlan{}
	for i := range 14 {
		for _, branch := range []string{"", "agent-7"} {
			c := arms[branch]
			c.user()
			c.loop(2, 6000)
			req := request(c)
			req.Branch = branch
			p := planned(t, k, req)
			if p.Layout.Made == nil && last[branch] != nil && !strings.HasPrefix(stream(p), stream(last[branch])) {
				t.Fatalf("branch %q: not an extension of the request before", branch)
			}
			last[branch] = p
			c.say()
			if o, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Branch: branch, Model: model, Messages: c.msgs, PlanID: p.ID}); err != nil || o.Outcome != api.Committed {
				t.Fatalf("observe branch %q: %+v, %v", branch, o, err)
			}
		}
		if i%5 == 4 {
			k.Close()
			k = openKernel(t, dir)
		}
	}
	for branch, p := range last {
		want := resultTexts(arms[branch].msgs)
		n := 0
		for _, r := range p.Reduced {
			if r.CallID == "" {
				continue
			}
			if n++; get(t, k, r.Page).Text != want[r.CallID] {
				t.Errorf("branch %q: page of %s holds another branch's result", branch, r.CallID)
			}
		}
		if n == 0 {
			t.Errorf("branch %q: nothing was reduced", branch)
		}
	}
	clean(t, k)
}

func resultTexts(msgs []memkernel.Message) map[string]string {
	out := map[string]string{}
	for i := range msgs {
		for _, part := range msgs[i].Parts {
			if part.Result != nil {
				out[part.Result.CallID] = part.Result.Content[0].Text
			}
		}
	}
	return out
}

// TestModelsInTurn: two models share pages and nothing else; each sees its own
// prompt grow.
func TestModelsInTurn(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	c := newConversation(74)
	last, pages := map[string]*api.ContextPlan{}, 0
	for i := range 12 {
		c.user()
		c.loop(2, 6000)
		for _, m := range []string{model, "gpt-5", "house-model-9"} {
			req := request(c)
			req.Model = m
			p := mustPlan(t, k, req)
			checkPlanAs(t, p.Format, p, c.msgs)
			if m != model && p.Stats.Ingested > 0 {
				t.Errorf("%s ingested %d pages that were known", m, p.Stats.Ingested)
			}
			pages += p.Stats.Ingested
			if p.Layout.Made == nil && last[m] != nil && !strings.HasPrefix(stream(p), stream(last[m])) {
				t.Fatalf("%s: not an extension of the request before", m)
			}
			last[m] = p
		}
		c.say()
		if i%5 == 4 {
			k.Close()
			k = openKernel(t, dir)
		}
	}
	if want := 12*5 - 1; pages != want {
		t.Errorf("%d pages were ingested, want %d", pages, want)
	}
	clean(t, k)
}

// TestTwoProcesses: two kernels on one state directory, planning and observing by
// turns, send what one would have sent.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	one := memoryKernel(t)
	defer one.Close()
	two := []*kernel.Kernel{openKernel(t, dir), openKernel(t, dir)}
	defer two[0].Close()
	defer two[1].Close()
	c := newConversation(75)
	for i := range suite.Pick(10, 16) {
		c.user()
		if i%3 == 2 {
			c.gap(2 * time.Hour)
		}
		c.loop(2, 6000)
		turn := api.Turn{SessionKey: "s", Model: model, Messages: c.msgs}
		if _, err := two[(i+1)%2].ObserveToolResult(context.Background(), turn); err != nil {
			t.Fatal(err)
		}
		want, got := planned(t, one, request(c)), planned(t, two[i%2], request(c))
		if diff := cmp.Diff(stream(want), stream(got)); diff != "" {
			t.Fatalf("call %d: two processes send other bytes:\n%s", i, diff)
		}
		c.say()
		observe(t, one, api.Turn{Messages: c.msgs, PlanID: want.ID})
		if o := observe(t, two[i/2%2], api.Turn{Messages: c.msgs, PlanID: got.ID}); o.Outcome != api.Committed || o.Turns != i+1 {
			t.Fatalf("observe: %+v", o)
		}
		if o := observe(t, two[(i/2+1)%2], api.Turn{Messages: c.msgs, PlanID: got.ID}); o.Outcome != api.Duplicate || o.Turns != i+1 {
			t.Fatalf("observe again, in the other process: %+v", o)
		}
	}
	clean(t, two[0])
}

// TestPromptStandsOnce: a prompt that was planned before the host wrote it down is
// recognised as the host's later message, whatever the host made of it. It stands
// once, with the bytes that were sent, also for a kernel that is opened anew.
func TestPromptStandsOnce(t *testing.T) {
	const prompt = "Now fix the flaky test, please.\nIt is in pkg/queue."
	const hint = "<system-reminder>The date is 2026-11-03.</system-reminder>"
	tests := []struct {
		name, prompt, turn string
		made               func(m *memkernel.Message)
	}{
		{"as it was", prompt, "", func(m *memkernel.Message) { m.Parts = []memkernel.Part{words(prompt)} }},
		{"as it was, without an id", prompt, "", func(m *memkernel.Message) { m.Key, m.Parts = "", []memkernel.Part{words(prompt)} }},
		{"with an id of the turn", prompt, "turn-1", func(m *memkernel.Message) { m.Turn, m.Parts = "turn-1", []memkernel.Part{words(prompt)} }},
		{"with its own JSON", prompt, "", func(m *memkernel.Message) {
			p := words(prompt)
			p.Raw = `{"text":"Now fix the flaky test, please.\nIt is in pkg\/queue.","type":"text"}`
			m.Parts = []memkernel.Part{p}
		}},
		{"with a hint in front", prompt, "", func(m *memkernel.Message) { m.Parts = []memkernel.Part{words(hint + "\n" + prompt)} }},
		{"with a hint behind", prompt, "", func(m *memkernel.Message) { m.Parts = []memkernel.Part{words(prompt + "\n\n" + hint)} }},
		{"with a hint beside", prompt, "", func(m *memkernel.Message) { m.Parts = []memkernel.Part{words(hint), words(prompt)} }},
		{"reworded, by the turn", prompt, "turn-1", func(m *memkernel.Message) {
			m.Turn, m.Parts = "turn-1", []memkernel.Part{words("[09:14] " + prompt + " (sent from the phone)")}
		}},
		{"with a secret", "use ghp_0123456789abcdefghijABCDEFGHIJ012345 for it", "", func(m *memkernel.Message) {
			m.Parts = []memkernel.Part{words("use ghp_0123456789abcdefghijABCDEFGHIJ012345 for it")}
		}},
	}
	for _, tt := range tests {
		for how, reopen := range map[string]bool{"open": false, "reopened": true} {
			t.Run(tt.name+" "+how, func(t *testing.T) {
				dir := t.TempDir()
				k := openKernel(t, dir)
				defer func() { k.Close() }()
				c := session(76, 1, 1, 900)
				c.msgs = c.msgs[:len(c.msgs)-1] // ends with the answer
				req := request(c)
				req.Prompt, req.Turn = tt.prompt, tt.turn
				p := mustPlan(t, k, req)
				checkPlan(t, p, append(c.msgs[:len(c.msgs):len(c.msgs)], p.Messages[len(p.Messages)-1]))
				if again := mustPlan(t, k, req); stream(again) != stream(p) {
					t.Error("planned twice it is sent in another way")
				}
				c.add(memkernel.RoleUser)
				tt.made(&c.msgs[len(c.msgs)-1])
				for i := range 3 {
					if reopen {
						k.Close()
						k = openKernel(t, dir)
					}
					c.loop(1, 900)
					q := planned(t, k, request(c))
					if !strings.HasPrefix(stream(q), stream(p)) {
						t.Fatalf("plan %d does not extend what was sent:\n%s", i+1, cmp.Diff(stream(p), stream(q)))
					}
					if n := strings.Count(stream(q), strings.Split(tt.prompt, "\n")[0]); n != 1 {
						t.Fatalf("the prompt stands %d times", n)
					}
					p = q
				}
				clean(t, k)
			})
		}
	}
}

// TestAnotherMessageIsNotThePrompt: what the host sent in the place of a prompt is
// taken for it only if it is it. Otherwise it is shown, every word.
func TestAnotherMessageIsNotThePrompt(t *testing.T) {
	for name, text := range map[string]string{"other words": "no, wait", "the words in others": "let us proceed with plan B and go home", "longer": "proceed, but carefully"} {
		t.Run(name, func(t *testing.T) {
			k := memoryKernel(t)
			defer k.Close()
			c := session(77, 1, 1, 900)
			c.msgs = c.msgs[:len(c.msgs)-1]
			req := request(c)
			req.Prompt = "proceed"
			mustPlan(t, k, req)
			c.add(memkernel.RoleUser, words(text))
			p := planned(t, k, request(c))
			if !strings.Contains(stream(p), text) || !hasFault(p, "host_rewrite") || strings.Count(stream(p), "proceed") != strings.Count(text, "proceed") {
				t.Errorf("faults %v, sent:\n%s", p.Faults, stream(p))
			}
		})
	}
}
