package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// What is pinned before the first plan stands in front; what is pinned later comes
// once behind the newest message, and in front from the next cut on.
func TestPinsStand(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	write(t, k, pin("r1", "Never touch prod."))
	c := session(41, 2, 2, 2000)
	p := mustPlan(t, k, request(c))
	if at := strings.Index(stream(p), "Never touch prod."); at < 0 || at > 400 || strings.Count(stream(p), "Never touch prod.") != 1 {
		t.Errorf("the pin stands at %d", at)
	}
	write(t, k, pin("r2", "Ask before deleting."))
	before := stream(p)
	for range 3 {
		c.loop(1, 2000)
		q := mustPlan(t, k, request(c))
		if !strings.HasPrefix(stream(q), before) {
			t.Fatal("pinning later changed what had been sent")
		}
		before = stream(q)
		if n := strings.Count(before, "Ask before deleting."); n != 1 {
			t.Errorf("the later pin stands %d times", n)
		}
		if len(q.Faults) > 0 {
			t.Errorf("faults %v", q.Faults)
		}
	}
	for cut := false; !cut; {
		c.say()
		c.user()
		c.loop(2, 9000)
		q := mustPlan(t, k, request(c))
		cut = q.Layout.Made != nil
		for _, text := range []string{"Never touch prod.", "Ask before deleting."} {
			if strings.Count(stream(q), text) != 1 {
				t.Errorf("%q stands %d times, cut %v", text, strings.Count(stream(q), text), cut)
			}
		}
		for _, f := range q.Faults {
			if f.Code == "pinned_invariant_miss" {
				t.Errorf("%+v", f)
			}
		}
	}
}

func TestProjectPagesAreShared(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	rule := journal.Update{Key: "tone", Type: pagevm.Preference, Field: "text", Op: journal.OpSetWithVersion, Value: []byte(`"Answer in one line."`),
		Scope: memkernel.ScopeProject, EvidenceRef: "session:s"}
	hard := journal.Update{Key: "tone", Field: journal.PinField, Op: journal.OpSetWithVersion, Value: []byte(`"hard"`),
		Scope: memkernel.ScopeProject, EvidenceRef: "session:s"}
	if r := write(t, k, rule, hard); len(r.Accepted) != 2 {
		t.Fatalf("%+v", r)
	}
	c := newConversation(42)
	c.user()
	req := request(c)
	req.SessionKey = "another"
	if p := mustPlan(t, k, req); !strings.Contains(stream(p), "Answer in one line.") {
		t.Error("another session does not see what the project shares")
	}
	// Without the right, and from an old version, nothing is written.
	ctx := context.Background()
	r, err := k.Write(ctx, api.WriteRequest{SessionKey: "another", Updates: []journal.Update{{Key: "tone", Field: "notes", Op: journal.OpAppend,
		Value: []byte(`[{"id":"n1","value":"x"}]`), Scope: memkernel.ScopeProject, EvidenceRef: "session:another"}}})
	if err != nil || len(r.Rejected) != 1 || r.Rejected[0].Code != journal.CodeScope {
		t.Errorf("without the right: %+v %v", r, err)
	}
	stale := rule
	stale.Value, stale.EvidenceRef = []byte(`"Answer at length."`), "session:another"
	r, err = k.Write(ctx, api.WriteRequest{SessionKey: "another", Project: true, Updates: []journal.Update{stale}})
	if err != nil || len(r.Rejected) != 1 || r.Rejected[0].Code != journal.CodeDestructive {
		t.Errorf("from an old version: %+v %v", r, err)
	}
	if pages, err := k.Pages(ctx, "another"); err != nil || len(pages) != 1 || pages[0].Key != "tone" {
		t.Errorf("pages: %+v %v", pages, err)
	}
}

func TestWritesAreChecked(t *testing.T) {
	ctx := context.Background()
	no := journal.Policy{Name: "no_friday", Refuse: func(p journal.Proposal) string {
		if strings.Contains(string(p.Update.Value), "friday") {
			return "not on fridays"
		}
		return ""
	}}
	k, err := kernel.Open(ctx, t.TempDir(), &kernel.Options{Policies: []journal.Policy{no}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	dangling := pin("r1", "x")
	dangling.EvidenceRef = "ev-nothing"
	for _, test := range []struct {
		name string
		u    journal.Update
		code string
	}{
		{"dangling evidence", dangling, journal.CodeProvenance},
		{"the host's policy", pin("r2", "deploy on friday"), journal.CodePolicy},
		{"what no rule refuses", pin("r3", "deploy on monday"), ""},
		{"an unknown type", journal.Update{Key: "x", Type: "nonsense", Field: "text", Op: journal.OpAppend, Scope: memkernel.ScopeSession, EvidenceRef: "session:s"}, journal.CodeSchema},
	} {
		r := write(t, k, test.u)
		switch {
		case test.code == "" && len(r.Accepted) != 1:
			t.Errorf("%s: %+v", test.name, r)
		case test.code != "" && (len(r.Rejected) != 1 || r.Rejected[0].Code != test.code):
			t.Errorf("%s: %+v, want %s", test.name, r, test.code)
		}
	}
	for _, u := range []journal.Update{{Key: "session", Type: "session"}, {Key: "memory", Type: "memory"}} {
		if _, err := k.Write(ctx, api.WriteRequest{SessionKey: "s", Updates: []journal.Update{u}}); err == nil {
			t.Errorf("a host wrote the kernel's own page %s", u.Key)
		}
	}
	if _, err := kernel.Open(ctx, t.TempDir(), &kernel.Options{Policies: []journal.Policy{{}}}); err == nil {
		t.Error("a policy without a name")
	}
}

// Updates that come with a turn are committed with it; what is rejected does not
// keep the turn from standing.
func TestTurnWithUpdates(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(43, 1, 1, 500)
	bad := pin("r2", "x")
	bad.EvidenceRef = "nothing"
	o := observe(t, k, api.Turn{Messages: c.msgs[:len(c.msgs)-1], Updates: []journal.Update{pin("r1", "Be brief."), bad}})
	if o.Outcome != api.Committed || len(o.Rejected) != 1 || o.Rejected[0].ID != "u2" {
		t.Fatalf("%+v", o)
	}
	if p := mustPlan(t, k, request(c)); !strings.Contains(stream(p), "Be brief.") {
		t.Error("the turn's update does not stand")
	}
}

func TestWriteMasksSecrets(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	write(t, k, pin("r1", "The key is "+secret+", never print \"it\"."))
	for _, f := range tree(t, dir) {
		if strings.Contains(read(t, "/", f), secret) {
			t.Errorf("%s holds the secret", f)
		}
	}
	c := newConversation(44)
	c.user()
	if p := mustPlan(t, k, request(c)); !strings.Contains(stream(p), "never print") {
		t.Error("the page was lost with its secret")
	}
}

// A pin that comes late makes its own room: what can leave gives way to it.
func TestPinMakesRoom(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(47, 3, 3, 9000)
	p := mustPlan(t, k, request(c))
	for p.Layout.Cut.Figures.HighWater-p.Budgets.PlannedInputTokens > 6000 {
		c.loop(1, 3000)
		p = mustPlan(t, k, request(c))
	}
	write(t, k, pin("big", strings.Repeat("Rule about the harbour office. ", 2100)))
	p = mustPlan(t, k, request(c))
	for _, f := range p.Faults {
		if f.Code == "pinned_invariant_miss" {
			t.Errorf("%+v", f)
		}
	}
	if p.Layout.Made == nil || !strings.Contains(stream(p), "harbour office") {
		t.Errorf("cut %v", p.Layout.Made)
	}
	checkPlan(t, p, c.msgs)
}

// A pin that finds no room whatever leaves is a fault that says how much is
// missing.
func TestPinWithoutRoom(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(45)
	c.user()
	c.loop(8, 15_000)
	req := request(c)
	mustPlan(t, k, req)
	for _, key := range []string{"a", "b", "c", "d"} {
		if r := write(t, k, pin(key, strings.Repeat("Rule about the harbour office. ", 2000))); len(r.Accepted) != 1 {
			t.Fatalf("%+v", r)
		}
	}
	p := mustPlan(t, k, req)
	var missed bool
	for _, f := range p.Faults {
		missed = missed || f.Code == "pinned_invariant_miss" && f.BudgetInsufficient && f.Page != "" && strings.Contains(f.Detail, "more than there are")
	}
	if !missed {
		t.Errorf("faults: %+v", p.Faults)
	}
}

// TestPanicLetsTheSessionGo: a panic of a host's policy, from which a server recovers, leaves the
// session free for the next call and for other processes.
func TestPanicLetsTheSessionGo(t *testing.T) {
	panics, dir := true, t.TempDir()
	no := journal.Policy{Name: "no", Refuse: func(journal.Proposal) string {
		if panics {
			panic("the policy")
		}
		return ""
	}}
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Policies: []journal.Policy{no}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("there was no panic")
			}
		}()
		write(t, k, pin("r1", "Rule r1 binds."))
	}()
	panics = false
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	other := openKernel(t, dir)
	defer other.Close()
	for _, k := range []*kernel.Kernel{k, other} {
		if _, err := k.Flush(ctx, api.Boundary{SessionKey: "s"}); err != nil {
			t.Errorf("the next call: %v", err)
		}
	}
	write(t, k, pin("r1", "Rule r1 binds."))
}
