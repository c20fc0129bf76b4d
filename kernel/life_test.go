package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

func checkpoints(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, ".memkernel/sessions/s/checkpoints/cp_*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// fill grows a session until its next plan is over a share of the window, without a
// cut, and gives that plan.
func fill(t *testing.T, k *kernel.Kernel, c *conversation, opt func(*api.PlanRequest), share float64) *api.ContextPlan {
	t.Helper()
	for range 200 {
		req := request(c)
		opt(&req)
		p := mustPlan(t, k, req)
		if p.Layout.Made != nil {
			t.Fatalf("a cut came at %.2f of the window, before %.2f", p.Budgets.Utilization, share)
		}
		if p.Budgets.Utilization >= share {
			return p
		}
		c.loop(1, 1500)
	}
	t.Fatal("the window never fills")
	return nil
}

// roomy makes the kernel's own cut come late.
func roomy(r *api.PlanRequest) { r.ContextWindow, r.Reserve = 40_000, 1000 }

// The gauge is told when a threshold is crossed, behind the newest message, once,
// and stays; at 80 % a checkpoint is on disk before the plan is used. What is said of the
// next cut beside it has each threshold once, too.
func TestGauge(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(51)
	c.user()
	p := fill(t, k, c, roomy, 0.70)
	text := stream(p)
	if strings.Count(text, "[Context: 7") != 1 || strings.LastIndex(text, "[Context: 7") < len(text)-200 || len(checkpoints(t, dir)) > 0 {
		t.Errorf("at %.2f: %d checkpoints, the prompt ends with %q", p.Budgets.Utilization, len(checkpoints(t, dir)), text[len(text)-200:])
	}
	c.loop(1, 300)
	req := request(c)
	roomy(&req)
	if q := mustPlan(t, k, req); !strings.HasPrefix(stream(q), text) || strings.Count(stream(q), "[Context:") != strings.Count(text, "[Context:") {
		t.Error("the gauge was told again, or moved")
	}
	p = fill(t, k, c, roomy, 0.80)
	text = stream(p)
	if strings.Count(text, "| Checkpoint saved]") != 1 || strings.Count(text, "[Context: 8") != 1 || strings.Count(text, "[Context:") > 4 || len(checkpoints(t, dir)) != 1 {
		t.Errorf("at %.2f: %d checkpoints, the prompt ends with %q", p.Budgets.Utilization, len(checkpoints(t, dir)), text[len(text)-300:])
	}
	got, err := k.Get(context.Background(), "s", "cp_001")
	if err != nil || !strings.Contains(got.Text, "auto-80pct") {
		t.Errorf("the checkpoint restores as %+v %v", got, err)
	}
	if got, err := k.Get(context.Background(), "s", "cp_001.resources"); err != nil || !strings.Contains(got.Text, "/worker_") {
		t.Errorf("a section restores as %+v %v", got, err)
	}
	if got, err := k.Get(context.Background(), "s", "cp_009"); err != nil || got.Reason != api.GetNoMatch {
		t.Errorf("an unknown checkpoint: %+v %v", got, err)
	}
}

// One result that fills the window from below every threshold to over all of them
// jumps past none: the checkpoint is there before the prompt is used.
func TestGaugeIsNotJumpedPast(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(52)
	c.user()
	fill(t, k, c, roomy, 0.3)
	c.loop(6, 9000)
	req := request(c)
	roomy(&req)
	p := mustPlan(t, k, req)
	if p.Budgets.Utilization < 0.8 || len(checkpoints(t, dir)) != 1 {
		t.Errorf("at %.2f: %d checkpoints", p.Budgets.Utilization, len(checkpoints(t, dir)))
	}
}

// Before a cut there is a checkpoint, and behind it one text about what left, with the words of
// the person.
func TestCutRestores(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(53, 8, 3, 9000)
	p := mustPlan(t, k, request(c))
	if p.Layout.Made == nil || len(checkpoints(t, dir)) != 1 {
		t.Fatalf("cut %v, %d checkpoints", p.Layout.Made, len(checkpoints(t, dir)))
	}
	if text := stream(p); strings.Contains(text, "[Checkpoint") || !strings.Contains(text, "Please look at service") {
		t.Errorf("the carry block does not say where the work stands:\n%.1500s", text)
	}
	checkPlan(t, p, c.msgs)
}

// A new session of the same key begins with what the one before left, also after a
// restart; the one that goes on does not.
func TestNewSessionGoesOn(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(54, 3, 2, 2000)
	if text := stream(mustPlan(t, k, request(c))); strings.Contains(text, "cp_0") {
		t.Error("a first session restores something")
	}
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs})
	out := pass(t, k.Reset, api.Boundary{Messages: c.msgs})
	if out.Checkpoint != "cp_001" {
		t.Errorf("reset: %+v", out)
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	fresh := newConversation(55)
	fresh.n = 500
	fresh.user()
	p := mustPlan(t, k, request(fresh))
	if text := stream(p); !strings.Contains(text, "cp_001") || strings.Index(text, "cp_001") > strings.Index(text, "Please look at service 500") {
		t.Errorf("the new session begins without the old one's state:\n%.800s", text)
	}
	checkPlan(t, p, fresh.msgs)
	before := stream(p)
	fresh.loop(1, 500)
	if q := mustPlan(t, k, request(fresh)); !strings.HasPrefix(stream(q), before) {
		t.Error("the restore text moved")
	}
}

// A damaged newest checkpoint gives way to the one before, and says so.
func TestDamagedCheckpoint(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(56, 2, 2, 2000)
	pass(t, k.Compact, api.Boundary{Messages: c.msgs})
	c.loop(1, 800)
	pass(t, k.Compact, api.Boundary{Messages: c.msgs})
	k.Close()
	files := checkpoints(t, dir)
	if len(files) != 2 {
		t.Fatalf("%v", files)
	}
	if err := os.WriteFile(files[1], []byte("schema: nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k = openKernel(t, dir)
	defer k.Close()
	p := pass(t, k.Flush, api.Boundary{Messages: c.msgs})
	if p.Checkpoint != "cp_003" || len(p.Faults) != 1 || p.Faults[0].Code != fault.Checkpoint || !strings.Contains(p.Faults[0].Detail, "cp_002") {
		t.Errorf("%+v", p)
	}
	if got, err := k.Get(context.Background(), "s", "cp_003"); err != nil || !strings.Contains(got.Text, `previous_checkpoint: "cp_001"`) {
		t.Errorf("%+v %v", got, err)
	}
}

func TestLifeOptionsAreChecked(t *testing.T) {
	if _, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Life: kernel.LifeOptions{Show: 2}}); err == nil || !strings.Contains(err.Error(), "share of the window") {
		t.Errorf("%v", err)
	}
	k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Life: kernel.LifeOptions{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := session(57, 8, 3, 9000)
	if text := stream(mustPlan(t, k, request(c))); strings.Contains(text, "cp_0") {
		t.Error("a checkpoint was made though none is wanted")
	}
}

// A working state that a newer version wrote is left alone, and the plan says so.
func TestNewerStateIsTold(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, ".memkernel/sessions/s/state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "thread.json"), []byte(`{"version":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(58)
	c.user()
	p := mustPlan(t, k, request(c))
	if !hasFault(p, fault.Checkpoint) {
		t.Errorf("faults: %+v", p.Faults)
	}
	checkPlan(t, p, c.msgs)
}
