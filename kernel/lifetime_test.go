package kernel_test

import (
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/outline"
)

// TestLifetimes: tools and system outlive the messages in a session, and in none that
// asked for the long lifetime throughout, was an errand, or is priced otherwise; the
// pace survives a restart.
func TestLifetimes(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(7, 3, 2, 500)
	ask := func(set func(*kernel.PlanRequest)) *kernel.ContextPlan {
		t.Helper()
		req := narrow(c)
		req.Model, req.FixedTokens = "claude-opus-4-5", 20_000
		set(&req)
		return planned(t, k, req)
	}
	p := ask(func(*kernel.PlanRequest) {})
	if l := p.Layout.Lifetimes; l.Fixed != time.Hour || l.Messages != 5*time.Minute || l.FixedWhy == "" || l.MessagesWhy == "" {
		t.Errorf("a session: %+v", l)
	}
	for _, b := range p.Layout.Breakpoints {
		if long := b.Region == outline.RegionSystem || b.Region == outline.RegionTools; long != (b.TTL == time.Hour) {
			t.Errorf("marker in %s lives %s", b.Region, b.TTL)
		}
	}
	if p.Layout.Advice.ExpiresAt.IsZero() || p.Layout.Pace.Calls < 2 {
		t.Errorf("advice %+v, pace %+v", p.Layout.Advice, p.Layout.Pace)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = openKernel(t, dir)
	defer k.Close()
	if again := ask(func(*kernel.PlanRequest) {}); again.Layout.Pace.Calls != p.Layout.Pace.Calls+1 {
		t.Errorf("pace %+v after a restart, %+v before", again.Layout.Pace, p.Layout.Pace)
	}
	if l := ask(func(r *kernel.PlanRequest) { r.SessionKey, r.TTL = "long", time.Hour }).Layout.Lifetimes; l.Fixed != time.Hour || l.Messages != time.Hour {
		t.Errorf("asked for: %+v", l)
	}
	if l := ask(func(r *kernel.PlanRequest) { r.SessionKey, r.Branch = "errand", "side" }).Layout.Lifetimes; l.Fixed != 5*time.Minute {
		t.Errorf("an errand: %+v", l)
	}
}
