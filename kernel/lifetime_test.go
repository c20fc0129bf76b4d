package kernel_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
)

// TestLifetimes: tools and system outlive the messages in a session, and in none that
// asked for the long lifetime throughout, was an errand, or is priced otherwise; the
// pace survives a restart.
func TestLifetimes(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(7, 3, 2, 500)
	ask := func(set func(*api.PlanRequest)) *api.ContextPlan {
		t.Helper()
		req := narrow(c)
		req.Model, req.FixedTokens = "claude-opus-4-5", 20_000
		set(&req)
		return planned(t, k, req)
	}
	p := ask(func(*api.PlanRequest) {})
	if l := p.Layout.Lifetimes; l.FixedSeconds != 3600 || l.MessagesSeconds != 300 || l.FixedWhy == "" || l.MessagesWhy == "" {
		t.Errorf("a session: %+v", l)
	}
	for _, b := range p.Layout.Breakpoints {
		if long := b.Region == cachelayout.RegionSystem || b.Region == cachelayout.RegionTools; long != (b.TTLSeconds == 3600) {
			t.Errorf("marker in %s lives %d s", b.Region, b.TTLSeconds)
		}
	}
	if p.Layout.Pace.Calls < 2 {
		t.Errorf("pace %+v", p.Layout.Pace)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = openKernel(t, dir)
	defer k.Close()
	if again := ask(func(*api.PlanRequest) {}); again.Layout.Pace.Calls != p.Layout.Pace.Calls+1 {
		t.Errorf("pace %+v after a restart, %+v before", again.Layout.Pace, p.Layout.Pace)
	}
	if l := ask(func(r *api.PlanRequest) { r.SessionKey, r.TTL = "long", time.Hour }).Layout.Lifetimes; l.FixedSeconds != 3600 || l.MessagesSeconds != 3600 {
		t.Errorf("asked for: %+v", l)
	}
	if l := ask(func(r *api.PlanRequest) { r.SessionKey, r.Branch = "errand", "side" }).Layout.Lifetimes; l.FixedSeconds != 300 {
		t.Errorf("an errand: %+v", l)
	}
}

// TestFixedLifetimeThroughDays: a session that pauses for days pays the long lifetime of its
// fixed part once, and the same agent's next one not at all. Other agents, and what can't be
// read, change nothing. No marker lives shorter than one behind it.
func TestFixedLifetimeThroughDays(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	const day = 24 * time.Hour
	long := func(key, agent string, pauses ...time.Duration) (out []bool) {
		t.Helper()
		c := session(3, 1, 1, 500)
		for _, g := range append([]time.Duration{0}, pauses...) {
			c.gap(g)
			req := request(c)
			req.SessionKey, req.Source.Agent, req.Model, req.FixedTokens, req.Now = key, agent, "claude-opus-4-5", 20_000, c.now
			p := planned(t, k, req)
			out = append(out, p.Layout.Lifetimes.FixedSeconds == 3600)
			for i, b := range p.Layout.Breakpoints[1:] {
				if b.TTLSeconds > p.Layout.Breakpoints[i].TTLSeconds {
					t.Errorf("%s: %+v", key, p.Layout.Breakpoints)
				}
			}
			c.say()
			c.user()
		}
		return out
	}
	want := func(what string, got []bool, want ...bool) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: for long %v, want %v", what, got, want)
		}
	}
	want("days", long("a", "", day, day, day), true, false, false, false)
	want("minutes behind a day", long("b", "x", day, 10*time.Minute), true, false, true)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = openKernel(t, dir)
	want("the agent's next session", long("c", ""), false)
	want("another agent", long("d", "y"), true)
	path := filepath.Join(dir, ".memkernel", "habits.json")
	for _, content := range []string{"{", `{"version":9,"agents":[]}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		want("what can't be read", long("e"+content, "", day), true, false)
		if b, _ := os.ReadFile(path); strings.Contains(content, "9") && string(b) != content {
			t.Errorf("a newer version's file became %s", b)
		}
	}
}
