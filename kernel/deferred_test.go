package kernel_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// What would be right to change, and waits for a cut, is listed with what it waits
// for; the cut makes it.
func TestDeferred(t *testing.T) {
	k, dir := workspaceKernel(t, nil)
	c := newConversation(17)
	c.user()
	plan := func() *api.ContextPlan {
		t.Helper()
		req := private(c)
		req.Deferred = true
		return mustPlan(t, k, req)
	}
	if p := plan(); len(p.Deferred) != 0 {
		t.Errorf("nothing is to be changed: %+v", p.Deferred)
	}
	const file = `{"file_path":"pkg/queue/ledger.go"}`
	text := c.code(5000)
	c.ask("Read", file, text)
	read := plan()
	c.ask("Read", file, text+c.code(200))
	c.say()
	put(t, dir, "AGENTS.md", "# Rules\n\n- Never push at night.\n")
	c.user()
	p := plan()
	why := map[string]api.Deferred{}
	for _, d := range p.Deferred {
		why[d.Why] = d
		if d.Waits == "" || d.SavedTokens <= 0 || d.To >= d.From {
			t.Errorf("%+v", d)
		}
	}
	if d := why[api.WhySuperseded]; d.From != pagevm.Full || d.To != pagevm.Pointer || !strings.HasPrefix(d.Page, "ev-") {
		t.Errorf("superseded: %+v", p.Deferred)
	}
	if d := why[api.WhyChanged]; !strings.HasPrefix(d.Page, "nt-") {
		t.Errorf("changed in the workspace: %+v", p.Deferred)
	}
	if len(read.Deferred) != 0 {
		t.Errorf("the only read is up to date: %+v", read.Deferred)
	}
	stale := why[api.WhySuperseded].Page
	for p.Layout.Made == nil {
		c.loop(2, 6000)
		c.say()
		c.user()
		p = plan()
	}
	for _, d := range p.Deferred {
		if d.Page == stale || d.Why == api.WhyChanged {
			t.Errorf("the cut left %+v", d)
		}
	}
}
